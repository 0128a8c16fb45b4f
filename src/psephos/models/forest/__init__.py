"""Forests: the mean of independently grown trees."""
