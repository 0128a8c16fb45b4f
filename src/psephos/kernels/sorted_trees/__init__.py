"""Trees grown on columns that are sorted once: CART, C4.5, exact second-order trees."""
