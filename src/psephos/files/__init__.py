"""Files of tables: one reader for fitting and for answering, light enough to start a command."""
