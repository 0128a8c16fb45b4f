"""Fitted estimators as voters: converted to arrays if their kind is known, else kept as objects."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Estimator, Floats, Indices, NDArray, Usage, sparse
from psephos.files.names import listed
from psephos.vote.operations.nested import nested
from psephos.vote.operations.scores import Scores, linear_models, naive_bayes_models
from psephos.vote.part import Columns, ReadsColumns, Voters, log_odds, placed, usage_of
from psephos.vote.reasons import Reason, read_by
from psephos.vote.voters.trees import TreeVoters


def _predicted(estimator: Any, method: str, table: Floats) -> NDArray[Any]:
    """Return the result of an estimator's method; raise PsephosError on missing values."""
    try:
        return np.asarray(getattr(estimator, method)(table))
    except ValueError as error:
        gaps = int(np.isnan(table).any(axis=1).sum())
        if not gaps:
            raise
        name = type(estimator).__name__
        raise PsephosError(
            f"{name} takes no missing values, and {gaps} of {len(table)} rows lack a value that it "
            f"reads: fit make_pipeline(SimpleImputer(), {name}(...)) in its place."
        ) from error


@dataclass(frozen=True)
class ForeignVoters(ReadsColumns, Voters):
    """Any fitted estimators, kept as objects.

    `columns` are all columns read, and `places` each voter's positions within them. `source` are
    the positions of these in the table on which it was fitted, which has `width` columns, the
    others filled with zero; `width` 0: a table of its own columns. `says` is the vote: 'answer',
    the code of its class; 'probability', the mean of the codes under its ``predict_proba``;
    'log-odds', the log-odds of these; 'value', the number it predicts. `value` (n_classes, K) is
    the table of codes; for numbers it is (1, 1) and ignored. With `abstains` a voter votes 0 where
    a value is missing; else it also predicts there.
    """

    n_features: int
    columns: Columns
    places: tuple[Columns, ...]
    source: tuple[Columns, ...]
    width: int
    estimators: tuple[Any, ...]
    says: str
    value: Floats
    abstains: bool = True

    @classmethod
    def of(
        cls,
        estimators: Sequence[Estimator],
        subsets: Sequence[Columns],
        n_features: int,
        says: str,
        code: Floats,
        abstains: bool = True,
        whole: bool = False,
    ) -> Self:
        """Return estimators, fitted on the codes 0 ... n_classes - 1 or on numbers, as voters.

        `subsets` are the columns of the table that each reads, in order; each was fitted on these,
        or on the `whole` table. `code` is (n_classes, K).
        """
        columns, places = placed(subsets)
        source = tuple(subsets) if whole else tuple(np.arange(len(s)) for s in subsets)
        width, value = n_features * whole, np.zeros((1, 1)) if says == "value" else code
        models = tuple(estimators)
        return cls(n_features, columns, places, source, width, models, says, value, abstains)

    @property
    def n_voters(self) -> int:
        return len(self.estimators)

    def refusal(self) -> str:
        name = type(self.estimators[0]).__name__
        return (
            f"its voters are {name}, which psephos cannot write as plain data: it can write its "
            "own models and scikit-learn's trees, linear models and Gaussian naive Bayes, in a "
            "list of fitted estimators k nearest neighbours, too, and in SWAG its own models and "
            "the learners that have a name (learner='logistic')"
        )

    def votes(self, X: Floats) -> Floats:
        """Return the (n, T, K) votes; 0 where a voter abstains."""
        read = X[:, self.columns]
        out = np.zeros((len(X), self.n_voters, self.value.shape[1]))
        each = zip(self.places, self.source, self.estimators, strict=True)
        for t, (places, source, estimator) in enumerate(each):
            table = np.zeros((len(X), self.width or len(source)))
            table[:, source] = read[:, places]
            voting = ~np.isnan(table).any(axis=1) | (not self.abstains)
            if voting.any():
                out[voting, t] = self._vote(estimator, table[voting])
        return out

    def _vote(self, estimator: Any, table: Floats) -> Floats:
        if self.says == "value":
            return _predicted(estimator, "predict", table).astype(np.float64)[:, None]
        if self.says == "answer":
            return self.value[_predicted(estimator, "predict", table).astype(np.intp)]
        known = np.asarray(estimator.classes_, dtype=np.intp)
        if self.says == "log-odds":
            chances = np.zeros((len(table), len(self.value)))
            chances[:, known] = _predicted(estimator, "predict_proba", table)
            return log_odds(chances, self.value.shape[1])
        return _predicted(estimator, "predict_proba", table) @ self.value[known]

    def usage(self) -> Usage:
        return usage_of(self, self.places)

    def take(self, voters: Indices) -> Self:
        order: list[int] = voters.tolist()
        columns, places = placed([self.columns[self.places[t]] for t in order])
        source = tuple(self.source[t] for t in order)
        models = tuple(self.estimators[t] for t in order)
        return replace(self, columns=columns, places=places, source=source, estimators=models)

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the estimator's name and its columns."""
        read: list[str] = [names[j] for j in self.columns[self.places[voter]].tolist()]
        return f"{type(self.estimators[voter]).__name__} on {listed(read) or 'no column'}"

    def reasons(self, X: Floats) -> list[list[Reason]]:
        read = [self.columns[self.places[t]] for t in range(self.n_voters)]
        names = [type(estimator).__name__ for estimator in self.estimators]
        return read_by(X, read, names, self.votes(X))

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        return []


