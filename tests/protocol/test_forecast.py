"""The forecast of a comparison, on recorded durations, and the number of fits it states."""

import heapq

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from psephos.estimator.contender import Contender, Shape
from psephos.estimator.distributions import LogUniform
from psephos.protocol import Protocol, compare, known_models
from psephos.protocol.evaluation.splits import protocol_named
from psephos.protocol.running.progress import Forecast, left_words, plan_words, seconds_of
from psephos.protocol.running.tasks import FitTask
from psephos.testing import small_table

QUICK = protocol_named("quick")
SHAPE = Shape(n_columns=50, n_classes=2, categorical=(), missing=False)
ALONE = {"majority", *(f"column-budget-{k}" for k in (4, 8, 16))}  # without settings to try
# seconds of processor time that a search of each default model took: two folds, and all rows
RECORDED = {
    "hepatitis, 155 x 19": {
        "samba": [5.9, 0.54, 0.38],
        "swag": [0.34, 0.32, 0.81],
        "proset": [4.41, 4.31, 4.12],
        "random-forest": [0.13, 0.19, 0.15],
        "newton-boosting": [0.09, 0.08, 0.07],
        "rank-ridge": [0.29, 0.56, 0.28],
        "column-budget-4": [0.66, 0.47, 0.3],
        "column-budget-8": [0.33, 0.51, 0.29],
        "column-budget-16": [0.31, 0.52, 0.3],
        "majority": [0.0, 0.0, 0.0],
        "sklearn-l1-logistic": [0.27, 0.4, 0.15],
        "sklearn-svm-rbf": [0.17, 0.23, 0.14],
    },
    "500 x 50": {
        "samba": [0.38, 0.3, 1.2],
        "swag": [0.29, 0.42, 0.91],
        "proset": [8.2, 3.97, 7.81],
        "random-forest": [0.18, 0.2, 0.49],
        "newton-boosting": [4.64, 0.12, 0.21],
        "rank-ridge": [0.3, 0.3, 0.72],
        "column-budget-4": [0.82, 0.54, 1.26],
        "column-budget-8": [0.55, 0.55, 1.42],
        "column-budget-16": [0.56, 0.55, 1.35],
        "majority": [0.0, 0.0, 0.0],
        "sklearn-l1-logistic": [0.03, 0.04, 0.06],
        "sklearn-svm-rbf": [0.07, 0.06, 0.17],
    },
    "colon, 62 x 2000": {
        "samba": [0.31, 0.22, 0.54],
        "swag": [1.56, 1.24, 1.44],
        "proset": [2.68, 2.46, 3.43],
        "random-forest": [0.13, 0.13, 0.14],
        "newton-boosting": [0.44, 0.46, 0.38],
        "rank-ridge": [0.58, 0.55, 0.58],
        "column-budget-4": [0.6, 0.29, 0.43],
        "column-budget-8": [0.31, 0.31, 0.53],
        "column-budget-16": [0.32, 0.31, 0.48],
        "majority": [0.01, 0.0, 0.0],
        "sklearn-l1-logistic": [0.08, 0.04, 0.13],
        "sklearn-svm-rbf": [0.06, 0.03, 0.08],
    },
}  # fmt: skip


