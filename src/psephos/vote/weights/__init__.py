"""Weightings: a file for each kind."""
