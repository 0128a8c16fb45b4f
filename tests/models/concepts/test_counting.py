"""The version space, its counts, lists and draws equal the filter over all hypotheses."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psephos.models.concepts.version_spaces import Concept
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace
from psephos.vote.voters.counting import Problem, TooManyStates, minimal_negatives

from . import by_hand


def space_of(sizes, categories):
    cuts = tuple(
        np.empty(0) if c else np.arange(v - 1) + 0.5 for v, c in zip(sizes, categories, strict=True)
    )
    q = len(sizes)
    return ConjunctiveSpace(q, np.arange(q), np.array(categories), np.array(sizes), cuts)


@st.composite
def problems(draw):
    """Sizes, kinds of columns, and rows labelled by one hypothesis: nothing collapses."""
    q = draw(st.integers(1, 4))
    categories = [draw(st.booleans()) for _ in range(q)]
    sizes = [draw(st.integers(1, 4)) for _ in range(q)]
    rows = draw(
        st.lists(st.tuples(*(st.integers(-1, v - 1) for v in sizes)), min_size=1, max_size=9)
    )
    every = by_hand.space(sizes, categories)
    target = every[draw(st.integers(0, len(every) - 1))]
    return sizes, categories, rows, [by_hand.holds(target, row) for row in rows]


def eliminated(space, rows, labels, max_boundary=10_000):
    concept = Concept.start(space)
    for row, label in zip(rows, labels, strict=True):
        code = np.array(row, dtype=np.int32)
        concept = (
            concept.with_positive(space, code)
            if label
            else concept.with_negative(space, code, max_boundary)
        )
        assert concept is not None
    return concept


def counted(space, concept, prior="uniform"):
    """Return the number of hypotheses, weighted by the prior, the empty one included."""
    return Problem(space, concept.specific, concept.negatives, prior).count() + concept.empty


@given(problems())
def test_the_version_space_is_the_filter(problem):
    sizes, categories, rows, labels = problem
    space = space_of(sizes, categories)
    every = by_hand.space(sizes, categories)
    assert space.n_hypotheses == len(every)
    left = by_hand.agreeing(every, rows, labels)
    concept = eliminated(space, rows, labels)
    specific = by_hand.as_sets(concept.specific, sizes)
    general = by_hand.as_sets(concept.general, sizes)
    least = [h for h in left if not any(by_hand.above(h, g) and g != h for g in left)]
    most = [h for h in left if not any(by_hand.above(g, h) and g != h for g in left)]
    assert specific == least
    if most != [None]:
        assert sorted(map(str, general)) == sorted(map(str, most))
    within = [h for h in every if any(by_hand.above(g, h) for g in most)]
    within = [h for h in within if by_hand.above(h, least[0])]
    assert set(within) == set(left)
    assert counted(space, concept) == len(left)
    assert counted(space, eliminated(space, rows, labels, max_boundary=1)) == len(left)
    rest = minimal_negatives(space, concept.specific, concept.negatives)
    found = Problem(space, concept.specific, rest).table().listed()
    assert Counter(by_hand.as_sets(found, sizes)) == Counter(h for h in left if h is not None)


@given(problems(), st.integers(0, 3))
def test_shares_by_counting_are_shares_of_the_list(problem, seed):
    sizes, categories, rows, labels = problem
    space = space_of(sizes, categories)
    left = by_hand.agreeing(by_hand.space(sizes, categories), rows, labels)
    concept = eliminated(space, rows, labels)
    rng = np.random.default_rng(seed)
    asked = np.stack([rng.integers(-1, v, 12) for v in sizes], axis=1).astype(np.int32)
    joined = space.joined(concept.specific, asked)
    for i, row in enumerate(asked.tolist()):
        one = joined.take(np.array([i]))
        count = Problem(space, one, concept.negatives).count()
        assert count == sum(by_hand.holds(h, row) for h in left)


@given(problems())
def test_priors_weigh_the_count(problem):
    sizes, categories, rows, labels = problem
    space = space_of(sizes, categories)
    left = by_hand.agreeing(by_hand.space(sizes, categories), rows, labels)
    concept = eliminated(space, rows, labels)
    numbers = [len(by_hand.constraints(v, c)) for v, c in zip(sizes, categories, strict=True)]

    def weight(h):
        if h is None:
            return 1
        free = [max(c - 1, 1) if -1 in s else 1 for s, c in zip(h, numbers, strict=True)]
        return int(np.prod(free))

    assert counted(space, concept, "short") == sum(map(weight, left))


def test_draws_are_even_over_the_version_space():
    sizes, categories = [3, 4, 2], [True, False, True]
    rows = [(0, 1, 0), (0, 2, 0), (1, 3, 1), (2, 1, 0)]
    space = space_of(sizes, categories)
    concept = eliminated(space, rows, [True, True, False, False])
    problem = Problem(space, concept.specific, concept.negatives)
    number, size = problem.count(), 20_000
    rng = np.random.default_rng(0)
    by_table = problem.table().drawn(size, rng)
    rejected = problem.drawn(size, rng)
    assert len(rejected.hypotheses.low) == size
    for found in (by_table, rejected.hypotheses):
        times = Counter(by_hand.as_sets(found, sizes))
        assert len(times) == number > 5
        expected = size / number
        chi2 = sum((n - expected) ** 2 / expected for n in times.values())
        assert chi2 < number + 4 * np.sqrt(2 * number)
    estimate, error = rejected.estimate()
    assert abs(estimate / number - 1) < 4 * error + 1 / number
    assert 0 < error < 0.05


def test_too_many_states_are_told():
    rng = np.random.default_rng(0)
    space = space_of([2] * 24, [True] * 24)
    rows = np.array(rng.integers(0, 2, (40, 24)), dtype=np.int32)
    specific = space.joined(space.nothing(), np.zeros((1, 24), dtype=np.int32))
    problem = Problem(space, specific, rows)
    with pytest.raises(TooManyStates, match="sample the space"):
        problem.count(most=50)
    with pytest.raises(TooManyStates, match="sample the space"):
        problem.table(most=50)
    exact = problem.count(10**7)
    estimate, error = problem.drawn(4000, rng).estimate()
    assert abs(estimate / exact - 1) < 4 * error


def test_a_space_is_counted_by_mitchells_formulas():
    sizes = [len(v) for v in by_hand.ENJOY.values()]
    space = space_of(sizes, [True] * 6)
    assert (space.n_hypotheses, space.size.prod()) == (973, 96)
