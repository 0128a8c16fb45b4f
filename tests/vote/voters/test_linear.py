"""Linear models as voters: answers, probabilities and numbers, with and without missing values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import PsephosError
from psephos.vote import Scores, Target, linear_models
from psephos.vote.codec import decode, encode

NAMES = ["age", "dose", "site", "note", "stage"]


def voters(n_classes=2, says="answer", abstains=False, slope=1.0, **changes):
    """Three models on columns 0, 2, 4; the second reads one of them, the last none."""
    rng = np.random.default_rng(n_classes)
    R = 1 if n_classes == 2 else n_classes
    coef = np.round(rng.standard_normal((3, R, 3)), 2)
    coef[1, :, [0, 2]] = 0.0
    coef[2] = 0.0
    intercept = np.round(rng.standard_normal((3, R)), 2)
    given = {"coef": coef, "intercept": intercept, "value": Target(np.arange(n_classes)).code}
    given |= {"columns": np.array([0, 2, 4]), "says": says, "abstains": abstains, "slope": slope}
    return linear_models(5, **{**given, **changes})


def cases(n=60, missing=0.0):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 5))
    X[rng.random(X.shape) < missing] = np.nan
    return X


def by_hand(model, X):
    coef = np.zeros((model.n_voters, len(model.coef), len(model.columns)))
    coef[np.repeat(np.arange(model.n_voters), np.diff(model.ptr)), :, model.position] = model.coef.T
    z = np.einsum("nq,trq->ntr", X[:, model.columns], coef) + model.constant
    if model.says == "value":
        return z
    if z.shape[2] == 1:
        z = np.concatenate([np.zeros_like(z), z], axis=2)
    if model.says == "answer":
        return model.value[z.argmax(axis=2)]
    p = np.exp(model.slope * z)
    return (p / p.sum(axis=2, keepdims=True)) @ model.value


KINDS = [(2, "answer"), (2, "probability"), (2, "value"), (3, "answer"), (3, "probability")]


@pytest.mark.parametrize(("n_classes", "says"), KINDS)
@pytest.mark.parametrize("slope", [1.0, 2.5])
def test_what_they_say(n_classes, says, slope):
    model, X = voters(n_classes, says, slope=slope), cases()
    assert_allclose(model.votes(X), by_hand(model, X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("n_classes", "says"), KINDS)
def test_moves_change_no_bit(n_classes, says):
    model, X = voters(n_classes, says, abstains=True), cases(missing=0.2)
    said = model.votes(X)
    for order in ([2], [1, 0], [0, 2, 1, 1]):
        some = model.take(np.array(order))
        assert_array_equal(some.votes(X), said[:, order])
        assert_array_equal(some.columns, np.flatnonzero(model.usage().toarray()[order].any(axis=0)))
    assert_array_equal(model.select(np.array([0, 2, 4])).votes(X[:, [0, 2, 4]]), said)
    assert_array_equal(np.concatenate([model.votes(X[i : i + 1]) for i in range(60)]), said)
    arrays = {}
    again = decode(encode(model, arrays, "v"), arrays)
    assert type(again) is Scores
    assert_array_equal(again.votes(X), said)


@pytest.mark.parametrize(("n_classes", "says"), KINDS)
def test_who_lacks_a_value_abstains(n_classes, says):
    model, X = voters(n_classes, says, abstains=True), cases(missing=0.3)
    usage = model.usage().toarray()
    assert_array_equal(usage.sum(axis=1), [3, 1, 0])
    lacks = (np.isnan(X)[:, None, :] & usage).any(axis=2)
    assert 0 < lacks.sum() < lacks.size
    said = model.votes(X)
    assert_array_equal(said[lacks], 0.0)
    assert_allclose(said[~lacks], by_hand(model, np.nan_to_num(X))[~lacks], rtol=1e-12)
    whole = voters(n_classes, says)
    row = int(np.isnan(X[:, [0, 2, 4]]).any(axis=1).argmax())
    with pytest.raises(PsephosError, match=f"row {row} of these lacks a value that voters by a"):
        whole.votes(X)


USED = ["age", "site", "stage"]


def _size(term):
    return -abs(term[0])


def test_rules_in_words():
    model = voters()
    terms = sorted(zip(model.coef[0, :3], USED, strict=True), key=_size)
    words = [f"{'-' if c < 0 else '+'} {abs(c):.4g} × {name}" for c, name in terms]
    constant = model.constant[0, 0]
    words.append(f"{'-' if constant < 0 else '+'} {abs(constant):.4g}")
    first = " ".join(words).removeprefix("+ ")
    first = first.replace("- ", "-", 1) if first.startswith("- ") else first
    assert model.rule(0, NAMES, {}) == f"{first} > 0"
    assert model.rule(2, NAMES, {}) == "a linear model that reads no column"
    (only,) = model.sides(2)  # by the sign of its constant
    assert only[0] == "always"
    assert only[1].tolist() == model.value[int(model.constant[2, 0] > 0)].tolist()
    assert voters(says="probability").rule(0, NAMES, {}) == f"log-odds of the second class: {first}"
    steep = voters(says="probability", slope=2.5)
    assert steep.rule(0, NAMES, {}) == f"log-odds of the second class: 2.5 × ({first})"
    assert voters(says="value").rule(0, NAMES, {}) == first
    assert voters(3).rule(0, NAMES, {}) == "a linear model of 3 columns: age, site, stage"
    quoted = model.rule(0, ["age", "", "tumour site", "", "2nd"], {})
    assert "× 'tumour site'" in quoted
    assert "× '2nd'" in quoted
    assert voters(3).rule(2, NAMES, {}) == "a linear model of 0 columns: its prior alone"
    assert [len(voters(k, says).sides(0)) for k, says in KINDS] == [2, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"says": "maybe"},
        {"slope": 0.0},
        {"slope": np.nan},
        {"columns": np.array([0, 2, 5])},
        {"columns": np.array([0, 2])},
        {"intercept": np.zeros((2, 1))},
        {"coef": np.zeros((3, 0, 3)), "intercept": np.zeros((3, 0))},
        {"value": np.zeros((3, 1))},
        {"coef": np.zeros((3, 1, 3), dtype=np.float32)},
        {"says": "value", "coef": np.zeros((3, 2, 3)), "intercept": np.zeros((3, 2))},
        {"says": "value", "value": np.zeros((2, 2))},
    ],
)
def test_inconsistent_parts_are_refused(change):
    with pytest.raises(PsephosError, match="inconsistent part of a vote"):
        voters(**change)


def test_a_file_of_an_older_release_holds_the_arguments():
    kept = {"coef": np.array([[[1.0, -2.0]]]), "intercept": np.array([[0.5]])}
    kept |= {"columns": np.array([1, 3]), "value": np.array([[-1.0], [1.0]])}
    fields = {"n_features": 5, **{name: {"array": name} for name in kept}}
    made = decode({"part": "linear voters", "fields": fields}, kept)
    assert_array_equal(made.votes(cases()), linear_models(5, **kept).votes(cases()))
    for changed, sentence in (
        ({name: fields[name] for name in kept}, "'linear voters' is incomplete"),
        ({**fields, "more": 1}, "'linear voters' is incomplete"),
        ({**fields, "n_features": "5"}, "'n_features' of 'linear voters' is not"),
    ):
        with pytest.raises(PsephosError, match=sentence):
            decode({"part": "linear voters", "fields": changed}, kept)
