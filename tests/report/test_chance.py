"""What is said to be better than a constant answer is so, as often as the page says."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from psephos.report import build_report, summarise
from psephos.report.numbers.chance import beyond_chance
from psephos.report.study.answers import Answers


def study(truth, chances, groups=None):
    """Return what `beyond_chance` asks of a study, its models and their answers."""
    k = next(iter(chances.values())).shape[1]
    folder = SimpleNamespace(about={"classes": [str(c) for c in range(k)]}, constant=1 / k)
    rows = [
        SimpleNamespace(key=key, drawn=True, columns=SimpleNamespace(mean=3.0)) for key in chances
    ]
    n = len(truth)
    return folder, rows, Answers(np.arange(n), truth, np.full(n, -1), 1, chances, groups)


def claimed(rng, n_models, n, k, alike, groups=None):
    """Return whether anything is claimed of models whose answers have nothing to do with truth.

    A share of the answers is common to all models, as those to one table are.
    """
    truth = np.arange(n) % k if groups is None else rng.integers(0, k, groups.max() + 1)[groups]
    common = rng.normal(size=(n, k))
    chances = {}
    for m in range(n_models):
        own = math.sqrt(alike) * common + math.sqrt(1 - alike) * rng.normal(size=(n, k))
        if groups is not None:  # cases of a group are answered much alike
            own += 2 * rng.normal(size=(groups.max() + 1, k))[groups]
        chances[f"m{m}"] = np.exp(own) / np.exp(own).sum(axis=1, keepdims=True)
    return bool(beyond_chance(*study(truth, chances, groups)).better)


@pytest.mark.theory
@pytest.mark.parametrize(
    ("n_models", "n", "k", "alike", "sizes"),
    [(12, 60, 2, 0.0, None), (12, 120, 2, 0.6, None), (8, 90, 4, 0.3, None), (1, 40, 2, 0.0, None),
     (12, 120, 2, 0.0, "alike"), (6, 120, 2, 0.0, "unlike")],
)  # fmt: skip
def test_on_noise_nothing_is_claimed_in_nineteen_of_twenty_studies(
    monkeypatch, n_models, n, k, alike, sizes
):
    monkeypatch.setattr("psephos.report.numbers.chance.DRAWS", 199)
    rng = np.random.default_rng(5)
    groups = None if sizes is None else np.arange(n) // 5
    if sizes == "unlike":
        groups = np.unique(np.sort(rng.integers(0, 25, n)) // 2 * 2 % 17, return_inverse=True)[1]
    wrong = sum(claimed(rng, n_models, n, k, alike, groups) for _ in range(200))
    assert wrong <= 18  # of 200, at a rate of 0.05, seldomer than one in a hundred times


def test_what_tells_the_classes_apart_is_claimed(builders, tmp_path):
    truth, proba = builders.of_two(120, shift=1.6)
    noise = np.random.default_rng(0).dirichlet([1, 1], 120)
    folder = builders.written_folder(
        tmp_path, truth, {"good": [proba], "noise": [noise]}, ["healthy", "ill"]
    )
    report = summarise(folder)
    assert (
        "Of the 2 models that read columns 1 is shown to be better than a constant answer (balanced"
        " accuracy 0.50), with 95 % confidence for all at once (counted over all held-out cases,"
        " beside 999 shufflings of their classes); noise is not." in report["verdict"]
    )
    assert {m["key"] for m in report["models"] if m["frontier"]} == {"good"}
    told = report["island"]["missed"]["models"]
    assert "acting on it is worth more than" in told["good"]["note"]
    assert "By these counts" not in told["noise"]["note"]


def test_a_page_of_noise_praises_no_model(builders, tmp_path):
    rng = np.random.default_rng(3)
    truth = np.arange(60) % 2
    noise = {f"m{k}": [rng.dirichlet([1, 1], 60)] for k in range(10)}
    folder = builders.written_folder(tmp_path, truth, noise, ["healthy", "ill"])
    report = summarise(folder)
    assert any(words.startswith("None of the 10 models that read columns is shown")
               for words in report["verdict"])  # fmt: skip
    assert not any(m["frontier"] for m in report["models"])
    assert not any(chart["front"] for chart in report["chart"])
    page = build_report(folder).read_text("utf-8")
    assert "By these counts acting on it" not in page
