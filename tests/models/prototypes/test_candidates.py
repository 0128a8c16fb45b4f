import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from psephos import PsephosError
from psephos.models.prototypes.candidates import (
    _groups,
    draw_candidates,
    draw_leave_one_out,
    group_shares,
    hard_rows,
    misread_rows,
    smallest_divided,
    target_strata,
)


def draw(strata, hard=None, weight=None, seed=0, **options):
    strata = np.asarray(strata)
    hard = np.zeros(len(strata), dtype=bool) if hard is None else np.asarray(hard)
    weight = np.ones(len(strata)) if weight is None else np.asarray(weight, dtype=float)
    return draw_candidates(strata, hard, weight, np.random.default_rng(seed), **options)


def parted(*given, **options):
    """Candidates, references and their weights."""
    return draw(*given, **options)[:3]


# Hard rows


def test_hard_rows_lie_below_the_quantile_of_their_class():
    strata = np.repeat([0, 1], [11, 21])
    goodness = np.concatenate([np.arange(11.0), 100 + np.arange(21.0)])
    hard = hard_rows(strata, goodness, np.ones(32), beta=0.1)
    # NumPy's quantiles are 1.0 and 102.0; the rows that reach them are not below.
    assert_array_equal(np.flatnonzero(hard), [0, 11, 12])
    assert hard_rows(strata, goodness, np.ones(32), beta=0.5).sum() == 5 + 10


def test_no_row_is_hard_where_all_are_served_alike():
    strata = np.array([0, 1, 0, 1, 1])
    frequency = np.array([0.4, 0.6])
    assert not hard_rows(strata, frequency[strata], np.ones(5), beta=0.5).any()


def test_rows_without_weight_do_not_move_the_quantile():
    goodness = np.concatenate([np.arange(10.0), np.full(30, -5.0)])
    weight = np.repeat([1.0, 0.0], [10, 30])
    hard = hard_rows(np.zeros(40, dtype=int), goodness, weight, beta=0.3)
    assert_array_equal(np.flatnonzero(hard), [0, 1, 2])


def test_misread_rows_are_those_answered_wrongly():
    masses = np.array([[0.5, 0.2], [0.2, 0.5], [0.3, 0.3], [0.3, 0.3]])
    assert_array_equal(misread_rows(masses, np.array([0, 0, 0, 1])), [False, True, False, True])


# Strata of a regression


