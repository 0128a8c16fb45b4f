"""The base of every estimator: its input, labels, schema, parameters, and the final `fit`."""
