"""What another class prior would change."""

from typing import Any

import numpy as np
from sklearn.base import clone

from psephos._errors import PsephosError

__all__ = ["PriorSensitivity"]


class PriorSensitivity:
    """What can be asked of a fitted classifier that has used a class prior."""

    prior_: float | None

    def prior_sensitivity(
        self, X: Any, y: Any, sample_weight: Any = None, *, shift: float = 0.1
    ) -> list[dict[str, float]]:
        """Return how answers change if the class prior was less, or more, by `shift`.

        The model is fitted again with these priors (kept within .01 and .99).

        Parameters
        ----------
        X, y, sample_weight
            The training rows.
        shift : float, default=0.1

        Returns
        -------
        rows : list of dict
            Of the prior less, as used, and more: `prior`, `positive` (the share of rows of X
            answered positive) and `changed` (the share answered otherwise than with the prior
            used).

        Raises
        ------
        PsephosError
            If no prior was used: every row had a label.

        Examples
        --------
        >>> import numpy as np
        >>> from psephos import PUClassifier
        >>> X = np.random.default_rng(0).normal(0, 1, (60, 2))
        >>> y = np.where(np.arange(60) < 20, 1.0, np.nan)
        >>> X[:40] += 2
        >>> model = PUClassifier(prior=0.5, random_state=0).fit(X, y)
        >>> [row["prior"] for row in model.prior_sensitivity(X, y)]
        [0.4, 0.5, 0.6]
        """
        own: Any = self
        own._fitted()
        if own.prior_ is None:
            raise PsephosError("no class prior was used: every row had a label.")
        classes = own.classes_.tolist()
        positive = classes[1] if own.pos_label is None else own.pos_label
        said = own.predict(X)
        out: list[dict[str, float]] = []
        for by in (-shift, 0.0, shift):
            prior = round(min(max(own.prior_ + by, 0.01), 0.99), 12)
            other = said
            if by:
                model: Any = clone(own)
                model.set_params(prior=prior).fit(X, y, sample_weight)
                other = model.predict(X)
            out.append(
                {
                    "prior": prior,
                    "positive": float(np.mean(other == positive)),
                    "changed": float(np.mean(other != said)),
                }
            )
        return out