def work_of(models, protocol=QUICK, n=100):
    known = known_models()
    splits = [*protocol.splits, None]
    rows = {split: np.arange(n if split is None else n - n // protocol.folds) for split in splits}
    return [
        FitTask(
            f"{model} {split}", known[model], protocol, split, rows[split], rows[None][:0], (0,) * 3
        )
        for model in models
        for split in splits
    ]


def entry_of(task, seconds, compiling=0.0):
    timing = {"search_seconds": compiling, "fit_seconds": seconds, "predict_seconds": 0.0}
    timing["kernels_compiled"] = int(compiling > 0)
    return {"key": task.key, "model": task.contender.name, "timing": timing}


def course(recorded, workers, compiling=0.0, imports=0.0):
    """Return (time, forecast) at the end of each task of a run, by a clock of its own."""
    tasks = work_of(recorded)
    folds = QUICK.splits
    seconds = {
        task.key: recorded[task.contender.name][
            2 if task.split is None else folds.index(task.split) % 2
        ]
        for task in tasks
    }
    seconds[f"majority {folds[0]}"] += imports  # of the first fit
    forecast = Forecast(tasks, SHAPE, workers)
    waiting = iter(forecast.order(tasks))
    running, found, met = [], [], set()

    def begin(now):
        task = next(waiting, None)
        if task is not None:
            own = 0.0 if task.contender.name in met else compiling
            met.add(task.contender.name)
            heapq.heappush(running, (now + own + seconds[task.key], task.key, task, own))

    for _ in range(workers):
        begin(0.0)
    while running:
        now, _, task, own = heapq.heappop(running)
        forecast.learn(entry_of(task, seconds[task.key], own))
        begin(now)
        found.append((now, forecast.left()))
    return found


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("table", RECORDED)
def test_from_a_twentieth_of_the_way_on_it_is_right_to_a_factor_of_two(table, workers):
    found = course(RECORDED[table], workers)
    whole = found[-1][0]
    assert found[0][1] is None
    ratios = [left / (whole - now) for now, left in found if 0.05 * whole <= now <= 0.9 * whole]
    assert len(ratios) > 30
    assert next(now for now, left in found if left is not None) < 0.05 * whole
    assert min(ratios) >= 0.5
    assert max(ratios) <= 2
    assert found[-1][1] == 0


def test_a_fit_that_compiled_kernels_is_no_part_of_it():
    """A first run on a machine compiles for half a minute a model, and never again."""
    found = course(RECORDED["colon, 62 x 2000"], 1, compiling=30.0)
    known = [(now, left) for now, left in found if left is not None]
    whole, began = found[-1][0], known[0][0]
    assert began > 30.0
    ratios = [left / (whole - now) for now, left in known if now < whole - 0.1 * (whole - began)]
    assert len(ratios) > 30
    assert min(ratios) >= 0.5
    assert max(ratios) <= 2


def test_the_imports_of_the_first_fit_are_no_part_of_it():
    found = course(RECORDED["colon, 62 x 2000"], 1, imports=3.0)
    whole = found[-1][0]
    ratios = [left / (whole - now) for now, left in found if 0.1 * whole <= now <= 0.9 * whole]
    assert min(ratios) >= 0.5
    assert max(ratios) <= 2


def test_what_an_earlier_run_did_is_known_and_a_failed_fit_has_no_time():
    recorded = RECORDED["hepatitis, 155 x 19"]
    tasks = work_of(recorded)
    forecast = Forecast(tasks, SHAPE, 1)
    for task in tasks:
        if task.split in ((0, 0), (0, 1)):
            forecast.learn(entry_of(task, recorded[task.contender.name][0]))
    failed = next(task for task in tasks if task.split == (0, 2))
    forecast.learn({"key": failed.key, "model": "samba", "timing": {"warnings": {}}})
    todo = [task for task in tasks if task.split not in ((0, 0), (0, 1))]
    forecast.order(todo)
    assert forecast.n_done == 2 * sum(1 if m in ALONE else 13 for m in recorded)
    wanted = sum(recorded[task.contender.name][0] * len(task.train) / 80 for task in todo)
    assert forecast.left() == pytest.approx(wanted)
    assert seconds_of(entry_of(failed, 2.0)) == 2.0
    assert seconds_of(entry_of(failed, 2.0, compiling=5.0)) is None
    words = plan_words(tasks, forecast)
    assert "12 models in 5 folds and on all rows: 48 searches" in words[0]
    assert words[0].endswith("(of up to 4 settings in 3 inner folds), 648 fits in all")
    assert words[1] == f"{forecast.n_done} of 648 fits are reused from an earlier run"


def test_searches_of_so_many_seconds_take_these_and_their_fits():
    tasks = work_of(["adaboost", "swag", "majority"], QUICK.within("seconds=10"))
    forecast = Forecast(tasks, SHAPE, 1)
    todo = forecast.order(tasks)
    assert forecast.left() == 12 * 10.0
    for n, task in enumerate(todo, start=1):
        tuned = task.contender.name != "majority"
        entry = entry_of(task, len(task.train) / 200)
        entry["timing"]["search_seconds"] = 10.0 if tuned else 0.0
        forecast.learn(entry)
        if n == 6:
            rest = sum(
                len(one.train) / 200 + (10 if one.contender.name != "majority" else 0)
                for one in todo[n:]
            )
            assert forecast.left() == pytest.approx(rest, rel=0.05)
    assert forecast.left() == 0
    words = plan_words(tasks, forecast)[0]
    assert "12 searches (of 10 s in 3 inner folds), at least 54 fits in all" in words


def test_of_a_model_not_yet_timed_the_forecast_is_a_guess_and_a_stopped_fit_took_its_time():
    tasks = work_of(["random-forest", "adaboost"])
    forecast = Forecast(tasks, SHAPE, 1)
    todo = forecast.order(tasks)
    forecast.learn(entry_of(todo[0], 13.0))
    assert left_words(forecast).startswith("perhaps ")
    timing = {"search_seconds": 60.0, "kernels_compiled": 0}  # until a limit stopped it
    forecast.learn({"key": todo[1].key, "model": "adaboost", "status": "failed", "timing": timing})
    assert forecast.left() == pytest.approx((13 + 60) * 5.25)  # all rows: 1.25 times a fold
    assert left_words(forecast) == "about 6 min left"


@pytest.mark.parametrize("labels", [False, True])
def test_the_fits_that_are_stated_are_those_that_are_made(labels, monkeypatch, capsys):
    made = []
    whole = GaussianNB.fit
    monkeypatch.setattr(GaussianNB, "fit", lambda *a, **k: made.append(1) or whole(*a, **k))
    X, y = small_table(2)
    if labels:
        y = np.column_stack([y == y[0], X[:, 0] > np.median(X[:, 0])]).astype(int)
    bayes = Contender(
        "bayes",
        "naive Bayes",
        {"quick": {"var_smoothing": LogUniform(1e-9, 1e-3)}},
        build=lambda params, shape, seed: GaussianNB(**params),
        origin="baseline",
    )
    plan = Protocol("own", folds=3, inner_folds=2, draws=3)
    compare(X, y, [bayes], plan, n_jobs=1, progress=True)
    told = capsys.readouterr().err
    assert f"{len(made)} fits in all" in told
    assert f"comparing: {len(made)} of {len(made)} fits, bayes done" in told
