"""A study read back: its folder, its models, and the names of cases and columns."""
