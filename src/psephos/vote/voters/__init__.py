"""Voters: a file for each kind, and what is made of several kinds."""
