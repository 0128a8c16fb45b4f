"""The contract of every model: what its votes, columns, file and weights promise.

Each check takes a `Case` and raises AssertionError with the numbers if the promise is broken.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone

from psephos._errors import PsephosError
from psephos._types import Array, Estimator, Floats, TableLike, Usage, sparse
from psephos.base import VoteEstimator
from psephos.modelfile import load, save
from psephos.testing.ballots import assert_ballots_are_true
from psephos.vote.part import Weighting


@dataclass(frozen=True)
class Case:
    """An estimator to be checked, and the table to check it on.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    n_classes : int, default=2
        0 for a regressor.
    missing : float, default=0.0
        Share of missing values; 0 for estimators whose voters refuse them.
    no_repetition : str, default=''
        Why weight 2 is not the row twice for this estimator; '' if it is. Weights that look for the
        k nearest rows, or count rows, get them from `fit` with a weight each: a row of weight 2
        must count twice among them, or the rows be merged first
        (`psephos.models.training.distinct_rows`).
    no_renaming : str, default=''
        Why other codes of categories give other answers, as where the fit draws by them; '' if they
        do not.
    categories : sequence of int, default=()
        Columns of the table, other than 3, that hold categories, for an estimator with a parameter
        `categorical_features`.
    """

    estimator: Any
    n_classes: int = 2
    missing: float = 0.0
    no_repetition: str = ""
    no_renaming: str = ""
    categories: Sequence[int] = ()

    def __post_init__(self) -> None:
        known = "categorical_features" in self.estimator.get_params(deep=False)
        if self.categories and not known:
            raise PsephosError(
                f"Case(categories={list(self.categories)}) is for an estimator with a parameter "
                f"categorical_features, which {type(self.estimator).__name__} does not have."
            )

    def table(self, seed: int = 0) -> Any:
        """Return (X, y) of a small table."""
        kinds = {"missing": self.missing, "categories": self.categories}
        return small_table(self.n_classes, seed=seed, **kinds)

    def fresh(self) -> Any:
        """Return an unfitted clone, that knows which columns are categories."""
        fresh: Any = clone(self.estimator)
        if self.categories:
            fresh.set_params(categorical_features=list(self.categories))
        return fresh

    def fit(self, **kwargs: Any) -> Any:
        """Return a fitted clone."""
        X, y = self.table()
        return self.fresh().fit(X, y, **kwargs)

    @cached_property
    def model(self) -> Any:
        """The fitted clone that is shared by the checks, which leave it as it is."""
        return self._fitted[0]

    @cached_property
    def _fitted(self) -> tuple[Any, dict[str, str]]:
        """A fitted clone, and the words of its parameters before it was fitted."""
        model = self.fresh()
        before = _words_of_params(model)
        return model.fit(*self.table()), before

    def cases(self) -> Any:
        """Return rows to predict: some training rows, and new ones."""
        return np.vstack([self.table().X[:9], self.table(seed=1).X[:30]])


def _foreign(estimator: Estimator) -> bool:
    """Return whether a parameter is an estimator of another library, or a function."""
    given = (getattr(estimator, name, None) for name in ("estimator", "learner"))
    if any(callable(v) for v in estimator.get_params(deep=False).values()):
        return True
    return any(isinstance(v, BaseEstimator) and not isinstance(v, VoteEstimator) for v in given)


def _words_of_params(model: Estimator) -> dict[str, str]:
    return {name: repr(value) for name, value in model.get_params().items()}


def _score(model: Any, X: TableLike) -> Any:
    """Return what a vote sums to: the decision of a classifier, the number of a regressor."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def check_contributions_sum_to_the_score(case: Case) -> None:
    """Check that contributions sum to the score, and weights to the mass."""
    model, X = case.model, case.cases()
    vote = model.vote_
    score = model._flat(vote.score(model._values(X)))  # before a calibration
    assert_allclose(model.contributions(X).sum(axis=1), score, atol=1e-12)
    assert_allclose(np.abs(vote.weights(X)).sum(axis=1), model.mass(X), rtol=1e-10)
    if vote.readout.score == "normalised":
        raw = np.einsum("nt,ntk->nk", vote.weights(X), vote.votes(X))
        mass = vote.mass(X)[:, None]
        assert_allclose(vote.score(X), raw / np.where(mass > 0, mass, 1.0), atol=1e-12)


