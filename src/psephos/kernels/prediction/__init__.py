"""What fitted votes say at new rows."""
