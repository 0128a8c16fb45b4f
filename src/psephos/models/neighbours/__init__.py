"""Votes of the nearest training cases."""
