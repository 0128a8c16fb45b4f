"""SWAG, the Sparse Wrapper AlGorithm: a library of small models that vote."""