# ---------------------------------------------------------------------- from scikit-learn
TREES = ("DecisionTreeClassifier", "ExtraTreeClassifier")
_LINEAR = (
    "LogisticRegression",
    "LinearSVC",
    "RidgeClassifier",
    "SGDClassifier",
    "Perceptron",
    "LinearDiscriminantAnalysis",
)


_NUMBER_TREES = ("DecisionTreeRegressor", "ExtraTreeRegressor")
_NUMBER_LINES = ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet")


def from_estimators(estimators: Sequence[Any], n_features: int, code: Floats) -> Voters:
    """Return fitted classifiers of the codes 0 ... n_classes - 1 as voters.

    Parameters
    ----------
    estimators : sequence of fitted classifiers
        Of one type, fitted on all `n_features` columns and on integer class codes.
    n_features : int
    code : ndarray of shape (n_classes, K)
        The vote for each class.
    """
    whole = [np.arange(n_features)] * len(estimators)
    votes = plain_voters(estimators, n_features, code, "answer")
    if votes is None:
        votes = nested(estimators, whole, n_features, "answer", code, abstains=False)
    if votes is not None:
        return votes
    own = [np.flatnonzero(_columns_read(e, n_features)) for e in estimators]
    return ForeignVoters.of(estimators, own, n_features, "answer", code, abstains=False, whole=True)


def plain_voters(
    estimators: Sequence[Any], n_features: int, code: Floats, says: str
) -> Voters | None:
    """Return estimators of scikit-learn, all of one type, as arrays; None for other kinds.

    `says` is 'answer', 'probability' or 'value'. For 'probability', the only linear classifier that
    is converted is logistic regression with softmax (or two classes). Others, such as linear
    discriminants or SGDClassifier with log_loss, are kept as objects whose `predict_proba` is
    called.
    """
    model: Any = estimators[0]
    name = type(model).__name__
    if not type(model).__module__.startswith("sklearn."):
        return None
    if says == "value" and name in _NUMBER_TREES and model.n_outputs_ == 1:
        return tree_voters(estimators, n_features, code, says)
    if says == "value":
        lines = name in _NUMBER_LINES and np.ndim(model.coef_) == 1
        return linear_voters(estimators, n_features, np.zeros((1, 1)), says) if lines else None
    if name in TREES:
        return tree_voters(estimators, n_features, code, says)
    if any(len(e.classes_) != len(code) for e in estimators):
        return None
    if name == "GaussianNB":
        _check_variances(estimators)
        return naive_bayes_models(
            n_features,
            np.arange(n_features),
            np.stack([e.theta_ for e in estimators]).astype(np.float64),
            np.stack([e.var_ for e in estimators]).astype(np.float64),
            np.log(np.stack([e.class_prior_ for e in estimators]).astype(np.float64)),
            code,
            says=says,
        )
    softmax = name == "LogisticRegression" and _is_softmax(model)
    linear = softmax if says == "probability" else name in _LINEAR
    return linear_voters(estimators, n_features, code, says) if linear else None


