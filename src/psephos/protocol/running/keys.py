"""The settings of a model in words, as the keys of a study have them."""

from collections.abc import Mapping
from typing import Any

#: Parameters that models of psephos got after studies had been written: the defaults, which change
#: no answer, and how the names of the classes begin that had the parameter before.
_LATER = {
    "criterion": (("'friedman_mse'",), ("RandomForest", "ExtraTrees")),
    "max_features": (("None",), ("RandomForest", "ExtraTrees", "Gradient", "Bagging")),
    "verbose": (("0", "False"), ("SparseWrapper",)),
    "warm_start": (("False",), ("Proset", "RandomForest", "ExtraTrees", "Soft", "Bagging")),
}
_OUTER = {"warm_start"}  # keys of old studies have it of an estimator within another


def settings_words(estimator: Any) -> dict[str, str]:
    """Return all constructor parameters in words, so that a changed default is another key."""
    params: dict[str, Any] = {}
    if hasattr(estimator, "get_params"):
        params = estimator.get_params(deep=True)
    within: list[tuple[str, Any]] = [(f"{name}__", value) for name, value in params.items()]
    for prefix, one in [("", estimator), *within]:
        removed = getattr(one, "removed", {})  # at their defaults, as keys of old studies are
        params |= {prefix + name: value for name, value in removed.items()}
    words = {name: repr(value) for name, value in params.items()}
    kept = {n: word for n, word in words.items() if not _is_later(estimator, params, n, word)}
    kind = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
    kind = kind.replace("protocol.running.building", "protocol.label_models")  # keys of old studies
    # a default repr holds an address, which is another in every run
    return {"class": kind, **{n: w for n, w in kept.items() if " at 0x" not in w}}


def _is_later(estimator: Any, params: Mapping[str, Any], name: str, value: str) -> bool:
    """Return whether keys leave a parameter out, so that old studies are resumed without a fit."""
    outer, _, own = name.rpartition("__")
    if own not in _LATER or (outer and own in _OUTER):
        return False
    defaults, before = _LATER[own]
    model: object = params[outer] if outer else estimator
    kind = type(model)
    known = not kind.__module__.startswith("psephos.") or kind.__name__.startswith(before)
    return value in defaults and not known
