"""What the classifier and the regressor can do with their batches: paths, and fewer of them."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._types import ArrayLike, LabelsLike, PerRow, TableLike
from psephos.estimator.params import Interval
from psephos.models.prototypes.batches import Batch, PenaltyPath
from psephos.models.prototypes.growing import EXTRAS, Growing
from psephos.vote.importance import SampleRows
from psephos.vote.part import check


class Batched(Growing):
    """What both models can do with their batches."""

    def path(
        self,
        X: TableLike,
        y: LabelsLike,
        lambda_v: ArrayLike,
        lambda_w: ArrayLike | None = None,
        sample_weight: PerRow = None,
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
            vote, told = model._fit_on(*given, None, PenaltyPath(last, cold))
            schema.name_columns(model)
            sample = SampleRows.of(None, given[0].values, given[1].certain)
            model._set_fitted(vote, schema, told, sample)
            models.append(model)
            last = model._grown.batches
        return models

    # ------------------------------------------------------------------ fitted
    def _check_loaded(self) -> None:
        super()._check_loaded()  # type: ignore[misc]
        told = [getattr(self, name) for name in EXTRAS]
        check(all(a.shape == (len(told[0]),) for a in told), "batches differ in number")
        found = self.n_prototypes_
        whole = bool((found >= 0).all()) and sum(found.tolist()) < self.vote_.n_voters
        check(whole, "its batches are not those of its prototypes")

    def truncate(self, n_batches: int) -> Self:
        """Return a fitted model of the first batches alone.

        Batches are fitted one after another, so it is what a fit of so many would be.

        Parameters
        ----------
        n_batches : int
            0 (the prior) to the number fitted.

        Raises
        ------
        PsephosError
            If there are not so many.
        """
        self._fitted()
        if not Interval(0, whole=True).allows(n_batches):
            raise PsephosError(f"n_batches is {n_batches!r}: give a whole number of at least 0.")
        fitted = len(self.n_prototypes_)
        if not 0 <= n_batches <= fitted:
            raise PsephosError(f"n_batches is {n_batches}: the model has {fitted}; give 0 to that.")
        fewer: Any = clone(self)  # type: ignore[type-var]
        fewer.set_params(n_batches=n_batches)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(fewer, name, getattr(self, name))
        extras: dict[str, Any] = {name: getattr(self, name)[:n_batches] for name in EXTRAS}
        extras |= {n: getattr(self, n) for n in ("shrinkage_",) if hasattr(self, n)}
        vote = self.vote_.truncate(1 + int(extras["n_prototypes_"].sum()))
        fewer._set_fitted(vote, self.schema_, extras, self._sample)
        if hasattr(self, "_grown"):
            fewer._grown = self._grown._replace(batches=self._grown.batches[:n_batches])
        return fewer


def _falling(name: str, values: ArrayLike) -> list[float]:
    """Return penalties that may be a path."""
    found = np.asarray(values)
    usable = found.ndim == 1 and found.size > 0 and found.dtype.kind in "iuf"
    if not (usable and np.isfinite(found).all() and (found >= 0).all()):
        raise PsephosError(f"{name} is {values!r}: give finite numbers of at least 0.")
    if (np.diff(found) > 0).any():
        raise PsephosError(f"{name} increases: give the greatest penalty first.")
    return found.astype(np.float64).tolist()
