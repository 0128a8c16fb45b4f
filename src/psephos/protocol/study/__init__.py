"""The folder of a comparison, and what a finished one says."""
