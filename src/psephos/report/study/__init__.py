"""A study read back: its folder, its models opened, and what cases and columns are called."""
