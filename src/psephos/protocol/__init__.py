"""From a table to tidy results: splits, tuning, fits, statistics.

``compare(X, y, models, protocol, out=folder)`` fits every model on every outer split, tuned inside
its training part, then on all rows.

The folder that `out` names is described file by file in docs/study-folder.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psephos.estimator.contender import Contender
    from psephos.files.cells import MISSING
    from psephos.protocol.evaluation.answers import (
        average_precision,
        coverage,
        hamming_loss,
        one_error,
        ranking_loss,
    )
    from psephos.protocol.evaluation.splits import PROTOCOLS, MultilabelStratifiedKFold, Protocol
    from psephos.protocol.evaluation.stability import Stability, selection_stability
    from psephos.protocol.evaluation.statistics import (
        better_than_constant,
        one_standard_error,
        paired_difference,
        pareto,
        summary,
    )
    from psephos.protocol.running.columns import columns_used
    from psephos.protocol.running.contenders import known_models
    from psephos.protocol.running.curve import CurveDisplay
    from psephos.protocol.running.prototype_search import ProsetSearchCV
    from psephos.protocol.running.runner import compare
    from psephos.protocol.study.comparison import AccuracyDisplay, Comparison, StabilityDisplay
    from psephos.protocol.study.folds import FoldModel, read_folds
    from psephos.protocol.tables.checking import check_table
    from psephos.protocol.tables.files import read_table
    from psephos.protocol.tables.table import DataTable, table_from_arrays

#: The modules of the names, the lightest first: reading a table imports no models or statistics.
_MODULES = (
    "files.cells", "protocol.tables.files", "protocol.tables.table", "protocol.tables.checking",
    "estimator.contender", "protocol.evaluation.answers", "protocol.evaluation.splits",
    "protocol.evaluation.stability", "protocol.evaluation.statistics", "protocol.study.folds",
    "protocol.study.comparison", "protocol.running.columns", "protocol.running.contenders",
    "protocol.running.prototype_search", "protocol.running.curve", "protocol.running.runner",
)  # fmt: skip

__all__ = [
    "MISSING", "PROTOCOLS", "AccuracyDisplay", "Comparison", "Contender", "CurveDisplay",
    "DataTable",
    "FoldModel", "MultilabelStratifiedKFold", "ProsetSearchCV", "Protocol",
    "Stability", "StabilityDisplay", "average_precision", "better_than_constant", "check_table",
    "columns_used", "compare",
    "coverage", "hamming_loss", "known_models", "one_error", "one_standard_error",
    "paired_difference", "pareto", "ranking_loss", "read_folds", "read_table",
    "selection_stability", "summary", "table_from_arrays",
]  # fmt: skip


def __getattr__(name: str) -> object:
    for module in _MODULES if name in __all__ else ():
        found = import_module(f"psephos.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
