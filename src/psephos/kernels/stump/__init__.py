"""The search for the best stump over all columns."""
