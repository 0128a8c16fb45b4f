"""Fitted models on the road: a plain form of the vote, and what reads it.

`plain` writes a fitted model as JSON holds it, on the columns that it reads. Three readers give the
same answers to it: the library, a program of one file that needs the standard library alone
(`psephos export --scorer`), and the script of the report.
"""

from psephos.scoring.form import plain, renewed, vote_of
from psephos.scoring.joining import script
from psephos.scoring.vectors import conformance

__all__ = ["conformance", "plain", "renewed", "script", "vote_of"]