def test_strata_hold_even_shares_of_the_targets_in_order():
    target = np.random.default_rng(0).permutation(100).astype(float)
    strata = target_strata(target, np.ones(100), 5)
    assert_array_equal(np.bincount(strata), [20] * 5)
    assert_array_equal(strata, target // 20)


@given(
    target=arrays(np.float64, st.integers(1, 40), elements=st.integers(0, 4)),
    n_strata=st.integers(1, 8),
)
def test_equal_targets_share_a_stratum_and_none_is_empty(target, n_strata):
    strata = target_strata(target, np.ones(len(target)), n_strata)
    assert_array_equal(np.unique(strata), np.arange(strata.max() + 1))
    assert len(np.unique(strata)) <= n_strata
    order = np.argsort(target, kind="stable")
    assert (np.diff(strata[order]) >= 0).all()
    for value in np.unique(target):
        assert len(np.unique(strata[target == value])) == 1


def test_strata_are_those_of_the_rows_with_weight():
    target = np.array([0.0, 1.0, 2.0, 3.0, -50.0, 50.0, 60.0])
    weight = np.array([1.0, 1, 1, 1, 0, 0, 0])
    strata = target_strata(target, weight, 2)
    assert_array_equal(strata[:4], target_strata(target[:4], weight[:4], 2))
    assert set(strata) == {0, 1}


# Shares


@pytest.mark.parametrize(
    ("sizes", "n_candidates", "max_fraction", "shares"),
    [
        ([1000, 1000], 300, 0.5, [150, 150]),
        ([1000, 100], 300, 0.5, [250, 50]),  # 100 spares 50; the larger group gives the rest
        ([35, 33, 37], 1000, 0.5, [18, 16, 18]),  # iris, halves to even: 17.5, 16.5, 18.5
        ([40, 1000, 60, 1000], 400, 0.25, [10, 188, 15, 188]),  # (400 - 10 - 15) / 2 = 187.5
        ([10, 10], 5, 0.5, [2, 2]),  # 2.5 each
        ([1, 2, 3], 1000, 0.5, [0, 1, 2]),
        ([4, 5], 1000, 0.99, [3, 4]),  # one always stays
    ],
)
def test_shares_by_hand(sizes, n_candidates, max_fraction, shares):
    assert_array_equal(group_shares(np.array(sizes), n_candidates, max_fraction), shares)


@given(
    sizes=st.lists(st.integers(1, 500), min_size=1, max_size=12),
    n_candidates=st.integers(1, 2000),
    max_fraction=st.floats(0.05, 0.95),
)
def test_shares_are_even_except_where_a_group_cannot_spare_them(sizes, n_candidates, max_fraction):
    shares = group_shares(np.array(sizes), n_candidates, max_fraction)
    most = np.minimum(np.array(sizes) * max_fraction, np.array(sizes) - 0.5)
    assert (shares >= 0).all()
    assert (shares <= np.array(sizes) - 1).all()
    assert (shares <= most + 0.5).all()
    assert shares.sum() <= n_candidates + len(sizes) / 2
    free = shares < most - 0.5 - 1e-9
    if free.any():  # then all that was wanted is drawn, and the free groups give alike
        assert np.ptp(shares[free]) == 0
        assert (shares <= shares[free][0] + 1).all()
        assert abs(shares.sum() - n_candidates) <= len(sizes) / 2 + (shares < most - 1).sum()


@pytest.mark.parametrize(("max_fraction", "rows"), [(0.5, 3), (0.25, 3), (0.1, 9), (0.9, 11)])
def test_smallest_divided_by_hand(max_fraction, rows):
    assert smallest_divided(max_fraction) == rows


@pytest.mark.parametrize(("rows", "groups"), [(8, 1), (9, 2), (10, 2)])
def test_a_stratum_is_divided_from_as_many_rows_on(rows, groups):
    hard = np.arange(rows) < 3
    found = _groups(np.zeros(rows, dtype=np.intp), hard, np.ones(rows), 0.1)
    assert len(found) == groups
    assert sum(len(one) for one in found.values()) == rows


# The draw


@st.composite
def tables(draw):
    n = draw(st.integers(2, 60))
    strata = draw(arrays(np.intp, n, elements=st.integers(0, 3)))
    hard = draw(arrays(np.bool_, n))
    weight = draw(arrays(np.float64, n, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
    return strata, hard, weight


@given(
    table=tables(),
    max_fraction=st.sampled_from([0.1, 0.3, 0.5, 0.8]),
    n_candidates=st.sampled_from([1, 7, 1000]),
)
def test_every_draw_divides_the_rows_and_keeps_the_proportions(table, max_fraction, n_candidates):
    strata, _, weight = table
    counts = np.bincount(strata[weight > 0], minlength=4)
    assume(counts.max() > 1)
    chosen, others, omega = parted(
        *table, max_fraction=max_fraction, n_candidates=n_candidates, seed=1
    )
    both = np.concatenate([chosen, others])
    assert_array_equal(np.sort(both), np.flatnonzero(weight > 0))
    assert (np.diff(chosen) > 0).all()
    assert (np.diff(others) > 0).all()
    assert_allclose(omega.sum(), 1.0)
    # references speak for their class in full
    share = np.bincount(strata[others], omega, minlength=4)
    assert_allclose(share, np.bincount(strata, weight, minlength=4) / weight.sum(), atol=1e-12)
    drawn = np.bincount(strata[chosen], minlength=4)
    assert (drawn[counts >= 2] >= 1).all()
    assert (drawn < np.maximum(counts, 1)).all()


def test_hard_rows_are_drawn_as_often_as_others():
    strata = np.zeros(1000, dtype=int)
    hard = np.arange(1000) < 100
    chosen, others, omega = parted(strata, hard, n_candidates=60)
    assert (chosen < 100).sum() == 30
    assert len(chosen) == 60
    # within a group a reference weighs what it is, times what it stands for
    assert_allclose(omega[others < 100], 100 / 70 / 1000)
    assert_allclose(omega[others >= 100], 900 / 870 / 1000)


def test_weights_enter_the_references_and_not_the_draw():
    strata = np.repeat([0, 1], 10)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 20)
    plain, weighted = draw(strata), draw(strata, weight=weight)
    assert_array_equal(plain.candidates, weighted.candidates)
    for k in (0, 1):
        own = strata[weighted.references] == k
        rows = weighted.references[own]
        group, rest = weight[strata == k].sum(), weight[rows].sum()
        assert_allclose(weighted.omega[own], weight[rows] / weight.sum() * group / rest)


def test_a_row_without_weight_is_as_if_it_were_not_there():
    strata, hard = np.tile([0, 1], 15), np.tile([True, False, False], 10)
    weight = np.ones(30)
    weight[[3, 8, 20]] = 0
    there = np.flatnonzero(weight)
    with_them, without = draw(strata, hard, weight), draw(strata[there], hard[there])
    assert_array_equal(with_them.candidates, there[without.candidates])
    assert_array_equal(with_them.references, there[without.references])
    assert_array_equal(with_them.omega, without.omega)


def test_every_row_has_its_chance_and_no_other_row_changes_it():
    strata = np.repeat([0, 1], [10, 30])
    generator = np.random.default_rng(0)
    counts = np.zeros(40)
    for _ in range(2000):
        counts[draw_candidates(strata, np.zeros(40, bool), np.ones(40), generator).candidates] += 1
    assert_allclose(counts / 2000, 0.5, atol=0.06)  # 5 standard deviations of a binomial share


def test_the_same_stream_draws_the_same_and_another_another():
    strata = np.repeat([0, 1], 50)
    first, again, other = (draw(strata, seed=s) for s in (1, 1, 2))
    assert_array_equal(first.candidates, again.candidates)
    assert not np.array_equal(first.candidates, other.candidates)


# Few rows


def test_a_class_of_two_gives_one_candidate_and_one_reference_whatever_its_groups():
    strata = np.array([0] * 20 + [1, 1])
    hard = np.zeros(22, dtype=bool)
    hard[20] = True  # two groups of one would spare none
    chosen, others, omega = parted(strata, hard)
    assert (chosen >= 20).sum() == 1
    assert_allclose(omega[others >= 20], 2 / 22)


def test_the_row_of_a_class_of_one_is_a_reference():
    strata = np.array([0] * 9 + [1])
    for seed in range(20):
        chosen, others, _ = parted(strata, seed=seed)
        assert 9 in others
        assert len(chosen) == 4


def test_more_groups_than_candidates_leave_no_class_without_one():
    chosen, _, _ = parted(np.repeat(np.arange(10), 8), np.tile([True, False], 40), n_candidates=10)
    assert_array_equal(np.bincount(np.arange(80)[chosen] // 8), 1)


def test_without_two_rows_of_a_class_there_is_no_prototype():
    with pytest.raises(
        PsephosError, match=r"at least one class must have two rows.*\(classes ape, bee\)"
    ):
        draw([0, 1, 1], weight=[1, 1, 0], names=("ape", "bee"))
    with pytest.raises(PsephosError, match=r"\(classes 0, 1, 2, 3, 4 and 2 more\)"):
        draw(np.arange(7))


# All rows as judges


@given(table=tables(), n_candidates=st.sampled_from([1, 3, 7, 1000]))
def test_where_all_judge_a_reference_knows_which_candidate_it_is(table, n_candidates):
    strata, hard, weight = table
    heard = np.flatnonzero(weight > 0)
    assume(len(heard) and np.bincount(strata[heard]).max() > 1)
    generator = np.random.default_rng(0)
    found = draw_leave_one_out(strata, hard, weight, generator, n_candidates=n_candidates)
    assert_array_equal(found.references, heard)
    assert_allclose(found.omega, weight[heard] / weight.sum())
    assert (np.diff(found.candidates) > 0).all()
    if len(heard) <= n_candidates:
        assert_array_equal(found.candidates, heard)
    both = np.flatnonzero(found.twin >= 0)
    assert_array_equal(found.candidates[found.twin[both]], found.references[both])
    assert len(both) == len(found.candidates)
    groups, sizes = np.unique(2 * strata[heard] + hard[heard], return_counts=True)
    # a group keeps a reference that is no candidate, so one of a single row gives none
    assert set(groups[sizes > 1] // 2) <= set(strata[found.candidates])


def test_where_all_judge_hard_rows_are_drawn_as_often_as_others():
    hard = np.arange(1000) < 100
    generator = np.random.default_rng(0)
    found = draw_leave_one_out(np.zeros(1000, int), hard, np.ones(1000), generator, n_candidates=60)
    assert (found.candidates < 100).sum() == 30


def test_where_all_judge_a_row_hears_its_copies():
    none = np.zeros(3, bool)
    given = np.array([0, 0, 1]), none, np.array([4.0, 1.0, 0.5]), np.random.default_rng(0)
    found = draw_leave_one_out(*given, copies=np.array([4.0, 1.0, 0.5]))
    assert_allclose(found.echo, [0.75, 0.0, 0.0])
    assert not draw_leave_one_out(*given).echo.any()


def test_where_all_judge_one_candidate_can_be_had():
    hard = np.array([True, False])
    found = draw_leave_one_out(
        np.zeros(2, int), hard, np.ones(2), np.random.default_rng(0), n_candidates=1
    )
    assert len(found.candidates) == 1


def test_where_all_judge_one_row_a_class_is_no_table():
    with pytest.raises(PsephosError, match="at least one class must have two rows"):
        draw_leave_one_out(
            np.array([0, 1]), np.zeros(2, bool), np.ones(2), np.random.default_rng(0)
        )


# ------------------------------------------------------------------- copies where the rest judges
def test_copies_are_drawn_as_the_rows_they_stand_for():
    """Shares and weights are those of a table with each row given so often."""
    strata = np.repeat([0, 1], 6)
    copies = np.array([1, 1, 2, 4, 10, 30, 1, 1, 1, 3, 3, 9], dtype=float)
    plain, seen = np.zeros(12, dtype=bool), np.zeros((200, 2))
    for seed in range(200):
        given = strata, plain, copies, np.random.default_rng(seed)
        draw = draw_candidates(*given, n_candidates=30, copies=copies)
        assert_allclose(draw.omega.sum(), 1.0)
        by_class = np.bincount(strata[draw.references], draw.omega)
        assert_allclose(by_class, [48 / 66, 18 / 66])
        both = np.intersect1d(draw.candidates, draw.references)
        assert (copies[both] > 1).all()
        assert set(draw.candidates) | set(draw.references) == set(range(12))
        seen[seed] = (draw.candidates == 5).any(), (draw.candidates == 0).any()
    assert seen[:, 0].all()  # 30 copies of 48, of which 21 are drawn
    assert 0.3 < seen[:, 1].mean() < 0.6


def test_a_class_of_one_row_given_twice_has_a_candidate_and_a_judge():
    strata, plain = np.array([0, 0, 0, 1]), np.zeros(4, dtype=bool)
    copies = np.array([1.0, 1.0, 1.0, 2.0])
    draw = draw_candidates(strata, plain, copies, np.random.default_rng(0), copies=copies)
    assert 3 in draw.candidates
    assert_allclose(draw.omega[draw.references == 3], 2 / 5)


def test_rows_that_only_judge_stand_before_the_others():
    rng = np.random.default_rng(0)
    strata, plain, weight = np.repeat([0, 1], 10), np.zeros(20, dtype=bool), rng.random(20) + 0.5
    for draw_of in (draw_candidates, draw_leave_one_out):
        alone = draw_of(strata, plain, weight, np.random.default_rng(1), n_candidates=8)
        more = alone.with_references(np.array([2.0, 1.0]), weight.sum())
        assert_array_equal(more.candidates, alone.candidates + 2)
        assert_array_equal(more.references[:2], [0, 1])
        assert_allclose(more.omega.sum(), alone.omega.sum())
        assert_allclose(more.omega[0], 2 / (3 + weight.sum()))
        if alone.twin is not None:
            assert_array_equal(more.twin, [-1, -1, *alone.twin])
            assert_array_equal(more.candidates[more.twin[more.twin >= 0]],
                               more.references[more.twin >= 0])  # fmt: skip