def _others(case: Case, n: int, columns: Any) -> Any:
    """Return other values for columns, (n, len(columns))."""
    rng = np.random.default_rng(0)
    values = 100.0 * rng.standard_normal((n, len(columns)))
    return np.where(np.isin(columns, case.categories), np.abs(values) // 1 % 4, values)


def check_silent_columns_change_nothing(case: Case) -> None:
    """Scrambling the columns the vote does not name changes no answer."""
    model, X = case.model, case.cases()
    before = _score(model, X)
    unread = np.setdiff1d(np.arange(X.shape[1]), model.vote_.columns)
    scrambled = X.copy()
    scrambled[:, unread] = _others(case, len(X), unread)
    assert_array_equal(_score(model, scrambled), before)
    importance = model.feature_importances_
    assert (importance[unread] == 0).all(), "a column that is not read has importance"
    total = importance.sum()
    assert total == 0 or abs(total - 1) < 1e-9, "importances do not sum to 1"
    assert_array_equal(model.usage().toarray().any(axis=0).nonzero()[0], model.vote_.columns)


def check_reduced_model_gives_the_same_answers(case: Case) -> None:
    """`reduce()` answers alike from the columns read alone, and is of the same class."""
    model, X = case.model, case.cases()
    reduced = model.reduce()
    read = X[:, model.vote_.columns]
    assert type(reduced) is type(model)
    backup = len(model.features_backup_)
    assert reduced.n_features_in_ == read.shape[1] == max(1, model.n_features_used_ + backup)
    assert_array_equal(_score(reduced, read), _score(model, X))
    if hasattr(model, "predict_proba"):
        assert_array_equal(reduced.predict_proba(read), model.predict_proba(X))


def check_backup_columns_answer_no_complete_case(case: Case) -> None:
    """Scrambled, blanked or left out, `features_backup_` change no answer of a complete case."""
    model, X = case.model, np.nan_to_num(case.cases())
    vote = model.vote_
    assert_array_equal(np.union1d(vote.used, vote.backup), vote.columns)
    before = _score(model, X)
    for values in (np.nan, _others(case, len(X), vote.backup)):
        other = X.copy()
        other[:, vote.backup] = values
        if len(vote.backup):
            assert_array_equal(_score(model, other), before)
    small = model.reduce(backup=False)
    assert small.n_features_in_ == max(1, model.n_features_used_)
    assert small.n_features_used_ == model.n_features_used_
    assert not len(small.features_backup_)
    read = X[:, vote.used] if len(vote.used) else X[:, :1]
    assert_allclose(_score(small, read), before, rtol=0, atol=1e-12)
    assert_array_equal(small.predict(read), model.predict(X))
    total = small.feature_importances_.sum()
    assert total == 0 or abs(total - 1) < 1e-9, "importances do not sum to 1"


def check_anatomy_tells_the_truth(case: Case) -> None:
    """Check that the recipe's anatomy names the parts of the fitted vote.

    The rule is the one used when a model is saved and loaded, without its exception for a vote
    that found nothing. The read-out must be named as well.
    """
    model = case.model
    vote, anatomy = model.vote_, model.anatomy
    found = f"{vote.voters.kind!r}, {vote.weighting.tag!r}, {vote.readout.score!r}"
    message = f"the vote has {found}, and the anatomy declares {anatomy}"
    assert model._has_its_anatomy(nothing_found=False), message
    assert vote.readout.score in anatomy.readouts(), message


def check_weight_two_is_the_row_twice(case: Case) -> None:
    """Where the estimator claims it, weight 2 equals the row given twice."""
    if case.no_repetition:
        return
    X, y = case.table()
    twice = np.arange(len(y)) % 3 == 0
    order = np.sort(np.concatenate([np.arange(len(y)), np.flatnonzero(twice)]))
    weighted = case.fresh().fit(X, y, sample_weight=1.0 + twice)
    repeated = case.fresh().fit(X[order], y[order])
    new = case.cases()
    assert_allclose(_score(weighted, new), _score(repeated, new), rtol=1e-9, atol=1e-9)


def check_voters_may_change_places(case: Case) -> None:
    """Check that the order of voters changes no answer beyond rounding."""
    model, X = case.model, case.cases()
    order = np.arange(model.vote_.n_voters)[::-1]  # no voter keeps its place, but a middle one
    assert_allclose(model.vote_.take(order).score(X), model.vote_.score(X), atol=1e-12)


def check_refit_equals_fit(case: Case) -> None:
    """After another table, a mapped one in columns gives the same bytes as one in rows.

    Both are read-only, and mapped from a file: the other one in rows, this one in columns.
    """
    X = case.cases()
    other, labels = case.table(seed=5)
    table, y = case.table()
    with tempfile.TemporaryDirectory() as folder:
        rows, columns = Path(folder, "rows.npy"), Path(folder, "columns.npy")
        np.save(rows, np.ascontiguousarray(other[:, :9]))
        np.save(columns, table.copy(order="F"))
        model = case.fresh().fit(np.load(rows, mmap_mode="r"), labels)
        model.fit(np.load(columns, mmap_mode="r"), y)
        assert_array_equal(_score(model, X), _score(case.model, X))
        del model  # which closes the files that it may hold open


def check_file_gives_the_same_bytes(case: Case) -> None:
    """Save, load, and save again: the same answers and the same file."""
    model, X = case.model, case.cases()
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "a.psephos"), Path(folder, "b.psephos")
        save(model, first)
        loaded = load(first)
        save(loaded, second)
        assert_array_equal(_score(loaded, X), _score(model, X))
        assert_array_equal(loaded.predict(X), model.predict(X))
        assert loaded.describe() == model.describe()
        some = X[::8]  # of both kinds: words take long to write
        assert loaded.explain(some).columns() == model.explain(some).columns()
        if not _foreign(case.estimator):  # of which words only are kept
            assert first.read_bytes() == second.read_bytes(), "the file changed"


