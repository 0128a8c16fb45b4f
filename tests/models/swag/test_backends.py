"""The same errors from any number of workers of any kind."""

import io
from dataclasses import replace

import joblib
import numpy as np
import pytest
from joblib.parallel import ThreadingBackend
from rich.console import Console
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from psephos import PsephosError
from psephos.models.folding import make_splits
from psephos.models.swag import backends
from psephos.models.swag.backends import Workers, estimate_cost
from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.fitting import search
from psephos.models.swag.learners.gaussian import LinearDiscriminantLearner
from psephos.models.swag.mechanisms import GenericLearner
from psephos.models.swag.problem import Folds
from psephos.models.swag.settings import SearchSettings

SETTINGS = SearchSettings(p_max=3, m=40, alpha=0.5)


def evaluation(estimator, n=40, p=8):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)
    X[:6, 2] = np.nan
    folds = Folds.of(make_splits(y, 2, n_folds=3))
    return Evaluation.of(GenericLearner(estimator), X, y, 2, folds=folds, seed=4)


def content(found):
    arrays = [[s.subsets, s.error, s.spread, s.tie, s.errors] for s in found.steps]
    return [a.tobytes() for step in arrays for a in step]


def run(judge, **kwargs):
    return search(Workers(judge, **kwargs), 8, SETTINGS, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        GenericLearner(GaussianNB()),
        GenericLearner(RandomForestClassifier(2)),
        LinearDiscriminantLearner(),
    ],
)
def test_same_bytes_for_any_workers(learner):
    judge = replace(evaluation(GaussianNB()), learner=learner)
    alone = content(run(judge))
    assert content(run(judge, n_jobs=2)) == alone  # processes; threads, for the batched one
    with joblib.parallel_config("threading", n_jobs=2):
        assert content(run(judge)) == alone
    with joblib.parallel_config("loky", n_jobs=2):
        assert content(run(judge)) == alone


class Listing(ThreadingBackend):
    """A backend that cannot give results one by one, as some registered ones cannot."""

    supports_return_generator = False


def test_a_backend_that_gives_all_results_at_once():
    joblib.register_parallel_backend("listing", Listing)
    judge = evaluation(GaussianNB())
    with joblib.parallel_config("listing", n_jobs=2):
        found = run(judge)
    assert content(found) == content(run(judge))


def test_an_error_in_a_worker_is_raised():
    with pytest.raises(PsephosError, match="fails on columns"):
        run(evaluation(KNeighborsClassifier(39)), n_jobs=2)


def test_progress_is_told():
    told = []
    search(Workers(evaluation(GaussianNB())), 8, SETTINGS, report=told.append)
    by_step = {d: [s for s in told if s.dimension == d] for d in (1, 2, 3)}
    assert [s.done for s in by_step[2]] == [0, min(16, by_step[2][-1].total), by_step[2][-1].total][
        : len(by_step[2])
    ]
    for d, standings in by_step.items():
        assert standings[0].done == 0
        assert np.isnan(standings[0].seconds_left)
        assert standings[-1].done == standings[-1].total
        assert standings[-1].last == 3
        assert (standings[-1].seconds_left > 0) == (d < 3)


def test_time_left(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(backends.time, "monotonic", lambda: now[0])
    told = []
    clock = backends.Clock(told.append, 2, 4, 100)
    clock.tick(50, known=True)  # read from a folder: says nothing of the time it takes
    now[0] = 110.0
    clock.tick(10)
    assert told[-1].done == 60
    assert told[-1].seconds == 10.0
    assert told[-1].seconds_left == 40 + 2 * 100.0
    assert [backends._words(s) for s in (5, 119, 130, 8000)] == ["5 s", "119 s", "2 min", "2 h"]


def test_the_bar_is_drawn(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr("rich.progress.get_console", lambda: Console(file=out, width=100))
    with backends.progress_bar() as report:
        search(Workers(evaluation(GaussianNB())), 8, SETTINGS, report=report)
    assert "3 columns" in out.getvalue()
    assert "40/40" in out.getvalue() or "8/8" in out.getvalue()


def test_cost_is_estimated():
    judge = evaluation(GaussianNB())
    costs = estimate_cost(judge, SearchSettings(p_max=4, m=40, alpha=0.5), seconds=0.01)
    assert [c.n_candidates for c in costs] == [8, 6, 4, 1]  # half of 8 columns: 4
    assert [c.n_fits for c in costs] == [24, 18, 12, 3]
    assert all(c.seconds > 0 for c in costs)
    pairs = SearchSettings(p_max=3, m=40, alpha=0.5, first_step="pairs", n_pairs=20)
    assert [c.n_candidates for c in estimate_cost(judge, pairs, seconds=0.01)] == [8, 20, 40]
    curve = SearchSettings(p_max="curve", p_limit=2, alpha=0.5)
    assert len(estimate_cost(judge, curve, seconds=0.01)) == 2


def test_the_cost_of_a_step_is_that_of_the_candidates_tried_times_their_number(monkeypatch):
    judge, now = evaluation(GaussianNB()), [0.0]

    def workers(evaluation, n_jobs):
        def work(subsets):
            now[0] += 0.25 * len(subsets)

        return work

    monkeypatch.setattr("psephos.models.swag.backends.Workers", workers)
    monkeypatch.setattr("psephos.models.swag.backends.time.perf_counter", lambda: now[0])
    costs = estimate_cost(judge, SearchSettings(p_max=2, m=40, alpha=0.5), seconds=2.0)
    assert [c.seconds for c in costs] == [0.25 * c.n_candidates for c in costs]
