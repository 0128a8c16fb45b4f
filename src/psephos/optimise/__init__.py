"""Optimisers that more than one family of models uses."""