def check_staging_ends_at_the_score(case: Case) -> None:
    """Check that the last stage is the whole vote, and each the truncated vote."""
    model, X = case.model, case.cases()
    stages = list(model.vote_.staged_scores(X))
    assert len(stages) == model.vote_.n_voters
    for t, score in enumerate(stages, start=1):
        assert_allclose(score, model.vote_.truncate(t).score(X), atol=1e-12)


def check_parameters_are_left_alone(case: Case) -> None:
    """`fit` writes to no constructor parameter."""
    model, before = case._fitted
    assert _words_of_params(model) == before


def check_ballots_tell_the_vote(case: Case) -> None:
    """Ballots have a row per case and voter, and their contributions sum to the score."""
    model, X = case.model, case.cases()[:5]
    ballots = model.explain(X)
    table = ballots.columns()
    assert {len(column) for column in table.values()} == {5 * ballots.vote.n_voters}
    terms = [np.array(v) for name, v in table.items() if name.startswith("contribution")]
    total = np.stack([t.reshape(5, -1).sum(axis=1) for t in terms], axis=1)
    assert_allclose(total, ballots.score, atol=1e-12)
    assert len(model.describe()) > 1


def check_ballots_say_what_happened(case: Case) -> None:
    """Every ballot holds for its case: the branch taken, the terms, the case resembled."""
    model, X = case.model, case.cases()[5:17]
    assert_ballots_are_true(model.explain(X), X)


def check_members_have_their_shapes(case: Case) -> None:
    """Check the type and shape of what voters and weights return: comes first, for the others."""
    model = case.model
    vote, X = model.vote_, model._values(case.cases())
    n, T, K = len(X), vote.n_voters, vote.target.n_outputs
    for part in (vote.voters, vote.weighting):
        _check_table(part, T, X.shape[1])
    votes = vote.voters.votes(X)
    _check_shape(vote.voters, "votes(X)", votes, (n, T, K))
    why = vote.voters.reasons(X)
    rows = len(why) == n and all(len(row) == T for row in why)
    assert rows, f"{_name(vote.voters)}.reasons(X) is not a list of {n} lists of {T} reasons."
    weighting: Weighting = vote.weighting
    if weighting.needs_votes:
        of = "of_votes(votes, target)"
        _check_shape(weighting, of, weighting.of_votes(votes, vote.target), (n, T), (n, T, K))
    else:
        _check_shape(weighting, "weights(X)", weighting.weights(X), (n, T))
    share = weighting.mean_share()
    _check_shape(weighting, "mean_share()", share, (T,))
    sound = bool((share >= 0).all()) and abs(share.sum() - 1.0) < 1e-9
    assert sound, f"{_name(weighting)}.mean_share() has a number below 0, or does not sum to 1."
    words = isinstance(weighting.words(), str)
    assert words, f"{_name(weighting)}.words() is not a string."


