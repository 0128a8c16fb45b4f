"""Thousands of small models of a few columns, fitted in one call."""
