"""Numbers and texts of the panels; nothing here draws."""
