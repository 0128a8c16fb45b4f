"""Hashes of a fit's rows, labels, weights and parameters, which a warm start must match."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, LabelsLike
from psephos.models.training import Hashes, folded, multipliers, row_hashes
from psephos.vote.codec import register
from psephos.vote.part import check

REDUCED = "reduced to some of its columns"
SHRUNK = "left with some of its members"

_FREE = ("n_estimators", "n_jobs", "oob_score", "verbose", "warm_start")  # may change
_QUIET = ("n_jobs", "verbose")  # of members: they change no prediction
_ELSEWHERE = ("class_weight", "categorical_features")  # compared as weights, and as the schema
_ROWS = ("X", "y", "sample_weight (or class_weight)", "groups")


@register
@dataclass(frozen=True)
class FirstFit:
    """Digests of the rows and parameters with which members were fitted."""

    tag: ClassVar[str] = "first fit"
    # of X; of X and y; of these and the weights; of these and the groups. Empty: not known.
    rows: tuple[str, ...]
    settings: tuple[str, ...]  # ``name=digest`` of each parameter that must not change
    since: str = ""  # how the model was changed since; it then cannot be continued

    def __post_init__(self) -> None:
        check(len(self.rows) in (0, len(_ROWS)), "the first fit has a wrong number of digests")

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: LabelsLike,
        weight: Any,
        groups: Array | None = None,
        *,
        ordered: bool = False,
    ) -> Self:
        """Return the digests of a fit.

        `X` array or sparse table of shape (n, p); `y` (n,): class codes, or numbers. `weight`,
        `groups` (n,) or None; `ordered`: whether the digests depend on the order of the rows.
        """
        hashes = row_hashes(X)
        found = [_digest(hashes, ordered)]
        codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
        for k, more in enumerate((y, weight, codes)):
            if more is not None:
                hashes = hashes + folded(np.asarray(more)) * multipliers(k + 1)[k]
                hashes ^= hashes >> np.uint64(29)
            found.append(_digest(hashes, ordered))
        params = model.get_params(deep=False)
        by_tree = params.get("class_weight") == "balanced_subsample"  # row weights lack it
        elsewhere = _ELSEWHERE[1:] if by_tree else _ELSEWHERE
        kept = {n: v for n, v in sorted(params.items()) if n not in _FREE + elsewhere}
        return cls(tuple(found), tuple(f"{n}={_short(_words(v))}" for n, v in kept.items()))

    def changed(self, since: str, *, columns: bool = False) -> Self:
        """Return the digests of a changed model; `columns`: whether its columns have changed."""
        return replace(self, rows=() if columns else self.rows, since=since)

    def has(self, now: "FirstFit") -> bool:
        """Return whether X, y and weights equal those of another fit, as far as that is known."""
        return not self.rows or self.rows[:-1] == now.rows[:-1]

    def require(self, now: "FirstFit") -> None:
        """Raise PsephosError, naming the differences, unless another fit may continue this one."""
        if self.since:
            raise PsephosError(
                f"with warm_start=True the model must be as it was fitted: this one was "
                f"{self.since}. To fit anew, set warm_start=False."
            )
        then: Any = dict(one.split("=", 1) for one in self.settings)
        given: Any = dict(one.split("=", 1) for one in now.settings)
        other = [name for name in then if given.get(name, then[name]) != then[name]]
        other += ["class_weight"] if ("class_weight" in then) != ("class_weight" in given) else []
        table = [n for n, a, b in zip(_ROWS, self.rows, now.rows, strict=False) if a != b]
        other += table[:1]  # each digest includes those before it
        if other:
            raise PsephosError(
                "with warm_start=True rows, labels, weights and parameters must be those of the "
                f"first fit (but for n_estimators, n_jobs and oob_score): {' and '.join(other)} "
                f"{'is' if len(other) == 1 else 'are'} not. To fit anew, set warm_start=False."
            )


def _digest(hashes: Hashes, ordered: bool) -> str:
    return _short((hashes if ordered else np.sort(hashes)).tobytes())


def _short(content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _words(value: Any) -> str:
    """Return a parameter as text that is the same in every process; `_QUIET` are left out."""
    if value is None or isinstance(value, np.random.RandomState | np.random.Generator):
        return "None"  # as in a model file
    if isinstance(value, type) or callable(value):
        return f"{getattr(value, '__qualname__', type(value).__qualname__)}"
    if hasattr(value, "get_params"):
        own = sorted(value.get_params(deep=False).items())
        inside = ", ".join(f"{n}={_words(v)}" for n, v in own if n not in _QUIET)
        return f"{type(value).__qualname__}({inside})"
    if isinstance(value, np.generic):
        return _words(value.item())
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return f"{value.dtype.kind}{value.shape}{_short(value.tobytes())}"
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(k)}: {_words(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_words, value))}]"
    plain = isinstance(value, bool | int | float | str)
    return repr(value) if plain else type(value).__qualname__
