"""Fits of falling penalties, each started from the one before."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos.models.prototypes.kinds import Batch, Path
from psephos.vote.importance import SampleRows

__all__ = ["Paths"]


class Paths:
    """What fits a path of penalties."""

    def path(
        self: Any,
        X: Any,
        y: Any,
        lambda_v: ArrayLike,
        lambda_w: ArrayLike | None = None,
        sample_weight: Any = None,
        *,
        cold: bool = True,
    ) -> list[Any]:
        """Return fitted models of falling penalties, each started from the one before.

        A batch starts at the last model's, with the columns let in that would lower the objective
        now. Where columns are many and penalties weak, that finds what the usual start, from which
        all kernels are flat or all columns are used, does not.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        lambda_v : array of shape (K,)
            Not increasing.
        lambda_w : array of shape (K,), default=None
            Not increasing; None: the parameter.
        cold : bool, default=True
            Whether each batch starts where `fit` would start it, too, and the lower end is taken:
            then no first batch is above that of `fit`. Without it a path takes a third to a half
            of the time of as many fits, and small tables may end above them.

        Returns
        -------
        models : list of K fitted estimators
            This one is left as it is.

        Raises
        ------
        PsephosError
            If a penalty, or what `fit` is given, cannot be used.
        """
        strengths = {"lambda_v": _falling("lambda_v", lambda_v)}
        if lambda_w is not None:
            strengths["lambda_w"] = _falling("lambda_w", lambda_w)
            if len(strengths["lambda_w"]) != len(strengths["lambda_v"]):
                raise PsephosError("lambda_v and lambda_w differ in length: give pairs.")
        blank: Any = clone(self)
        given = blank.read(X, y, sample_weight)
        schema = given[0].schema
        models: list[Any] = []
        last: list[Batch] = []
        for one in zip(*strengths.values(), strict=True):
            model: Any = clone(self)
            model.set_params(**dict(zip(strengths, one, strict=True)))
            vote, told = model._fit_on(*given, None, Path(last, cold))
            model.n_features_in_ = schema.n_features
            if schema.names is not None:
                model.feature_names_in_ = np.asarray(schema.names, dtype=object)
            model._set_fitted(vote, schema, told, SampleRows.of(vote, given[0].values))
            models.append(model)
            last = model._grown.batches
        return models


def _falling(name: str, values: ArrayLike) -> list[float]:
    """Return penalties that may be a path."""
    found = np.asarray(values)
    usable = found.ndim == 1 and found.size > 0 and found.dtype.kind in "iuf"
    if not (usable and np.isfinite(found).all() and (found >= 0).all()):
        raise PsephosError(f"{name} is {values!r}: give finite numbers of at least 0.")
    if (np.diff(found) > 0).any():
        raise PsephosError(f"{name} increases: give the greatest penalty first.")
    return found.astype(np.float64).tolist()
