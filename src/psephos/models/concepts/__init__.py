"""Concept learning: conjunctions consistent with the rows, and votes by their posterior."""
