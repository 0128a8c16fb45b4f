"""Learning mechanisms written for the search: many tiny fits in one call, on shared folds."""
