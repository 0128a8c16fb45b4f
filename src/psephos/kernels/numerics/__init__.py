"""Numerical pieces that several searches share."""
