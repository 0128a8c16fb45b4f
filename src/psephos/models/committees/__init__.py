"""Committees: several models that vote, are stacked, or are selected from a library."""
