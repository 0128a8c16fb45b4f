"""What another class prior would change."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from psephos._errors import ConstantAnswerWarning, PsephosError
from psephos.estimator.params import Interval


class PriorSensitivity:
    """What can be asked of a fitted classifier that has used a class prior."""

    prior_: float | None

    def prior_sensitivity(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        shift: float = 0.1,
    ) -> list[dict[str, float]]:
        """Return how answers change if the class prior was less, or more, by `shift`.

        The model is fitted again with these priors (not below .01 or above .99, unless the one used
        is), from the same seed: what changes is the prior's doing. Where `random_state` is no
        number, it is fitted again with the prior used as well.

        Parameters
        ----------
        X, y, sample_weight, groups
            The training rows, as fit was given them.
        shift : float, default=0.1
            Above 0 and below 1.

        Returns
        -------
        rows : list of dict
            Of the prior less, as used, and more: `prior`, `positive` (the share of rows of X
            answered positive) and `changed` (the share answered otherwise than with the prior
            used).

        Raises
        ------
        PsephosError
            If no prior was used, since every row had a label, or `shift` is none.

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
        if not Interval(0, 1, open_low=True, open_high=True).allows(shift):
            raise PsephosError(f"shift is {shift!r}: a number above 0 and below 1.")
        classes = own.classes_.tolist()
        positive = classes[1] if own.pos_label is None else own.pos_label
        seed, used = own.random_state, own.prior_
        again = not isinstance(seed, int | np.integer)
        if again:
            seed = int(check_random_state(seed).randint(2**31 - 1))
        less, more = (round(used + by, 12) for by in (-shift, shift))
        priors = (max(less, min(0.01, used)), used, min(more, max(0.99, used)))

        def answers(prior: float) -> Any:
            model: Any = clone(own)
            model.set_params(prior=prior, random_state=seed)
            with warnings.catch_warnings():  # `positive` is then 0 or 1
                warnings.simplefilter("ignore", ConstantAnswerWarning)
                return model.fit(X, y, sample_weight, groups=groups).predict(X)

        said = answers(used) if again else own.predict(X)
        each = [said if prior == used else answers(prior) for prior in priors]
        return [
            {
                "prior": prior,
                "positive": float(np.mean(other == positive)),
                "changed": float(np.mean(other != said)),
            }
            for prior, other in zip(priors, each, strict=True)
        ]
