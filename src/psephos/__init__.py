"""psephos: few voters, named and counted.

Every fitted model is a vote, ``F(x) = sum_t w_t(x) h_t(x)``, whose voters name the columns they
read. Public names are loaded on first use, so that ``import psephos`` (and ``psephos --help``)
costs almost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; at run time see __getattr__
    from psephos._errors import PsephosError
    from psephos.models import (
        AdaBoostClassifier,
        ProsetClassifier,
        ProsetRegressor,
        SamBAClassifier,
        SparseWrapperClassifier,
        SparseWrapperRegressor,
        load,
        save,
    )
    from psephos.protocol import ProsetSearchCV, compare, read_table
    from psephos.vote import Ballots, Vote

__version__ = "0.1.0.dev0"

_PUBLIC = {
    "AdaBoostClassifier": "psephos.models",
    "ProsetClassifier": "psephos.models",
    "ProsetRegressor": "psephos.models",
    "ProsetSearchCV": "psephos.protocol",
    "SamBAClassifier": "psephos.models",
    "SparseWrapperClassifier": "psephos.models",
    "SparseWrapperRegressor": "psephos.models",
    "Vote": "psephos.vote",
    "Ballots": "psephos.vote",
    "PsephosError": "psephos._errors",
    "compare": "psephos.protocol",
    "read_table": "psephos.protocol",
    "save": "psephos.models",
    "load": "psephos.models",
}

__all__ = [
    "AdaBoostClassifier",
    "Ballots",
    "ProsetClassifier",
    "ProsetRegressor",
    "ProsetSearchCV",
    "PsephosError",
    "SamBAClassifier",
    "SparseWrapperClassifier",
    "SparseWrapperRegressor",
    "Vote",
    "__version__",
    "compare",
    "load",
    "read_table",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'psephos' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
