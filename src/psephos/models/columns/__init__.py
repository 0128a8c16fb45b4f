"""Votes on few columns: columns are selected first, or a fitted vote is reduced."""
