"""Who decides a case: the ballots of prototypes, and the few that suffice."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.explain.drawing import axes_of, plain
from psephos.explain.prototypes import Prototypes
from psephos.vote import KernelWeights
from psephos.vote.frames import Framed

_Floats = NDArray[np.float64]
_Counts = NDArray[np.intp]
_SLACK = 1e-12  # of the mass: a lead smaller than this may be rounding


@dataclass(frozen=True, eq=False)
class PrototypeBallot(Framed):
    """Who decides a case: the impact of each prototype, and the few that suffice.

    For case x and prototype j of batch b, with w_j its weight and s(x) the mass::

        similarity_j(x) = G_b(x, c_j) = product over columns of similarity_jd(x)
        impact_j(x)     = w_j G_b(x, c_j),    share_j(x) = impact_j(x) / s(x)

    similarity_jd is ``exp(-1/2 (v_d (z_d - c_d))^2)`` for a number, ``exp(-1/2 v_d^2)`` for two
    categories that differ, 1 for equal ones, and where one of the two is missing the mean over two
    independent rows (`psephos.vote.KernelWeights`). The prior has similarity 1 everywhere.

    **Dominant set** (classes only). Prototypes are ranked by impact; ties share a rank. With q_k
    the prior's mass of class k and the impacts of its prototypes down to rank r, the set ends at
    the smallest r with ``largest q_k - second largest q_k > sum of the impacts below rank r``: the
    answer stays whatever the labels of all other prototypes. It is empty where the prior alone
    decides, and everybody where two classes tie. A lead within 1e-12 of the mass does not count.

    Source: the explanation of a prediction in proset (N. Ruf).

    Parameters
    ----------
    prototypes : Prototypes
    case_ids : list of length n
    X : ndarray of shape (n, q)
        The cases in the columns read, encoded.
    similarity, impact : ndarray of shape (n, T)
    rank : ndarray of shape (n, T), intp
        From 1; 0 for the prior.
    last : ndarray of shape (n,), intp, or None
        The last rank of the dominant set; None for numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import ProsetClassifier
    >>> from psephos.explain import PrototypeBallot
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ProsetClassifier(random_state=0).fit(X, y)
    >>> ballot = PrototypeBallot.from_estimator(model, X[:1])
    >>> bool(ballot.dominant().sum() < model.n_prototypes_.sum())
    True
    """

    prototypes: Prototypes
    case_ids: list[Any]
    X: _Floats
    similarity: _Floats
    impact: _Floats
    rank: _Counts
    last: _Counts | None

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any) -> Self:
        """Return the ballots of some cases.

        Parameters
        ----------
        estimator : fitted ProsetClassifier or ProsetRegressor
        X : array, data frame or sparse table of shape (n, p)
            A few cases: tables of (n, T) numbers are held.

        Raises
        ------
        PsephosError
            If the estimator has no prototypes, or X cannot be read.
        """
        found = Prototypes.of(estimator)
        rows, names = found.rows(estimator, X)
        similarity = _unweighted(found.kernels).weights(rows)
        impact = similarity * found.kernels.weight
        rank = np.zeros(impact.shape, dtype=np.intp)
        own = ~found.is_prior
        for i, impact_of in enumerate(impact[:, own]):
            rank[i, own] = np.unique(-impact_of, return_inverse=True)[1] + 1
        last = None
        if found.classes:
            mass = found.answer_values() * impact[:, :, None]
            last = np.array([_last(*case) for case in zip(mass, impact, rank, strict=True)])
            last = last.astype(np.intp)
        return cls(found, names, rows, similarity, impact, rank, last)

    # ------------------------------------------------------------------ reading it
    def share(self) -> _Floats:
        """Return each voter's share of the weight, shape (n, T); rows sum to 1."""
        return self.prototypes.vote.shares(self.X)

    def contributions(self) -> _Floats:
        """Return what each voter adds to the prediction.

        Returns
        -------
        contributions : ndarray of shape (n, T, K), or (n, T, 1) for numbers
            Sums over the voters to the class probabilities, or to the mean.
        """
        return self.share()[:, :, None] * self.prototypes.answer_values()

    def dominant(self) -> NDArray[np.bool_]:
        """Return who is in the dominant set, shape (n, T); the prior never is.

        Raises
        ------
        PsephosError
            For numbers, which no vote settles.
        """
        if self.last is None:
            raise PsephosError(
                "a dominant set is for classes: a predicted number moves with every prototype."
            )
        return (self.rank > 0) & (self.rank <= self.last[:, None])

    def column_similarity(self) -> _Floats:
        """Return similarity_jd, shape (n, T, q); its product over the columns is `similarity`.

        It is 1 where a batch does not read the column.
        """
        kernels = _unweighted(self.prototypes.kernels)
        whole = kernels.batches.inverse_bandwidth
        factors = np.ones((*self.similarity.shape, whole.shape[1]))
        for d in range(whole.shape[1]):
            alone = np.where(np.arange(whole.shape[1]) == d, whole, 0.0)
            batches = replace(kernels.batches, inverse_bandwidth=alone)
            factors[:, :, d] = replace(kernels, batches=batches).weights(self.X)
        return factors

    def table(self) -> dict[str, list[Any]]:
        """Return one entry a case and voter, cases first, then the prior, then by rank.

        Keys: ``case``, ``rank``, ``batch`` (-1: the prior), ``voter``, ``row``, ``answer``,
        ``weight``, ``similarity``, ``impact``, ``share``; for classes ``dominant`` and one
        ``contribution_<class>`` a class, for numbers ``contribution``; and for each column read
        ``value_<column>``, the prototype's, and ``similarity_<column>``.
        """
        found = self.prototypes
        case, voter = self._order()
        rows, answers = found.voters.rows.tolist(), found.answers()
        table: dict[str, list[Any]] = {
            "case": [self.case_ids[i] for i in case.tolist()],
            "rank": self.rank[case, voter].tolist(),
            "batch": found.batch[voter].tolist(),
            "voter": voter.tolist(),
            "row": [rows[t] for t in voter.tolist()],
            "answer": [answers[t] for t in voter.tolist()],
            "weight": found.kernels.weight[voter].tolist(),
            "similarity": self.similarity[case, voter].tolist(),
            "impact": self.impact[case, voter].tolist(),
            "share": self.share()[case, voter].tolist(),
        }
        added = self.contributions()[case, voter]
        if found.classes:
            table["dominant"] = self.dominant()[case, voter].tolist()
            for k, label in enumerate(found.classes):
                table[f"contribution_{label}"] = added[:, k].tolist()
        else:
            table["contribution"] = added[:, 0].tolist()
        factors = self.column_similarity()
        for d, name in enumerate(found.names):
            table[f"value_{name}"] = found.in_words(d, found.voters.cases[voter, d])
            table[f"similarity_{name}"] = factors[case, voter, d].tolist()
        return table

    def _order(self) -> tuple[_Counts, _Counts]:
        """Return case and voter of each entry of the table."""
        order = np.argsort(self.rank, axis=1, kind="stable")
        return np.repeat(np.arange(len(order)), order.shape[1]), order.ravel()

    def plot(self, case: int = 0, *, most: int = 10, ax: Any = None) -> Any:
        """Draw the shares of the prior and of the prototypes of highest impact for one case.

        Colours are classes; prototypes outside the dominant set are pale.

        Parameters
        ----------
        case : int, default=0
            Its position.
        most : int, default=10
            Prototypes shown.
        ax : matplotlib Axes, default=None

        Returns
        -------
        ax : matplotlib Axes

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        axes: Any = axes_of(ax)
        found = self.prototypes
        order = np.argsort(self.rank[case], kind="stable")[: most + 1]
        rows, answers = found.voters.rows.tolist(), found.answers()
        sure = np.ones(len(rows), dtype=bool) if self.last is None else self.dominant()[case]
        labels: list[str] = []
        for place, t in enumerate(order.tolist()):
            prior = bool(found.is_prior[t])
            colour = f"C{found.classes.index(answers[t])}" if found.classes else "C0"
            alpha = 1.0 if prior or sure[t] else 0.35
            axes.barh(place, self.share()[case, t], color="0.6" if prior else colour, alpha=alpha)
            answer = f"{answers[t]:.5g}" if not found.classes else answers[t]
            labels.append(found.voters.name if prior else plain(f"{rows[t]}: {answer}"))
        axes.set_yticks(range(len(labels)), labels, fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel("share of the weight")
        axes.set_title(plain(f"case {self.case_ids[case]}"))
        return axes


def _unweighted(kernels: KernelWeights) -> KernelWeights:
    return replace(kernels, weight=np.ones_like(kernels.weight))


def _last(mass: _Floats, impact: _Floats, rank: _Counts) -> int:
    """Return the last rank of a case's dominant set; `mass` is (T, K), a voter's by class."""
    n_ranks = int(rank.max())
    ranked = np.zeros((n_ranks + 1, mass.shape[1]))
    np.add.at(ranked, rank, mass)
    each = np.bincount(rank, impact, minlength=n_ranks + 1)
    rest = np.append(np.cumsum(each[:0:-1])[::-1], 0.0)  # summed from the smallest
    best = np.sort(np.cumsum(ranked, axis=0), axis=1)
    settled = best[:, -1] - best[:, -2] > rest + _SLACK * impact.sum()
    return int(np.argmax(settled)) if settled.any() else n_ranks
