"""Operations evaluated row by row from plain lists, using only the standard library.

They compute the reasons of a vote and of a scorer: `psephos.scoring.joining` writes them into the
scorer's program.
"""
