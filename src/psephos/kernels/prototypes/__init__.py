"""Sums over pairs of a case and a prototype."""
