"""Classifiers for labels that are partly missing or one-sidedly wrong."""
