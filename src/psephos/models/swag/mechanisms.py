"""The learning mechanisms by name, and any scikit-learn estimator as a learner."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import get_tags

from psephos._errors import PsephosError
from psephos._types import Estimator, Floats, Indices
from psephos.estimator.members import fitted, weight_parameter
from psephos.estimator.params import Accepts, is_estimator
from psephos.models.swag.learners import closed_forms
from psephos.models.swag.learners.logistic import LassoLogisticLearner, LogisticLearner
from psephos.models.swag.learners.support import LinearSVMLearner, RBFSVMLearner
from psephos.models.swag.learners.trees import ForestLearner, TreeLearner
from psephos.models.swag.problem import BoundLearner, Learner, Says, SearchProblem
from psephos.vote import ConstantVoters, Voters, join
from psephos.vote.operations.nested import nested
from psephos.vote.voters.foreign import ForeignVoters
from psephos.vote.voters.stumps import prior_name

_LEAST = 1e-12  # smaller probabilities are raised to it, so that log-odds are finite


@dataclass(frozen=True)
class GenericLearner:
    """Any scikit-learn estimator, refitted for every candidate and split.

    Its scores are its ``decision_function``, else the log-odds of its ``predict_proba``, else the
    codes it predicts. Every parameter named `random_state` (in nested estimators too) is set from
    the seed, the candidate's columns and the split.

    Parameters
    ----------
    estimator : classifier or regressor
    """

    estimator: Any
    batched: ClassVar[bool] = False
    draws: ClassVar[bool] = True
    chunk: ClassVar[int] = 16

    def bind(self, problem: SearchProblem) -> "BoundGeneric":
        """Return the learner on a problem."""
        name = type(self.estimator).__name__
        kind = get_tags(self.estimator).estimator_type
        wanted = "classifier" if problem.n_classes else "regressor"
        if kind != wanted:
            raise PsephosError(
                f"the learner must be a {wanted}; {name} is a {kind or 'transformer'}."
            )
        weigher = weight_parameter(self.estimator)
        if weigher is None and (problem.weight != problem.weight[0]).any():
            raise PsephosError(
                f"learner {name} does not accept sample_weight, and weights of rows differ: omit "
                "the weights, or use another learner."
            )
        return BoundGeneric(self.estimator, problem, weigher)


def _decides(scores: Floats, model: Any, table: Floats) -> bool:
    """Return whether the greatest score is that of the predicted class (unlike pairwise scores)."""
    return bool((scores.argmax(axis=1) == model.predict(table)).all())


@dataclass(frozen=True)
class BoundGeneric(BoundLearner):
    """An estimator on a problem; `weigher` is the name of its parameter for weights in `fit`."""

    estimator: Any
    problem: SearchProblem
    weigher: str | None

    def scores(self, subsets: Indices) -> Floats:
        """Return out-of-fold scores of candidates, shape (B, L, K)."""
        problem, folds = self.problem, self.problem.folds
        out = np.empty((len(subsets), folds.n_tests, problem.n_outputs))
        for b, columns in enumerate(subsets):
            table = np.ascontiguousarray(problem.X[:, columns])
            with self._naming(columns), np.errstate(all="ignore"):
                for s in range(folds.n_splits):
                    train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
                    rows = slice(folds.test_ptr[s], folds.test_ptr[s + 1])
                    model = self._fitted(table, columns, train, s + 1)
                    out[b, rows] = self._scores(model, table[folds.test[rows]])
        return out

    @contextmanager
    def _naming(self, columns: Indices) -> Iterator[None]:
        """Name the candidate on which an estimator fails."""
        try:
            yield
        except Exception as error:
            name = type(self.estimator).__name__
            raise PsephosError(
                f"learner {name} fails on columns {columns.tolist()}: {error}"
            ) from error

    def _fitted(self, table: Floats, columns: Indices, rows: Any, split: int) -> Any:
        """Return the estimator fitted on some rows; split 0 is the fit on all."""
        model: Any = clone(self.estimator)
        seeded = [name for name in sorted(model.get_params()) if name.endswith("random_state")]
        if seeded:
            words = np.random.SeedSequence([self.problem.seed, split, *columns.tolist()])
            states = words.generate_state(len(seeded))
            model.set_params(**dict(zip(seeded, map(int, states), strict=True)))
        weight = self.problem.weight[rows]
        even = (self.problem.weight == self.problem.weight[0]).all()
        weights = {} if even or self.weigher is None else {self.weigher: weight}
        return fitted(model, table[rows], self.problem.y[rows], **weights)

    def _scores(self, model: Any, table: Floats) -> Floats:
        n_classes, width = self.problem.n_classes, self.problem.n_outputs
        if not n_classes:
            return np.asarray(model.predict(table), dtype=np.float64)[:, None]
        if hasattr(model, "decision_function"):
            scores = np.asarray(model.decision_function(table), dtype=np.float64)
            scores = scores[:, None] if scores.ndim == 1 else scores
            if scores.shape[1] == width and (width == 1 or _decides(scores, model, table)):
                return scores
        if hasattr(model, "predict_proba"):
            logs = np.log(np.clip(model.predict_proba(table), _LEAST, 1.0))
            return logs if width > 1 else logs[:, 1:] - logs[:, :1]
        answers = np.asarray(model.predict(table), dtype=np.intp)
        if width == 1:
            return np.where(answers == 1, 1.0, -1.0)[:, None]
        return np.where(answers[:, None] == np.arange(width), 1.0, -1.0)

    def fit(self, subsets: Sequence[Indices], says: Says, code: Floats) -> Voters:
        """Return one voter per subset, trained on all rows.

        Models of this library are nested votes; other models cannot be saved.
        """
        models = [self._whole(np.asarray(columns)) for columns in subsets]
        if says == "probability" and not all(hasattr(m, "predict_proba") for m in models):
            raise PsephosError(
                f"learner {type(self.estimator).__name__} has no predict_proba: use another, or "
                "vote='majority'."
            )
        return _as_voters(models, subsets, self.problem.X.shape[1], says, code)

    def _whole(self, columns: Indices) -> Any:
        table = np.ascontiguousarray(self.problem.X[:, columns])
        if len(columns):
            with self._naming(columns):
                return self._fitted(table, columns, slice(None), 0)
        prior: Any = DummyClassifier() if self.problem.n_classes else DummyRegressor()
        return prior.fit(table, self.problem.y, self.problem.weight)


def _as_voters(
    models: Sequence[Estimator], subsets: Sequence[Indices], p: int, says: Says, code: Floats
) -> Voters:
    """Return fitted models as voters: plain data if all that read columns are of psephos."""
    whole = ForeignVoters.of(models, subsets, p, says, code)
    readers = np.array([t for t, columns in enumerate(subsets) if len(columns)], dtype=np.intp)
    prior = np.setdiff1d(np.arange(len(models)), readers)
    parts: list[tuple[Indices, Voters]] = []
    if len(readers):
        own = [models[t] for t in readers.tolist()]
        read = [subsets[t] for t in readers.tolist()]
        votes = nested(own, read, p, says, code, abstains=True)
        if votes is None:
            return whole
        parts.append((readers, votes))
    if len(prior):
        votes = whole.take(prior).votes(np.zeros((1, p)))[0]
        name = "the heaviest class" if says == "answer" else prior_name(says == "value")
        parts.append((prior, ConstantVoters(p, votes, name)))
    return join(parts)


CLASSIFIERS: dict[str, Learner] = {
    "logistic": LogisticLearner(),
    "lasso": LassoLogisticLearner(),
    "lda": closed_forms.LinearDiscriminantLearner(),
    "naive_bayes": closed_forms.NaiveBayesLearner(),
    "ridge": closed_forms.RidgeLearner(),
    "linear_svm": LinearSVMLearner(),
    "rbf_svm": RBFSVMLearner(),
    "stump": TreeLearner(max_depth=1),
    "tree": TreeLearner(max_depth=3),
    "forest": ForestLearner(),
}
REGRESSORS: dict[str, Learner] = {
    "least_squares": closed_forms.LeastSquaresLearner(),
    "ridge": closed_forms.RidgeLearner(),
    "stump": TreeLearner(max_depth=1),
    "tree": TreeLearner(max_depth=3),
    "forest": ForestLearner(),
}


def _by_name(text: str, names: Mapping[str, Learner]) -> Learner | None:
    """Return the learner named by 'forest' or 'forest(n_estimators=500)'; None if there is none."""
    if text in names:
        return names[text]
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        given = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
        learner = names[call.func.id]
    except (KeyError, SyntaxError, ValueError):
        return None
    known = vars(learner)
    return None if given.keys() - known.keys() else type(learner)(**{**known, **given})


def mechanism(names: Mapping[str, Learner]) -> Accepts:
    """Return the constraint of `learner`: one of the names, a batched learner, or an estimator."""

    def learns(value: Any) -> bool:
        if isinstance(value, str):
            return _by_name(value, names) is not None
        return is_estimator(value) or (hasattr(value, "bind") and not isinstance(value, type))

    words = ", ".join(map(repr, names))
    return Accepts(
        learns,
        f"one of {words} (also 'tree(max_depth=3)'), or a scikit-learn estimator (an instance)",
    )


def make_mechanism(value: Any, names: Mapping[str, Learner]) -> Learner:
    """Return the learner of the parameter `learner`."""
    if isinstance(value, str):
        found = _by_name(value, names)
        assert found is not None  # checked by `mechanism`
        return found
    return value if hasattr(value, "bind") else GenericLearner(value)
