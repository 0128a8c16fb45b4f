"""Export of fitted models: the plain form of a vote, and the readers that predict from it.

`plain` writes a fitted model as JSON, on the columns that it reads. Three readers make the same
predictions from it: the library, a program of one file that needs only the standard library
(`psephos export --scorer`), and the script of the report.
"""

from psephos.scoring.form import plain, renewed, vote_of
from psephos.scoring.joining import script
from psephos.scoring.vectors import conformance

__all__ = ["conformance", "plain", "renewed", "script", "vote_of"]
