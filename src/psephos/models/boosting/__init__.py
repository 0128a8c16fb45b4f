"""Boosting: AdaBoost and SamBA on one loop; gradient, second-order and soft trees."""
