"""Operations evaluated row by row from plain lists, with the standard library alone.

A vote's own reasons are made by these, and so are a scorer's: `psephos.scoring.joining` writes them
into its program.
"""
