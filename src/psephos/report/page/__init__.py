"""From a folder to one dictionary, and from that to one file."""