def _check_table(part: Any, n_voters: int, n_features: int) -> None:
    name = _name(part)
    tag = getattr(type(part), "tag", None)
    assert isinstance(tag, str), f"{name} declares no tag: write `tag: ClassVar[str] = ...` in it."
    counts = (part.n_voters, part.n_features) == (n_voters, n_features)
    assert counts, (
        f"{name} has n_voters {part.n_voters} and n_features {part.n_features}, in a vote of "
        f"{n_voters} voters on a table of {n_features} columns."
    )
    columns = np.asarray(part.columns)
    rising = columns.ndim == 1 and columns.dtype == np.intp and bool((np.diff(columns) > 0).all())
    assert rising, f"{name}.columns is not an array of intp in rising order."
    usage: Usage = part.usage()
    made = sparse.issparse(usage) and usage.format == "csr" and usage.dtype == bool
    assert made, (
        f"{name}.usage() is not a boolean CSR table: psephos.vote.part.usage_table(voter, column, "
        "shape) makes one."
    )
    _check_shape(part, "usage()", usage, (n_voters, n_features))
    assert set(usage.indices.tolist()) <= set(columns.tolist()), (
        f"{name}.usage() has a column that is not in {name}.columns."
    )


def _check_shape(part: Any, member: str, found: Any, *shapes: tuple[int, ...]) -> None:
    own = np.shape(found) if not hasattr(found, "shape") else found.shape
    wanted = " or ".join(map(str, shapes))
    assert own in shapes, f"{_name(part)}.{member} has the shape {own}: it must be {wanted}."


def _name(part: Any) -> str:
    return type(part).__name__


def check_parts_read_no_more_than_they_say(case: Case) -> None:
    """Check that a part that has lost voters or columns names those it reads, and no others."""
    vote = case.model.vote_
    for part in (vote.voters, vote.weighting):
        for kept in ([0], [vote.n_voters - 1], list(range(0, vote.n_voters, 2))):
            fewer = part.take(np.array(kept, dtype=np.intp))
            read = fewer.usage().toarray().any(axis=0).nonzero()[0]
            assert_array_equal(
                fewer.columns, read,
                f"{_name(part)}.take keeps columns that none of the voters taken reads, or lacks "
                "one that they read.",
            )  # fmt: skip
        small = part.select(vote.columns)
        where = np.searchsorted(vote.columns, part.columns)
        message = f"{_name(part)}.select does not keep the places of its columns."
        assert small.n_features == len(vote.columns), message
        assert_array_equal(small.columns, where, message)
        used = part.usage().toarray()[:, vote.columns]
        assert_array_equal(small.usage().toarray(), used, message)


def check_weights_are_shares(case: Case) -> None:
    """Check that no weight is below 0, unless the read-out is a sum."""
    vote = case.model.vote_
    if vote.readout.score == "sum":
        return
    weights = vote.weights(case.model._values(case.cases()))
    least = float(weights.min())
    assert least >= 0, (
        f"{_name(vote.weighting)} has a weight of {least:g} in a vote that is "
        f"{vote.readout.score!r}: a weight below 0 has a meaning in a sum alone."
    )


def check_answers_are_finite(case: Case) -> None:
    """Rows of values as large as 1e149, and of nothing but NaN, get numbers or a refusal."""
    model, X = case.model, case.cases()[:5]
    X[0], X[1], X[2, ::2], X[3, 1::2] = 1e149, -1e149, 1e149, -1e149
    if case.missing:
        X[4] = np.nan
    for j in case.categories:
        X[:4, j] = np.arange(4)
    for method in ("predict", "decision_function", "predict_proba", "mass"):
        if hasattr(model, method) and (method != "predict" or case.n_classes == 0):
            for row in X:
                _check_finite(model, method, row)


