"""One file a panel: what it shows, as entries of the dictionary of the page."""
