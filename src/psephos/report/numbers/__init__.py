"""What panels say in figures and words, worked out; nothing here draws."""