def _check_finite(model: Estimator, method: str, row: Any) -> None:
    try:
        found = np.asarray(getattr(model, method)(row[None]))
    except PsephosError as error:
        if "must be finite numbers of shape" not in str(error):
            return
        found = np.array([np.nan])
    assert np.isfinite(found).all(), (
        f"{method} gives {found[0]} for the row {row}: votes and weights must be finite, or the "
        "row be refused with a PsephosError."
    )


def check_codes_of_categories_mean_nothing(case: Case) -> None:
    """Categories under other codes, in another order, get the same answers."""
    if not case.categories or case.no_renaming:
        return
    (X, y), new, code = case.table(), case.cases(), np.array([2.0, 0.0, 3.0, 1.0])
    for table in (X, new):
        for j in case.categories:
            known = ~np.isnan(table[:, j])
            table[known, j] = code[table[known, j].astype(int)]
    renamed = case.fresh().fit(X, y)
    # a search by gradient adds columns in another order, and magnifies the rounding of that
    near = 1e-6 if "SoftTreeVoters(" in repr(case.model.vote_.voters) else 1e-9
    assert_allclose(
        _score(renamed, new), _score(case.model, case.cases()), rtol=near, atol=near,
        err_msg="the answer depends on the codes of categories, which are names in no order",
    )  # fmt: skip


CHECKS: Mapping[str, Callable[[Case], None]] = {
    function.__name__.removeprefix("check_").replace("_", " "): function
    for function in (
        check_members_have_their_shapes,
        *(one for name, one in sorted(globals().items()) if name.startswith("check_")),
    )
}


def parametrize_with_contract(cases: Mapping[str, Case]) -> Any:
    """Return a pytest decorator that runs every check on every case.

    The test takes one argument, ``check``, and calls it::

        @parametrize_with_contract({"mine": Case(MyClassifier())})
        def test_contract(check):
            check()
    """
    import pytest  # the only use of pytest in the package: it is a test dependency

    pairs = [(c, n) for c in cases for n in CHECKS]
    names = [f"{case}: {check}" for case, check in pairs]
    calls = [_call(CHECKS[check], cases[case]) for case, check in pairs]
    return pytest.mark.parametrize("check", calls, ids=names)


def _call(check: Callable[[Case], None], case: Case) -> Callable[[], None]:
    return lambda: check(case)


class SmallTable(NamedTuple):
    """A table with labels; the last columns are noise."""

    X: Floats
    y: Array


def small_table(
    n_classes: int = 2,
    n: int = 60,
    p: int = 12,
    missing: float = 0.0,
    seed: int = 0,
    categories: Sequence[int] = (),
) -> SmallTable:
    """Return a table whose first columns separate the classes, the others are noise.

    Column 2 takes few values (ties), column 3 is constant. With `missing`, that share of the
    values of every column but the constant one is NaN. With `n_classes` 0 the target is a number.
    Columns in `categories` hold codes from 0 to 3, of which most rows of a class have the same one;
    their order means nothing.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % (n_classes or 3)
    X = rng.standard_normal((n, p))
    X[:, 0] += 1.5 * y
    X[:, 1] += 1.5 * (y == y.max())
    X[:, 2] = np.round(X[:, 2] + y)
    X[:, 3] = 7.0
    drawn = np.random.default_rng([seed, 1])  # the other columns are the same with and without
    for j in categories:
        usual = np.array([0, 2, 1, 3, 0])[y]
        X[:, j] = np.where(drawn.random(n) < 0.7, usual, drawn.integers(0, 4, n))
    if missing:
        holes = rng.random((n, p)) < missing
        holes[:, 3] = False
        X[holes] = np.nan
    if n_classes == 0:
        return SmallTable(X, y + 0.25 * rng.standard_normal(n))
    return SmallTable(X, np.array(["ham", "egg", "jam", "tea", "pie"])[y])
