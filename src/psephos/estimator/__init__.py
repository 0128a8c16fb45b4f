"""What every estimator has: its input, labels, schema, parameters, and the one final fit."""
