"""Numbers and weights far from 1: CART divides them by powers of two, and multiplies them again."""

from dataclasses import replace

import numpy as np

from psephos.models.units import power_of, power_of_weights
from psephos.trees.cart import Problem
from psephos.trees.cart_growth import CartGrowth
from psephos.trees.tree import Tree


def in_units(problem: Problem) -> tuple[Problem, tuple[int, int]]:
    """Return the problem, and by which powers of two its weights and its numbers were divided.

    Only where their products would overflow, or be lost: else the powers are 0.
    """
    by_weight, by_number = power_of_weights(problem.weight), 0
    if problem.n_classes == 0:
        largest = float(np.abs(problem.y).max())
        by_number = 0 if largest == 0.0 else power_of(largest, largest)
        problem = problem._replace(y=np.ldexp(problem.y, -by_number))
    return problem._replace(weight=np.ldexp(problem.weight, -by_weight)), (by_weight, by_number)


def out_of_units(
    tree: Tree, growth: CartGrowth, by_weight: int, by_number: int
) -> tuple[Tree, CartGrowth]:
    """Return the tree and its growth in the units of the user's weights and numbers."""
    worth = growth.worth
    if not growth.regression:
        worth = np.where(growth.role < 2, np.ldexp(worth, by_weight), worth)
    growth = replace(
        growth,
        weight=np.ldexp(growth.weight, by_weight),
        risk=np.ldexp(growth.risk, by_weight + 2 * by_number),
        worth=worth,
    )
    gain = tree.gain if growth.regression else np.ldexp(tree.gain, by_weight)
    return replace(
        tree,
        counts=np.ldexp(tree.counts, by_weight),
        value=np.ldexp(tree.value, by_number),
        gain=gain,
    ), growth
