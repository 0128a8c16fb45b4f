"""Who takes part in a comparison, how each is tuned, fitted and asked, and in which order."""
