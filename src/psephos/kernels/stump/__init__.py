"""Kernels of the search for the best decision stump."""
