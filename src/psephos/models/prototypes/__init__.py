"""Proset: training rows (prototypes) that vote for their own class or number, weighted locally."""
