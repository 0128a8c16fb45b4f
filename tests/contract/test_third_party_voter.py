"""A kind of voters of another package: this file is all of it.

It lowers itself to an operation, and is then predicted, explained, saved, exported and in the page.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from psephos import compare, load, register, registry, save
from psephos._errors import PsephosError
from psephos.base import Anatomy, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.protocol import Protocol
from psephos.protocol.tables.table import table_from_arrays
from psephos.report import build_report
from psephos.testing import Case, parametrize_with_contract, small_table
from psephos.vote import Constant, Readout, Thresholds, Vote, Voters, register_part
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.nodes import flat_nodes
from psephos.vote.operations.trees import Trees
from psephos.vote.part import Columns, ReadsColumns, check, check_part, check_within


@register_part
@dataclass(frozen=True)
class BandVoters(ReadsColumns, ReadAsLowered):
    """Each votes for one class where low < x <= high, else, and where x is missing, against it."""

    tag: ClassVar[str] = "band voters"
    n_features: int
    columns: Columns
    feature: NDArray[np.intp]
    low: Thresholds
    high: Thresholds
    inside: NDArray[np.float64]
    outside: NDArray[np.float64]

    def __post_init__(self):
        check_part(self)
        check_within(self.feature, len(self.columns), "a band is of a column that is not read")
        check(self.low.shape == self.high.shape == self.feature.shape, "bands differ in number")

    @property
    def n_voters(self):
        return len(self.feature)

    def take(self, voters):
        kept, feature = np.unique(self.feature[voters], return_inverse=True)
        own = {n: getattr(self, n)[voters] for n in ("low", "high", "inside", "outside")}
        return replace(self, columns=self.columns[kept], feature=feature.astype(np.intp), **own)

    def lowered(self):
        """Return trees of two rules: is x at most low? Is it at most high?"""
        t, none = np.arange(self.n_voters), np.full(self.n_voters, -1)

        def nodes(*each):
            return np.stack(each, axis=1).ravel()

        return Trees(
            self.n_features,
            self.columns,
            5 * t,
            flat_nodes(
                nodes(5 * t + 1, none, 5 * t + 3, none, none),
                nodes(self.feature, none, self.feature, none, none),
                nodes(self.low, none, self.high, none, none).astype(float),
                nodes(0 * t, none, 0 * t + 1, none, none),
            ),
            np.concatenate([self.inside, self.outside]),
            nodes(none, len(t) + t, none, t, len(t) + t),
        )


class BandClassifier(VoteClassifier):
    """Of every class a band on each of the first three columns: its mean and a deviation."""

    anatomy = Anatomy(("band voters",), "constant", "normalised", "class means")
    contender = Contender("third-bands", "rules", ensemble=True)

    def _fit_vote(self, table, labels, weight, context):
        X, code = table.dense(), labels.target.code
        some, k = np.arange(min(3, X.shape[1])), labels.target.n_classes
        known = ~np.isnan(X[:, some]) * weight[:, None]
        of_class = np.eye(k)[labels.y]
        total = np.maximum(of_class.T @ known, 1e-9)  # (classes, columns)
        mean = of_class.T @ (known * np.nan_to_num(X[:, some])) / total
        gap = np.nan_to_num(X[:, some] - mean[labels.y])
        spread = np.sqrt(of_class.T @ (known * gap**2) / total)
        inside = np.repeat(code, len(some), axis=0)
        low, high = (mean - spread).ravel(), (mean + spread).ravel()
        feature = np.tile(some, k)
        bands = BandVoters(X.shape[1], some, feature, low, high, inside, -inside)
        weights = Constant(X.shape[1], np.ones(len(feature)))
        return Vote(bands, weights, Readout("normalised", "share"), labels.target), {}


@pytest.fixture(autouse=True, scope="module")
def _known_here_only():
    register(BandClassifier)
    yield
    registry._registered.pop("third-bands")


CASES = {f"{k} classes, {m}": Case(BandClassifier(), k, m) for k in (2, 3) for m in (0.0, 0.2)}


@parametrize_with_contract(CASES)
def test_contract(check):
    check()


@pytest.fixture(scope="module")
def model():
    return BandClassifier().fit(*small_table(2, missing=0.2))


@pytest.fixture(scope="module")
def X():
    return np.vstack([small_table(2, missing=0.2).X, small_table(2, missing=0.3, seed=1).X])


def test_it_is_explained(model, X):
    rule = model.vote_.voters.rule(0, ["dose", "age", "weight", *"abcdefghi"], {})
    assert "a tree of 3 leaves on dose, which first asks if dose <" in rule
    words = model.explain(X[:4]).words(0, 0)
    assert "column 0" in words
    assert "→ egg" in words or "→ ham" in words


def test_it_is_saved_and_loaded(model, X, tmp_path):
    save(model, tmp_path / "m.psephos")
    loaded = load(tmp_path / "m.psephos")
    assert type(loaded.vote_.voters) is BandVoters
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("place", ["scorer", "sqlite", "onnx"])
def test_it_is_exported(place, model, X, elsewhere):
    labels, chances = getattr(elsewhere, place)(model, X)
    assert labels == model.predict(X).tolist()
    assert_allclose(chances, model.predict_proba(X), atol=1e-6 if place == "onnx" else 1e-12)


@pytest.mark.browser
def test_the_page_answers_by_it(X, elsewhere, tmp_path):
    table = table_from_arrays(*small_table(2))
    done = compare(
        table,
        models=["third-bands", "majority"],
        protocol=Protocol(folds=2, draws=2),
        out=tmp_path / "study",
        n_jobs=1,
    )
    assert not done.failures, done.words()
    path = build_report(tmp_path / "study")
    model = load(tmp_path / "study" / "models" / "third-bands.psephos")
    X = pd.DataFrame(X, columns=model.feature_names_in_)
    labels, chances, words = elsewhere.page(path, "third-bands", X)
    assert labels == model.predict(X).tolist()
    assert_allclose(chances, model.predict_proba(X), atol=1e-12)
    assert "column" in words[0][0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda votes: votes[:1],
            r"must be finite numbers of shape \(60, 3, K\), and are of shape",
        ),
        (lambda votes: votes[:, :, 0], "of shape"),
        (lambda votes: votes * np.nan, "NaN or infinite"),
        (lambda votes: votes * np.inf, "NaN or infinite"),
        (lambda votes: votes.astype(str), "of type"),
    ],
)
def test_votes_of_another_form_are_refused(change, words):
    class Strange(BandVoters):
        def votes(self, X):
            return change(np.ones((len(X), 3, 2)))

        weighted_sum = Voters.weighted_sum
        n_voters = 3

    strange = object.__new__(Strange)
    with pytest.raises(PsephosError, match=words):
        strange.weighted_sum(np.ones((60, 3)), np.zeros((60, 1)))
