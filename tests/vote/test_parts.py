"""Voters, weights, read-outs and the vote made of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from psephos import AdaBoostClassifier, PsephosError, SamBAClassifier
from psephos.testing import small_table
from psephos.vote import (
    Constant,
    ConstantVoters,
    InverseDistance,
    Local,
    Readout,
    StumpVoters,
    Target,
    Vote,
)
from psephos.vote.ballots import Names
from psephos.vote.describing import describe
from psephos.vote.importance import SampleRows, baseline_of

NAMES = ["age", "dose", "site", "note", "stage"]
LEVELS = {2: ["skin", "lung", "bone"]}


def stumps(n_classes=2):
    """Read columns 0, 1, 2 and 4 of five: numbers, a category, presence."""
    code = Target(np.arange(n_classes)).code
    sides = np.arange(6) % n_classes
    return StumpVoters(
        n_features=5,
        columns=np.array([0, 1, 2, 4]),
        feature=np.array([1, 0, 2, 3, 1, 2]),
        threshold=np.array([0.5, -1.25, np.nan, np.inf, 1 / 3, np.nan]),
        missing_left=np.array([False, True, True, False, True, False]),
        category_ptr=np.array([0, 0, 0, 3, 3, 3, 6]),
        category_left=np.array([True, False, True, False, True, False]),
        left=code[sides],
        right=code[(sides + 1) % n_classes],
    )


def cases(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    X[:, 2] = rng.integers(-1, 5, n)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[0] = [-1.25, 0.5, 0, 0, np.inf]
    return X


def votes_by_hand(voters, X):
    """What each rule says, from its words."""
    out = np.empty((len(X), voters.n_voters, voters.left.shape[1]))
    rules = [
        lambda r: r[1] <= 0.5,
        lambda r: np.isnan(r[0]) or r[0] <= -1.25,
        lambda r: r[2] != 1,
        lambda r: not np.isnan(r[4]),
        lambda r: np.isnan(r[1]) or r[1] <= 1 / 3,
        lambda r: r[2] == 1,
    ]
    for i, row in enumerate(X):
        for t, rule in enumerate(rules):
            out[i, t] = voters.left[t] if rule(row) else voters.right[t]
    return out


def local(n_voters=6, a=0.2, per_query=False):
    rng = np.random.default_rng(1)
    return Local(
        n_features=5,
        columns=np.array([1, 3]),
        similarity=InverseDistance(
            a, 2.0, 1.5, per_query, np.array([1.0, 2.0]), np.zeros(2, dtype=bool), 1.0
        ),
        anchors=rng.standard_normal((9, 2)),
        anchor_weight=rng.uniform(1, 2, 9),
        right=np.packbits(rng.random((9, n_voters)) < 0.6, axis=1),
        voters=n_voters,
        low=0.4,
        high=2.9,
        rows=np.arange(9),
        anchor_class=rng.integers(0, 2, 9),
    )


def votes(n_classes=2):
    target = Target(np.arange(n_classes))
    voters = stumps(n_classes)
    alpha = Constant(5, np.array([1.0, 0.5, 2.0, 0.25, 1.5, 3.0]))
    return {
        "sum": Vote(voters, alpha, Readout("sum", "logistic", 0.7), target),
        "normalised": Vote(voters, alpha, Readout("normalised", "share"), target),
        "local": Vote(voters, local(), Readout("normalised", "share"), target),
        "exact": Vote(voters, local(a=0.0), Readout("normalised", "share"), target),
        "per query": Vote(voters, local(per_query=True), Readout("normalised", "share"), target),
        "raw local": Vote(voters, local(), Readout("sum", "logistic", 1.0), target),
    }


VOTES = [(kind, k) for kind in votes() for k in (2, 3)]


# ---------------------------------------------------------------------- stumps
def test_rules_in_words():
    voters = stumps()
    words = [voters.rule(t, NAMES, LEVELS) for t in range(6)]
    assert words == [
        "dose <= 0.5",
        "age <= -1.25 or missing",
        "site in {skin, bone} or missing",
        "stage is present",
        "dose <= 0.3333333333333333 or missing",
        "site in {lung}",
    ]
    assert voters.rule(2, NAMES, {}) == "site in {0, 2} or missing"
    (when, left), (other, right) = voters.sides(0)
    assert (when, left, other, right) == ("if so", -1.0, "otherwise, also if missing", 1.0)
    said = [voters.sides(t)[1][0] for t in range(6)]  # a stump on presence asks of missing values
    missing = ["or missing" in word or "present" in word for word in words]
    assert said == [f"otherwise{'' if left else ', also if missing'}" for left in missing]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stumps_say_what_their_words_say(n_classes):
    voters, X = stumps(n_classes), cases(300)
    assert_array_equal(voters.votes(X), votes_by_hand(voters, X))


def test_stumps_name_their_columns():
    usage = stumps().usage().toarray()
    assert_array_equal(usage.argmax(axis=1), [1, 0, 2, 4, 1, 2])
    assert_array_equal(usage.sum(axis=1), 1)


def test_codes_outside_the_set_count_as_missing():
    voters, X = stumps(), np.zeros((4, 5))
    X[:, 2] = [3, -1, 99, np.nan]
    said = voters.votes(X)[:, [2, 5], 0]
    assert_array_equal(said, np.tile([voters.left[2, 0], voters.right[5, 0]], (4, 1)))


@pytest.mark.parametrize("voters", [[0], [5, 0, 2], [3, 3, 1], [4, 2, 5, 0]])
def test_taken_stumps_say_the_same(voters):
    X = cases()
    whole, some = stumps(), stumps().take(np.array(voters))
    assert_array_equal(some.votes(X), whole.votes(X)[:, voters])
    assert_array_equal(some.usage().toarray(), whole.usage().toarray()[voters])
    assert_array_equal(some.columns, np.unique(whole.columns[whole.feature[voters]]))
    assert [some.rule(i, NAMES, LEVELS) for i in range(len(voters))] == [
        whole.rule(t, NAMES, LEVELS) for t in voters
    ]


# ---------------------------------------------------------------------- votes of any parts
@pytest.mark.parametrize(("kind", "n_classes"), VOTES)
def test_fused_sum_equals_the_generic_sum(kind, n_classes):
    vote, X = votes(n_classes)[kind], cases(200)
    weights, said = vote.weights(X), vote.votes(X)
    generic = np.einsum("nt,ntk->nk", weights, said)
    assert_allclose(vote.voters.weighted_sum(weights, X), generic, rtol=1e-12, atol=1e-12)
    mass = np.abs(weights).sum(axis=1)
    assert_allclose(vote.mass(X), mass, rtol=1e-12)
    expected = generic if vote.readout.score == "sum" else generic / mass[:, None]
    assert_allclose(vote.score(X), expected, rtol=1e-11, atol=1e-12)
    assert_allclose(vote.contributions(X).sum(axis=1), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("kind", "n_classes"), VOTES)
def test_blocks_change_nothing(kind, n_classes, monkeypatch):
    vote, X = votes(n_classes)[kind], cases(50)
    whole = vote.score_and_mass(X)
    monkeypatch.setattr("psephos.vote.vote._BLOCK", 7 * 6 * n_classes)
    for part, again in zip(whole, vote.score_and_mass(X), strict=True):
        assert_allclose(part, again, rtol=1e-13, atol=1e-15)
    alone = np.concatenate([vote.score(X[i : i + 1]) for i in range(50)])
    assert_allclose(whole[0], alone, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(("kind", "n_classes"), VOTES)
def test_selected_vote_answers_alike(kind, n_classes):
    vote, X = votes(n_classes)[kind], cases()
    assert_array_equal(
        vote.columns, [0, 1, 2, 4] if kind in ("sum", "normalised") else np.arange(5)
    )
    reduced = vote.select(vote.columns)
    assert reduced.n_features == len(vote.columns)
    assert_array_equal(reduced.score(X[:, vote.columns]), vote.score(X))
    assert_array_equal(reduced.usage().toarray(), vote.usage().toarray()[:, vote.columns])
    with pytest.raises(PsephosError, match="missing from the selection"):
        vote.select(vote.columns[1:])


@pytest.mark.parametrize(("kind", "n_classes"), VOTES)
def test_stages_are_truncated_votes(kind, n_classes):
    vote, X = votes(n_classes)[kind], cases()
    stages = list(vote.staged_scores(X))
    assert len(stages) == 6
    for t, score in enumerate(stages, 1):
        assert_allclose(score, vote.truncate(t).score(X), rtol=1e-12, atol=1e-12)
    assert_allclose(stages[-1], vote.score(X), rtol=1e-12, atol=1e-12)
    for t in (0, 7):
        with pytest.raises(PsephosError, match=f"cannot keep {t} of 6 voters"):
            vote.truncate(t)


@pytest.mark.parametrize(("kind", "n_classes"), VOTES)
def test_local_importance_and_margins(kind, n_classes):
    vote, X = votes(n_classes)[kind], cases()
    told = baseline_of(vote, SampleRows.of(vote, X))
    table = vote.local_importance(X, told)
    assert_allclose(table.sum(axis=1), 1, atol=1e-12)
    assert (table >= 0).all()
    assert_allclose(told.importance.sum(), 1, atol=1e-12)
    share = np.abs(vote.weights(X)) / vote.mass(X)[:, None]
    y = np.arange(40) % n_classes
    right = vote.votes(X) == vote.target.code[y][:, None]
    worth = np.where(right.all(axis=2), 1.0, -1 / (n_classes - 1))
    assert_allclose(vote.margins(X, y), (share * worth).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csc_matrix])
def test_sparse_tables(form):
    X = np.nan_to_num(cases(), posinf=9.0)
    for vote in votes().values():
        assert_array_equal(vote.score(form(X)), vote.score(X))


def test_usage_joins_voters_and_weights():
    vote = votes()["local"]
    expected = vote.voters.usage().toarray() | np.array([False, True, False, True, False])
    assert_array_equal(vote.usage().toarray(), expected)
    assert vote.usage().dtype == bool


def test_taken_weights():
    weighting, X = local(), cases()[:, [1, 3]]
    compact = weighting.select(np.array([1, 3]))
    order = np.array([5, 0, 3])
    assert_allclose(compact.take(order).weights(X), compact.weights(X)[:, order], rtol=1e-13)
    assert_array_equal(compact.take(order).was_right, compact.was_right[:, order])


def test_nearest_shares_sum_to_the_similarity():
    for kind in ("local", "exact", "per query"):
        vote, X = votes()[kind], cases()
        found = vote.nearest(X, 9)
        assert_allclose(found.share.sum(axis=1), 1)
        assert (np.diff(found.share, axis=1) <= 1e-15).all()
        low, high = vote.weighting.low, vote.weighting.high
        heard = np.where(vote.weighting.was_right, high, low)[found.anchor]
        shares = np.einsum("nk,nkt->nt", found.share, heard)
        assert_allclose(shares / shares.sum(axis=1, keepdims=True), vote.shares(X), rtol=1e-10)
    assert votes()["sum"].nearest(cases()) is None


def test_exact_branch_ties_hear_all_that_coincide():
    weighting = local(a=0.0)
    anchors = weighting.anchors.copy()
    anchors[4] = anchors[2]
    object.__setattr__(weighting, "anchors", anchors)
    X = np.full((1, 5), np.nan)
    X[0, [1, 3]] = anchors[2]
    g = weighting.anchor_weight
    expected = g[2] * weighting.expertise[2] + g[4] * weighting.expertise[4]
    compact = weighting.select(np.array([1, 3]))
    assert_allclose(compact.weights(X[:, [1, 3]])[0], expected)


@pytest.mark.filterwarnings("ignore:overflow")  # NumPy says so where kernels run uncompiled
def test_far_cases_keep_their_shares():
    """Weights below the range of float64 still give the right shares."""
    vote, X = votes()["local"], cases()
    X[:, [1, 3]] = 1e150
    assert_allclose(vote.mass(X), 0.0, atol=1e-200)
    w = vote.weighting.anchor_weight @ vote.weighting.expertise
    assert_allclose(vote.shares(X), np.tile(w / w.sum(), (40, 1)), rtol=1e-9)
    assert np.isfinite(vote.score(X)).all()


# ---------------------------------------------------------------------- read-outs and targets
def test_probabilities():
    two, three = Target(np.arange(2)), Target(np.arange(3))
    F = np.array([[-1.0], [-0.5], [0.0], [1.0]])
    share, logistic = Readout("normalised", "share"), Readout("sum", "logistic", 2.0)
    assert_allclose(share.probabilities(F, two)[:, 1], [0, 0.25, 0.5, 1])
    assert_allclose(logistic.probabilities(F, two)[:, 1], 1 / (1 + np.exp(-2 * F[:, 0])))
    mixed = np.array([[0.2, 0.5, 0.3]]) @ three.code  # shares of the weight
    assert_allclose(share.probabilities(mixed, three), [[0.2, 0.5, 0.3]])
    soft = np.exp(2 * mixed) / np.exp(2 * mixed).sum()
    assert_allclose(logistic.probabilities(mixed, three), soft)
    with pytest.raises(PsephosError, match="a share needs a normalised sum"):
        Readout("sum", "share")
    for bad in (("mean", "share"), ("sum", "probit")):
        with pytest.raises(PsephosError, match="unknown"):
            Readout(*bad)


def test_targets():
    two, three = Target(np.array(["a", "b"])), Target(np.arange(3))
    assert (two.kind, two.n_outputs, three.kind, three.n_outputs) == ("binary", 1, "multiclass", 3)
    assert_allclose(three.code.sum(axis=1), 0)
    assert_array_equal(two.answers(np.array([[-0.1], [0.0], [0.1]])), [0, 0, 1])
    assert_array_equal(three.answers(np.array([[0.0, 0.5, 0.5], [0, 0, 0]])), [1, 0])
    margins = [three.margin(three.code, np.full(3, k)) for k in range(3)]
    assert_allclose(margins, np.where(np.eye(3, dtype=bool), 1, -0.5))
    for classes in (np.array([1]), np.array([[1, 2]]), np.array([(1,), None], dtype=object)):
        with pytest.raises(PsephosError):
            Target(classes)


def test_parts_that_do_not_fit_are_refused():
    target, readout = Target(np.arange(2)), Readout("sum", "logistic", 1.0)
    with pytest.raises(PsephosError, match="voters and weights differ"):
        Vote(stumps(), Constant(5, np.ones(5)), readout, target)
    with pytest.raises(PsephosError, match="tables differ"):
        Vote(stumps(), Constant(6, np.ones(6)), readout, target)
    for alpha in ([1.0, np.nan], [0.0, 0.0], [np.inf, 1.0]):
        with pytest.raises(PsephosError, match="alpha"):
            Constant(5, np.array(alpha))
    with pytest.raises(PsephosError, match="anchor_scores needs local weights"):
        votes()["sum"].anchor_scores()


def test_constant_voters():
    voters = ConstantVoters(3, np.array([[1.0], [-1.0]]), "a prior")
    vote = Vote(
        voters, Constant(3, np.array([3.0, 1.0])), Readout("normalised", "share"),
        Target(np.arange(2)),
    )  # fmt: skip
    X = np.full((4, 3), np.nan)
    assert_allclose(vote.score(X), 0.5)
    assert len(vote.columns) == 0
    assert_array_equal(vote.take(np.array([1])).score(X), -np.ones((4, 1)))
    assert vote.local_importance(X, baseline_of(vote, SampleRows.of(vote, X))).shape == (4, 0)
    assert voters.rule(0, NAMES, {}) == "a prior"


# ---------------------------------------------------------------------- what explain returns
@pytest.mark.parametrize("backend", ["pandas", "polars"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ballots_as_a_frame(backend, n_classes):
    X, y = small_table(n_classes)
    for model in (SamBAClassifier(n_estimators=3), AdaBoostClassifier(n_estimators=3)):
        ballots = model.fit(X, y).explain(X[:4])
        frame = ballots.frame(backend)
        assert len(frame) == 4 * model.vote_.n_voters
        assert frame.columns[0] == "case"
        assert ("nearest" in frame.columns) == isinstance(model, SamBAClassifier)
        total = sum(frame["weight"][frame["case"] == 0]) if backend == "pandas" else 1.0
        assert_allclose(total, 1.0)
    with pytest.raises(
        PsephosError, match="backend must be one of None, 'pandas', 'polars'; got 'arrow'"
    ):
        ballots.frame("arrow")


def test_ballots_are_weighed_once_and_reasons_asked_of_what_is_shown(monkeypatch):
    """Beside the score, whose sums are made in blocks."""
    X, y = small_table()
    model, asked = SamBAClassifier(n_estimators=3).fit(X, y), []
    whole = str(model.explain(X[:5])).replace("row 4", "row four")
    for kind, name in ((Local, "relative"), (StumpVoters, "votes"), (StumpVoters, "reasons")):
        own = getattr(kind, name)

        def seen(part, rows, own=own, name=name):
            asked.append((name, len(rows)))
            return own(part, rows)

        monkeypatch.setattr(kind, name, seen)
    ballots = model.explain(X[:40])
    said = str(ballots)
    assert said.replace("row 4", "row four").startswith(whole)
    assert said.endswith("and 35 cases more: frame() has all.")
    assert asked.count(("relative", 40)) == 2
    assert asked.count(("votes", 40)) <= 2
    assert [n for name, n in asked if name == "reasons"] == [5]
    assert_array_equal(ballots.votes, model.vote_.votes(X[:40]))
    assert_array_equal(ballots.shares, model.vote_.shares(X[:40]))
    assert len(ballots.reasons) == 40
    assert ballots.first(40) is ballots


@pytest.mark.parametrize("per_query", [False, True])
@pytest.mark.parametrize("a", [0.2, 0.0])
def test_the_nearest_have_the_shares_of_the_formula(a, per_query):
    weights, target = local(a=a, per_query=per_query), Target(np.arange(2))
    X = np.vstack([cases(), np.zeros((1, 5))])
    X[-1, [1, 3]] = weights.anchors[4]  # at an anchor
    near, kept, s = weights.nearest(None, target, X, 9), weights.anchors, weights.similarity
    for i, row in enumerate(X[:, [1, 3]]):
        both = ~np.isnan(row)
        gap = ((row - kept) / s.column_scale)[:, both]
        d = np.sqrt(2 / both.sum() * (gap**2).sum(axis=1)) if both.any() else np.full(9, s.absent)
        unit = weights.anchor_weight @ d if per_query else s.scale
        with np.errstate(divide="ignore"):
            k = 1.0 / (a**s.b + (d / unit) ** s.b)
        k = np.isinf(k) if np.isinf(k).any() else k
        share = weights.anchor_weight * k / (weights.anchor_weight @ k)
        assert_allclose(near.share[i], share[near.anchor[i]], rtol=1e-12)
        assert_allclose(near.distance[i], d[near.anchor[i]], rtol=1e-12)
        assert_allclose(near.share[i], np.sort(share)[::-1], rtol=1e-12)


def test_voters_are_training_cases_if_they_say_so():
    """Not where the weights tell which voters have weight: of those stumps none is a case."""

    class Weighed(Constant):
        def weighed(self, X):
            return np.arange(6)

    weights = Weighed(5, np.arange(1.0, 7.0))
    vote = Vote(stumps(), weights, Readout("normalised", "share"), Target(np.arange(2)))
    vote = vote.take(np.resize(np.arange(6), 18))
    object.__setattr__(vote.voters, "threshold", np.arange(18) + 0.5)
    said = describe(vote, Names(NAMES, LEVELS), "Mine")
    assert not any("training case" in line for line in said)
    assert len(said) > 13


def test_nearest_of_a_training_row_is_itself():
    X, y = small_table()
    model = SamBAClassifier(n_estimators=3).fit(X, y)
    for i, cases_heard in enumerate(model.explain(X[:5]).nearest()):
        row, distance, _, label = cases_heard[0]
        assert (distance, label) == (0.0, y[row])
        assert_array_equal(X[row, model.vote_.columns], X[i, model.vote_.columns])


def test_a_training_case_too_far_to_be_heard_is_not_among_the_nearest(monkeypatch):
    X, y = small_table()
    ballots = SamBAClassifier(n_estimators=3).fit(X, y).explain(X[:2])
    found = ballots.vote.nearest(ballots.X, 5)
    far = found._replace(distance=np.where(np.arange(5) > 1, np.inf, found.distance))
    monkeypatch.setattr(Vote, "nearest", lambda *_: far)
    assert [len(heard) for heard in ballots.nearest()] == [2, 2]
