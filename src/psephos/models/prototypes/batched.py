"""What the classifier and the regressor can do with their batches: have fewer of them."""

from typing import Any, Self

from sklearn.base import clone

from psephos._errors import PsephosError
from psephos.estimator.params import Interval
from psephos.models.prototypes.growing import EXTRAS, Growing
from psephos.vote.part import check


class Batched(Growing):
    """What both models can do with their batches."""

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
