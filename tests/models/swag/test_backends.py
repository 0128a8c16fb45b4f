"""The same errors from any number of workers of any kind."""

from dataclasses import replace

import joblib
import numpy as np
import pytest
from joblib.parallel import ThreadingBackend
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from psephos import PsephosError, SparseWrapperClassifier
from psephos.models.swag.evaluation import Evaluation, Workers, estimate_cost
from psephos.models.swag.fitting import search
from psephos.models.swag.learners.closed_forms import LinearDiscriminantLearner
from psephos.models.swag.mechanisms import GenericLearner
from psephos.models.swag.problem import Folds
from psephos.models.swag.settings import SearchSettings
from psephos.models.training import make_splits

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


@pytest.mark.parametrize("verbose", [0, 2])
def test_verbose_prints_the_parts_that_are_done(capsys, verbose):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 20)), np.arange(30) % 2
    model = SparseWrapperClassifier(
        GaussianNB(), p_max=2, m=40, n_folds=3, verbose=verbose, random_state=0
    )
    quiet = model.fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert (lines != []) == (verbose > 0)
    if verbose:
        assert "1 of 2 parts of the candidates of 1 columns (" in lines[0]
        assert "3 of 3 parts of the candidates of 2 columns (" in lines[-1]
    assert model.set_params(verbose=0).fit(X, y).library_.table() == quiet.library_.table()


def test_cost_is_estimated():
    judge = evaluation(GaussianNB())
    costs = estimate_cost(judge, SearchSettings(p_max=4, m=40, alpha=0.5), seconds=0.01)
    assert [c.n_candidates for c in costs] == [8, 6, 4, 1]  # half of 8 columns: 4
    assert [c.n_fits for c in costs] == [24, 18, 12, 3]
    assert all(c.seconds > 0 for c in costs)
    curve = SearchSettings(p_max="curve", p_limit=2, alpha=0.5)
    assert len(estimate_cost(judge, curve, seconds=0.01)) == 2


def test_the_cost_of_a_step_is_that_of_the_candidates_tried_times_their_number(monkeypatch):
    judge, now = evaluation(GaussianNB()), [0.0]

    def workers(evaluation, n_jobs):
        def work(subsets):
            now[0] += 0.25 * len(subsets)

        return work

    monkeypatch.setattr("psephos.models.swag.evaluation.Workers", workers)
    monkeypatch.setattr("psephos.models.swag.evaluation.time.perf_counter", lambda: now[0])
    costs = estimate_cost(judge, SearchSettings(p_max=2, m=40, alpha=0.5), seconds=2.0)
    assert [c.seconds for c in costs] == [0.25 * c.n_candidates for c in costs]