def _is_softmax(model: Any) -> bool:
    two = len(model.classes_) == 2
    return two or (model.solver != "liblinear" and getattr(model, "multi_class", "auto") != "ovr")


def _check_variances(estimators: Sequence[Any]) -> None:
    """Raise PsephosError if a variance is 0 or not finite: squares were beyond float64."""
    variance = np.stack([e.var_ for e in estimators])
    bad = ~((variance > 0) & np.isfinite(variance))
    if bad.any():
        j = int(bad.any(axis=(0, 1)).argmax())
        raise PsephosError(
            f"GaussianNB: the variance of column {j} is 0, or beyond float64. Put a StandardScaler "
            "before it, or multiply the column by a constant."
        )


def _columns_read(estimator: Any, n_features: int) -> NDArray[np.bool_]:
    importances = getattr(estimator, "feature_importances_", None)
    if importances is None or len(importances) != n_features:
        return np.ones(n_features, dtype=bool)
    return np.asarray(importances) != 0


def tree_voters(
    estimators: Sequence[Any], n_features: int, code: Floats, says: str = "answer"
) -> TreeVoters:
    """Return scikit-learn's trees as voters: leaves vote a class, probabilities or a number."""
    trees = [e.tree_ for e in estimators]
    sizes = np.array([tree.node_count for tree in trees])
    root = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)

    def joined(name: str, shift: bool = False) -> NDArray[Any]:
        parts = [getattr(t, name) + (r if shift else 0) for t, r in zip(trees, root, strict=True)]
        return np.concatenate(parts)

    split = np.concatenate([t.children_left >= 0 for t in trees])
    column = np.where(split, joined("feature"), -1).astype(np.intp)
    columns, local = np.unique(column[split], return_inverse=True)
    feature = np.full(len(column), -1, dtype=np.intp)
    feature[split] = local
    known = [] if says == "value" else [code[e.classes_.astype(np.intp)] for e in estimators]
    if says == "value":
        votes = [t.value[:, 0].astype(np.float64) for t in trees]
    elif says == "answer":
        votes = [c[t.value[:, 0].argmax(1)] for c, t in zip(known, trees, strict=True)]
    else:
        shares = [t.value[:, 0] / t.value[:, 0].sum(axis=1, keepdims=True) for t in trees]
        votes = [share @ c for share, c in zip(shares, known, strict=True)]
    return TreeVoters(
        n_features,
        columns.astype(np.intp),
        root,
        feature,
        joined("threshold").astype(np.float64),
        joined("missing_go_to_left").astype(bool),
        np.where(split, joined("children_left", shift=True), -1).astype(np.intp),
        np.where(split, joined("children_right", shift=True), -1).astype(np.intp),
        np.concatenate(votes),
        single=True,
    )


def linear_voters(
    estimators: Sequence[Any], n_features: int, code: Floats, says: str = "answer"
) -> Scores:
    """Return scikit-learn's linear models as voters."""
    coefs: list[Any] = [e.coef_ for e in estimators]
    plain = [np.asarray(c.toarray() if sparse.issparse(c) else c) for c in coefs]
    dense = [np.atleast_2d(c) for c in plain]  # some models of two classes have a flat array
    coef = np.stack(dense).astype(np.float64)
    intercept = np.stack([np.broadcast_to(e.intercept_, coef.shape[1]) for e in estimators])
    used = np.flatnonzero((coef != 0).any(axis=(0, 1)))
    coef = np.ascontiguousarray(coef[:, :, used])  # for sums in the same order
    return linear_models(n_features, used, coef, intercept.astype(np.float64), code, says)
