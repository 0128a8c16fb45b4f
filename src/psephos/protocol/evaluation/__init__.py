"""How a table is split, how good answers to its test parts are, and what follows."""
