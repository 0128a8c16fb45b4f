"""Threads, worker processes, progress, and the decorator that compiles kernels."""
