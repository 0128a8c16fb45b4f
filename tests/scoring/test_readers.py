"""Three readers of plain models give one answer: the library, Python alone, and the script."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import CARTClassifier, VersionSpaceClassifier
from psephos._errors import PsephosError
from psephos.scoring import conformance, plain, vote_of
from psephos.scoring.reader import PlainModel, every_kind
from psephos.testing import small_table
from psephos.vote import Constant, ConstantVoters, NumbersTarget, Readout, Vote
from psephos.vote.plain import from_plain, kinds_within, to_plain


def close(found, wanted):
    size = np.maximum(1.0, np.abs(wanted).max(axis=-1, keepdims=True))
    assert_allclose(np.asarray(found) / size, np.asarray(wanted) / size, rtol=0, atol=1e-12)


def test_the_reader_gives_the_librarys_scores_answers_and_probabilities(model):
    wanted, reader = conformance(model, 60, random_state=3), PlainModel(plain(model))
    rows = [reader.case(row) for row in wanted["rows"]]
    asked = [reader.scored(row) for row in rows]
    close([case.score for case in asked], np.array(wanted["scores"]))
    if wanted["probabilities"] is None:
        close([[reader.vote.answer(c)] for c in asked], np.array(wanted["answers"])[:, None])
        return
    assert [reader.vote.answer(case) for case in asked] == wanted["answers"]
    close([reader.vote.chances(case) for case in asked], np.array(wanted["probabilities"]))


def test_the_reader_gives_the_librarys_ballots(model):
    wanted, reader = conformance(model, 6, random_state=4), PlainModel(plain(model))
    table = _table(model, wanted["rows"])
    ballots = model.explain(table)
    listed = ballots.columns()
    numbers = ballots.voter_numbers
    for i, values in enumerate(wanted["rows"]):
        row = reader.case(values)
        own = reader.ballots(row, reader.scored(row))
        for at, t in enumerate(numbers):
            place, ballot = i * len(numbers) + at, own[t - 1]
            assert reader.words(ballot) == listed["reason"][place]
            assert ballot["vote"] == listed["vote"][place]
            close([ballot["weight"]], np.array([listed["weight"][place]]))
            close(ballot["contribution"], ballots.contributions[i, at])
            assert _alike(json.loads(reader.details(ballot)), json.loads(listed["details"][place]))


def test_the_reader_knows_the_cases_without_an_answer(model, families):
    reader = PlainModel(plain(model))
    rows = [*conformance(model, 20, random_state=4)["rows"], *families.gappy(model)]
    ballots = model.explain(_table(model, rows))
    cases = [reader.case(values) for values in rows]
    found = [reader.unanswered(row, reader.scored(row)) for row in cases]
    assert found == ballots.unanswered
    assert [reader.answer(values)["unanswered"] for values in rows] == found
    assert all(found[20:21])  # of no value
    for i, why in enumerate(found):
        assert ballots.answer(i).startswith("no answer: " if why else ballots.answer(i))
        assert why.startswith("no answer: ") or not why


def _table(model, rows):
    """Return rows of the used columns on the whole table of the model."""
    import pandas as pd

    schema, columns = model.schema_, model.vote_.columns
    if schema.names is None:
        X = np.zeros((len(rows), schema.n_features))
        X[:, columns] = np.array([[np.nan if v is None else v for v in row] for row in rows])
        return X
    data = {}
    for j, name in enumerate(schema.names):
        place = np.flatnonzero(columns == j)
        values = [row[place[0]] for row in rows] if len(place) else [None] * len(rows)
        levels = schema.levels.get(j)
        if levels is None:
            data[name] = np.array([np.nan if v is None else v for v in values], dtype=float)
        else:
            known = {str(level): level for level in levels}
            data[name] = pd.Categorical([known.get(v) for v in values], categories=list(levels))
    return pd.DataFrame(data)


def _alike(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float):
        return abs(one - other) <= 1e-11 * max(1.0, abs(one))
    return one == other


def test_plain_data_come_back_as_the_vote(model):
    data = json.loads(json.dumps(plain(model), allow_nan=False))
    vote, small = vote_of(data), model.vote_.select(model.vote_.columns)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, vote.n_features))
    for j, levels in model.schema_.select(model.vote_.columns).words().levels.items():
        X[:, j] = rng.integers(0, len(levels), 20)
    close(vote.score(X), small.score(X))


def test_every_kind_is_tried(families):
    tried = set()
    for name in families.NAMES:
        content = plain(families.fitted(name))
        tried |= kinds_within(content)
    assert every_kind() - tried == {"vote", "numbers target"} - tried


def test_several_numbers():
    values = np.array([[1.5, -2.0], [0.5, 4.0]])
    target = NumbersTarget(("height", "weight"))
    voters = ConstantVoters(1, values, "two means")
    vote = Vote(voters, Constant(1, np.ones(2)), Readout("normalised", "identity"), target)
    again = from_plain(to_plain(vote))
    assert_array_equal(again.score(np.zeros((1, 1))), [[1.0, 1.0]])
    head = {"format": "psephos plain model", "version": 2, "classes": [], "columns": []}
    content = to_plain(vote.lowered())
    reader = PlainModel({**head, **content, "weights": content["weighting"]})
    assert reader.answer([])["label"] == [1.0, 1.0]


def test_names_of_training_rows_stay_at_home(families):
    names = np.array([f"patient {i}" for i in range(60)])
    for name in ("samba", "ml-knn", "proset"):
        vote = families.fitted(f"{name}, frame").vote_.named_rows(names)
        rows = getattr(vote.voters, "rows", None)
        assert "patient" in str(vote.weighting.rows if rows is None else rows)
        assert "patient" not in json.dumps(to_plain(vote))


def test_models_that_nothing_else_reads_are_refused():
    X, _ = small_table(2)
    between = (np.abs(X[:, 0]) < 0.8) & (np.abs(X[:, 1]) < 1.5)
    space = VersionSpaceClassifier(8, max_hypotheses=1, on_collapse="skip")
    space.fit(X[:, :6], between)
    assert "counted hypotheses" in kinds_within(to_plain(space.vote_))
    with pytest.raises(PsephosError, match="too many hypotheses to list"):
        plain(space)
    with pytest.raises(PsephosError, match="not a fitted model"):
        plain(CARTClassifier())


def test_estimators_of_others_have_no_plain_form():
    from sklearn.neighbors import RadiusNeighborsClassifier

    from psephos import VotingClassifier

    X, y = small_table(2)
    member = RadiusNeighborsClassifier(radius=50.0)
    model = VotingClassifier([("far", member)]).fit(X, y)
    with pytest.raises(PsephosError, match="RadiusNeighborsClassifier"):
        plain(model)


GIVEN = [
    ("5,1", "must have numbers up to 1e[+]150; got '5,1'"),
    ("5.1", "must have numbers up to 1e[+]150; got '5.1'"),
    ("", "must have numbers up to 1e[+]150; got ''"),
    (float("inf"), "must have numbers"),
    (1e300, "must have numbers"),
    (True, "must have numbers"),
]


@pytest.mark.parametrize(("value", "words"), GIVEN)
def test_what_is_no_number_is_refused(value, words, families):
    reader = families.reader(families.fitted("newton-boosting, frame"))
    places = {column["name"]: j for j, column in enumerate(reader.columns)}
    row = [None] * len(reader.columns)
    reader.answer(row)
    with pytest.raises(ValueError, match=words):
        reader.case([*row[: places["g1"]], value, *row[places["g1"] + 1 :]])
    with pytest.raises(ValueError, match="names of its categories"):
        reader.case([*row[: places["site"]], 1, *row[places["site"] + 1 :]])
    with pytest.raises(ValueError, match=r"must have \d+ values; got"):
        reader.case(row[1:])


def test_damaged_plain_data_are_refused(families):
    data = plain(families.fitted("adaboost, 2 classes, 0.2 missing"))
    nodes = data["voters"]["nodes"]
    part = {**data["voters"], "nodes": {**nodes, "column": [99] * len(nodes["column"])}}
    with pytest.raises(PsephosError, match=r"damaged|inconsistent"):
        vote_of({**data, "voters": part})
    with pytest.raises(PsephosError, match="unknown"):
        vote_of({**data, "voters": {"kind": "no such voters"}})
    with pytest.raises(PsephosError, match="an unknown field"):
        vote_of({**data, "weights": {**data["weights"], "more": 1}})
    with pytest.raises(ValueError, match="of version 2"):
        PlainModel({**data, "version": 3})
    with pytest.raises(ValueError, match="no reader of linear voters"):  # of version 1
        PlainModel({**data, "voters": {"kind": "linear voters"}})
