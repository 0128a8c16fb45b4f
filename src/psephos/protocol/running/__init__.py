"""The models of a comparison, and how each is tuned, fitted and evaluated."""
