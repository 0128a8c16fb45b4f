"""The direction of a column of a numeric target, against the formulas of the targets."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from psephos.explain.effects import rises

ROWS = np.random.default_rng(0).uniform(1, 3, size=(40, 3))


def said(target, column=0, levels=()):
    vote = SimpleNamespace(answers=target)
    vote.derived = lambda rows: (vote, rows)
    return rises(vote, ROWS, column, ROWS[:, column], levels)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (
            lambda X: 3 * X[:, 0] + X[:, 1],
            r"The higher it is, the higher the prediction, by [56]\S*",
        ),
        (lambda X: X[:, 1] - X[:, 0] ** 3, r"The higher it is, the lower the prediction, by 2\d"),
        (
            lambda X: 3 * X[:, 0] - 0.2 * np.cos(20 * X[:, 0]),
            r"Mostly, the higher it is, the higher the prediction, by [56]\S*",
        ),
        (
            lambda X: (X[:, 0] - 2) ** 2,
            r"The prediction rises and falls: highest at about [123].*, lowest at about 2",
        ),
        (lambda X: X[:, 1] + 0.001 * X[:, 0], r"By itself its value barely moves the mean .*"),
    ],
)
def test_words_are_of_the_formula(target, words):
    assert re.match(words, said(target))


def test_of_a_category_the_level_with_the_highest_prediction_is_named():
    words = said(lambda X: np.where(X[:, 0] == 1, 5.0, X[:, 1]), levels=("a", "b", "c"))
    assert words.startswith("The prediction is highest for b, by ")
    assert words.endswith((" above a.", " above c."))
