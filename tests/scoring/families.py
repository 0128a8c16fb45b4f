"""Fitted models of every kind of part, small, for the readers of plain models."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor
from small_settings import small_settings

from psephos import VotingClassifier, VotingRegressor, at_threshold, calibrate
from psephos.testing import small_table

# (setting, classes, share of missing values); together they have every kind of part
TABLES = [
    ("adaboost", 2, 0.2),
    ("adaboost-trees", 3, 0.0),
    ("samba", 2, 0.2),
    ("samba-paper", 2, 0.0),
    ("samba-exact", 2, 0.2),
    ("samba-bayes", 2, 0.0),
    ("local-boosting", 3, 0.0),
    ("cart", 3, 0.2),
    ("cart-stays", 2, 0.2),
    ("c45", 3, 0.2),
    ("c45-soft", 2, 0.2),
    ("c45-rules", 3, 0.2),
    ("linear-tree", 2, 0.0),
    ("linear-tree-leaves", 3, 0.2),
    ("linear-tree-numbers-leaves", 0, 0.2),
    ("random-forest", 3, 0.2),
    ("newton-numbers-hist", 0, 0.2),
    ("gradient-boosting", 2, 0.0),
    ("soft-boosting", 3, 0.2),
    ("proset", 3, 0.2),
    ("proset-regressor", 0, 0.0),
    ("ml-knn", 3, 0.2),
    ("swag", 3, 0.2),
    ("swag-best", 2, 0.2),
    ("swag-qda", 2, 0.2),
    ("swag-naive_bayes", 3, 0.2),
    ("swag-rbf_svm", 3, 0.2),
    ("swag-linear_svm", 2, 0.0),
    ("swag-forest", 3, 0.0),
    ("rank-ridge", 3, 0.0),
    ("gibbs", 2, 0.0),
    ("version-space", 2, 0.0),
    ("cascade", 3, 0.0),
    ("stacking-read", 2, 0.0),
    ("stacking-logistic", 3, 0.0),
    ("voting-median", 3, 0.0),
    ("bagging", 2, 0.0),
]
FRAMES = [
    "samba", "cart", "c45", "newton-boosting", "proset", "ml-knn", "rank-ridge",
    "linear-tree-leaves", "linear-tree-numbers-leaves",
]  # fmt: skip
CALIBRATED = ["sigmoid", "isotonic", "temperature"]
#: Model, calibration, class index and probability from which on that class is the answer.
THRESHOLDS = {
    "threshold, shares": ("adaboost", None, 1, 0.42),
    "threshold, log-odds": ("gradient-boosting", None, 0, 0.7),
    "threshold, calibrated": ("random-forest", "sigmoid", 1, 0.3),
    "threshold, first match": ("c45-rules", None, 0, 0.8),
    "threshold, leaves": ("linear-tree-leaves", None, 0, 0.8),
}
OTHERS = [
    "borda", "median", "labels", "class votes", "losses", "linear answers", "linear numbers",
    "drawn",
    *THRESHOLDS,
]  # fmt: skip
NAMES = [
    *(f"{name}, {k} classes, {gaps} missing" for name, k, gaps in TABLES),
    *(f"{name}, frame" for name in FRAMES),
    *(f"{name}, calibrated" for name in CALIBRATED),
    *OTHERS,
]


@cache
def settings():
    return small_settings()


def frame():
    """A table with hostile names, categories of words and of numbers, and gaps."""
    X, y = small_table(3, missing=0.1)
    table = pd.DataFrame(X[:, :4], columns=["g1", 'k__B;p__<b>"', "it's", "ünits, §"])
    table["site"] = pd.Categorical(np.array(["skin", "lüng", "骨"])[np.arange(60) % 3])
    table["grade"] = pd.Categorical(np.arange(60) % 4)
    table.loc[5:9, "site"] = None
    return table, y


def _other(what):
    X, y = small_table(3)
    if what in THRESHOLDS:
        name, method, place, threshold = THRESHOLDS[what]
        model = clone(settings()[name]).fit(*small_table(2, missing=0.2))
        if method:
            model = calibrate(model, *small_table(2, seed=2), method=method)
        return at_threshold(model, threshold, model.classes_[place])
    if what == "borda":
        members = [("tree", settings()["cart"]), ("samba", settings()["samba"])]
        return VotingClassifier([(n, clone(m)) for n, m in members], voting="borda").fit(X, y)
    if what == "median":
        members = [(n, clone(settings()[n])) for n in ("cart", "random-forest", "rank-ridge")]
        return VotingClassifier(members, voting="median").fit(X, y)
    if what == "labels":
        Y = np.column_stack([X[:, 0] > 0.5, X[:, 1] > 1, X[:, 4] > 0]).astype(int)
        return clone(settings()["ml-knn"]).fit(X, Y)
    if what == "linear answers":
        members = [("line", LogisticRegression()), ("machine", LinearSVC())]
        return VotingClassifier(members, voting="hard").fit(*small_table(2))
    if what == "linear numbers":
        members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3))]
        return VotingRegressor(members).fit(*small_table(0))
    if what == "drawn":
        gibbs = clone(settings()["gibbs"]).set_params(n_draws=None)
        return gibbs.fit(*small_table(2, missing=0.1))
    if what == "losses":
        costs = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
        return clone(settings()["cart"]).set_params(loss=costs).fit(X, y)
    forest = clone(settings()["random-forest"]).fit(X, y)
    calibration = _class_votes(np.array([1.0, 0.4, 2.0]))
    return _with_calibration(forest, calibration)


def _class_votes(weight):
    from psephos.vote.calibration import ClassVotes, Sigmoid

    return ClassVotes(weight, Sigmoid(np.full(3, 0.9), np.array([0.1, 0.0, -0.2])))


def _softened(model):
    """Return a tree with the soft thresholds that a file of an earlier version may have."""
    from dataclasses import replace

    voters, at = model.vote_.voters, model.vote_.voters.nodes.threshold
    nodes = replace(voters.nodes, lower=at - 0.3, upper=at + 0.4)
    model.vote_ = replace(model.vote_, voters=replace(voters, nodes=nodes))
    return model


def _quadratic(model):
    """Return densities with the covariances that a search of an earlier version may have."""
    from dataclasses import replace
    from itertools import pairwise

    def whole(part):
        variance = getattr(part, "variance", None)
        if variance is None:
            return part
        each = [variance[:, a:b] for a, b in pairwise(part.ptr.tolist())]
        matrices = [[np.tril(0.1 + np.diag(0.3 * v**-0.5)).ravel() for v in own] for own in each]
        logs = np.array([np.log(2 * np.pi * own).sum(axis=1) for own in each])
        return replace(
            part, constant=part.constant - logs / 2, called="quadratic discriminant",
            variance=None, whitening=np.concatenate([np.array(own) for own in matrices], axis=1),
        )  # fmt: skip

    voters = model.vote_.voters
    joined = replace(voters, parts=tuple(whole(part) for part in voters.parts))
    model.vote_ = replace(model.vote_, voters=joined)
    return model


def _with_calibration(model, calibration):
    from dataclasses import replace

    vote = model.vote_
    model.vote_ = replace(vote, readout=replace(vote.readout, calibration=calibration))
    return model


@cache
def fitted(name):
    """Return the fitted model of a name."""
    if name in OTHERS:
        return _other(name)
    first, _, rest = name.partition(", ")
    if rest == "frame":
        table, y = frame()
        if is_regressor(settings()[first]):
            y = 3.0 * table["g1"].fillna(0.5) + table["site"].cat.codes + 0.1 * np.arange(60)
        return clone(settings()[first]).fit(table, y)
    if rest == "calibrated":
        X, y = small_table(3, seed=2)
        model = clone(settings()["random-forest"]).fit(*small_table(3))
        return calibrate(model, X, y, method=first)
    k, gaps = rest.split(", ")
    X, y = small_table(int(k.split()[0]), missing=float(gaps.split()[0]))
    if first == "swag-qda":
        return _quadratic(clone(settings()["swag-naive_bayes"]).fit(X, y))
    if first == "c45-soft":
        return _softened(clone(settings()["c45"]).fit(X, y))
    return clone(settings()[first]).fit(X, y)


def gappy(model, n=20):
    """Return plain rows of a model with most values missing, and one without any.

    None of a model that refuses missing values.
    """
    from psephos.scoring import conformance

    rows = conformance(model, n, random_state=5)["rows"]
    rng, q = np.random.default_rng(0), len(rows[0])
    small = model.vote_.select(model.vote_.columns)
    try:
        small.score(np.full((1, small.n_features), np.nan))
    except ValueError:
        return []
    kept = rng.random((n, q)) < 0.3
    return [
        [None] * q,
        *(
            [v if k else None for v, k in zip(*pair, strict=True)]
            for pair in zip(rows, kept, strict=True)
        ),
    ]


def reader(model):
    """Return the plain reader of a model."""
    from psephos.scoring import plain
    from psephos.scoring.reader import PlainModel

    return PlainModel(plain(model))
