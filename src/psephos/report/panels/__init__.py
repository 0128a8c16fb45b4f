"""One module per panel of the page: its entries in the dictionary of the report."""
