"""A table of cases: from a file or arrays, with labels that may be partly recorded."""
