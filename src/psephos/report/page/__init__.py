"""A folder becomes one dictionary, and this one file."""
