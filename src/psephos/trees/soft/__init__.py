"""Soft trees: their gates and leaves, what they are trained on, and the training."""
