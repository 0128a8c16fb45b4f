"""Files of tables: one reader for fitting and prediction, with few imports."""
