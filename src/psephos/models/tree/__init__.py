"""Single trees."""
