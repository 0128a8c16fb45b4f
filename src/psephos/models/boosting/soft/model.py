"""Soft trees, one or many: parameters, fits at once or as rows come, and from a teacher."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from psephos._errors import PsephosError
from psephos._types import Estimator, Floats, Indices, LabelsLike, PerRow, SeedLike, TableLike
from psephos.base import Labels
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval, Text
from psephos.estimator.partial import SoftLabels
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.files.names import listed, plural
from psephos.models.boosting.common import hold_out_rows
from psephos.models.boosting.soft.memory import SoftInputs, SoftMemory, centre_and_scale, plan_of
from psephos.models.training import Training, distinct_rows, ordered_rows, refuse_huge, row_groups
from psephos.optimise.arrays import namespace, on_device
from psephos.runtime.progress import tracked
from psephos.runtime.threads import one_thread
from psephos.trees.soft import SoftPlan, SoftTrainer, SoftTrees, SquaredError, started


class UnfittedError(PsephosError, NotFittedError):
    """A model that has to be fitted first."""


class LearnsFromTeachers(VoteEstimator):
    """The method `distill` of soft models."""

    def distill(self, teacher: Estimator, X: TableLike, sample_weight: PerRow = None) -> Self:
        """Fit what a fitted model says of rows, in place of labels.

        A classifier learns the teacher's probabilities (`predict_proba`), by cross-entropy with
        these, a regressor the numbers of a regressor. Rows need no labels. Where they come in
        batches, give `partial_fit` the teacher's probabilities.

        Parameters
        ----------
        teacher : estimator
            Fitted, of any library.
        X : table of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self : estimator

        Raises
        ------
        PsephosError
            If the teacher is not fitted, that of a classifier has no probabilities, or that of a
            regressor is a classifier.
        """
        learnt = learnt_labels if isinstance(self, LearnsClasses) else learnt_numbers
        return self.fit(X, learnt(teacher, X), sample_weight)


class LearnsClasses(LearnsFromTeachers):
    """The same with `partial_fit`, of classifiers."""

    def partial_fit(
        self,
        X: TableLike,
        y: LabelsLike,
        classes: LabelsLike | None = None,
        sample_weight: PerRow = None,
    ) -> Self:
        """Go once through further rows, a step a batch, in the order given.

        The columns, categories, mean and standard deviation of each column, what counts as one
        row's weight, and the penalty of `gate_lasso` are those of the first call, or of `fit`: let
        it have a fair sample. A column of one value there is never read (a warning names it).

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_classes)
            Labels, or probabilities: those of a teacher distil it on rows as they come. Their
            columns are `classes` in the order given, else `classes_`; a data frame names its own.
        classes : array of shape (n_classes,), default=None
            All labels there will be. None: those of the first call.
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self : estimator

        Raises
        ------
        PsephosError
            As `fit`; if a label is not one of the classes; if no column varies in the first call.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> from psephos import SoftTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> teacher = RandomForestClassifier(20, random_state=0).fit(X, y)
        >>> student = SoftTreeClassifier(3, random_state=0)
        >>> for k in range(300):
        ...     rows = X[k % 3 :: 3]
        ...     _ = student.partial_fit(rows, teacher.predict_proba(rows), teacher.classes_)
        >>> bool((student.predict(X) == teacher.predict(X)).mean() > 0.95)
        True
        """
        return self._partial_fit(X, y, sample_weight, classes)


class LearnsNumbers(LearnsFromTeachers):
    """The same with `partial_fit`, of regressors."""

    def partial_fit(self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None) -> Self:
        """Go once through further rows, a step a batch, in the order given.

        The columns and categories, the mean and standard deviation of each column and of y, what
        counts as one row's weight, and the penalty of `gate_lasso` are those of the first call, or
        of `fit`: let it have a fair sample. A column of one value there is never read (a warning
        names it).

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self : estimator

        Raises
        ------
        PsephosError
            As `fit`; if y has another number of outputs than in the first call; if in the first
            call no column varies.
        """
        return self._partial_fit(X, y, sample_weight)


def learnt_labels(teacher: Any, X: TableLike) -> SoftLabels:
    """Return a fitted classifier's probabilities as labels of its classes."""
    if not hasattr(teacher, "predict_proba"):
        raise PsephosError(
            f"{type(teacher).__name__} has no probabilities to learn from: give a classifier with "
            "predict_proba (CalibratedClassifierCV makes one of others)."
        )
    return SoftLabels.of(_taught(teacher, "predict_proba", X), teacher.classes_)


def learnt_numbers(teacher: Estimator, X: TableLike) -> Any:
    """Return a fitted regressor's numbers."""
    if hasattr(teacher, "classes_") or hasattr(teacher, "predict_proba"):
        raise PsephosError(
            f"teacher must be a regressor; {type(teacher).__name__} predicts classes: let a "
            "classifier learn them."
        )
    return _taught(teacher, "predict", X)


def _taught(teacher: Estimator, method: str, X: TableLike) -> Any:
    try:
        return getattr(teacher, method)(X)
    except NotFittedError as error:
        raise UnfittedError(
            f"the teacher, a {type(teacher).__name__}, is not fitted: call its fit first."
        ) from error


_ABOVE = Interval(0, open_low=True)


@parameters
class SoftModel:
    """Soft trees, one or several, and how they are trained.

    Parameters
    ----------
    max_depth : int
        D; a tree has 2^D leaves.
    learning_rate_init : float
        Step size of Adam.
    max_iter : int
        Epochs. An epoch goes once through the distinct rows, so a table of few distinct rows (of
        categories) has few steps an epoch: give it more epochs.
    batch_size : int
        Distinct rows of a step; the last of an epoch may have fewer.
    weight_decay : float
        L2 penalty: this times each parameter is added to its gradient (a sum over the batch).
    temperature : float
        Of gates: the lower, the nearer they are to thresholds.
    gate_lasso : float
        Above 0 gates start at 0 and read only the columns that enter: a group lasso, the group of a
        column being its weights in all gates. It is a share of the penalty at which no column
        enters at the start: .2 to .4 served on four fat tables; from about 1 on none enters.
        Batches of few rows let noise in (at 1, 67 of 500 columns of noise by batches of 16, of 80
        rows; at 1.2 none). 0 reads all columns.
    validation_fraction : float
        Share of the rows held out; the epoch of least loss there is kept. None holds out
        none. Rows of one group stay together.
    n_iter_no_change : int
        Epochs without a lower one after which training ends. Needs `validation_fraction`.
    warm_start : bool
        Whether `fit` continues from the last one for `max_iter` more epochs, on a table of the same
        columns and classes, with the units of the first fit. `temperature`, `gate_lasso` and the
        `learning_rate` of boosting must then stay the same. With `validation_fraction` the loss on
        the rows held out does not increase.
    device : str
        Where training runs: 'cpu' (NumPy), or a device of PyTorch, such as 'cuda', which is then
        needed and not installed with psephos. It is worth it for large batches (thousands of rows:
        `batch_size`) of many rows. The same trees are drawn, but sums differ by rounding, and so
        do fits, between devices. Answers are computed on the CPU.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories: a 0/1 input a level.
    random_state : int, RandomState or None
        Seeds the start, the order of rows and the validation share.

    Attributes
    ----------
    n_iter_ : int
        Epochs of the last call that were kept; 0 if a warm start found none better than its start.
    loss_curve_ : ndarray
        The loss a row in each epoch of the last call, each batch's before its step, of numbers in
        squared standard deviations; the cost of `gate_lasso` not included.
    validation_losses_ : ndarray
        Of held-out rows after each epoch of the last call, cross-entropy or half the squared error
        in squared standard deviations; empty if none was held out.
    stopped_ : str
        'all epochs' or 'validation'.
    memory_ : SoftMemory
        What `partial_fit` and a warm start go on from. After `fit` without `warm_start` it has the
        columns that are read, and no running means of Adam; else all columns and these means.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "max_depth": Interval(1, 12, whole=True),
        "learning_rate_init": _ABOVE,
        "batch_size": Interval(1, whole=True),
        "weight_decay": Interval(0),
        "temperature": _ABOVE,
        "gate_lasso": Interval(0),
        "device": Text(),
    }

    _: KW_ONLY
    max_depth: int = 6
    learning_rate_init: float = 0.01
    max_iter: int = 100
    batch_size: int = 128
    weight_decay: float = 0.0
    temperature: float = 1.0
    gate_lasso: float = 0.0
    validation_fraction: float | None = None
    n_iter_no_change: int = 10
    warm_start: bool = False
    device: str = "cpu"
    categorical_features: CategoricalFeatures = "from_dtype"
    random_state: SeedLike = None
    n_iter_: int = fitted()
    loss_curve_: Floats = fitted()
    validation_losses_: Floats = fitted()
    stopped_: str = fitted()
    memory_: SoftMemory = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        y = _answers(labels)
        if not context.further and context.groups is None:
            table, y, weight = _distinct(table, labels, y, weight)
        run = _fitted(self, table, labels, y, weight, context)
        return run.memory.vote(labels.target), {
            "n_iter_": len(run.losses) - run.stale,
            "loss_curve_": np.array(run.losses),
            "validation_losses_": np.array(run.held),
            "stopped_": run.stopped,
            "memory_": run.memory,
        }


_START, _EPOCH = 10, 11  # task ids of seeds


def _answers(labels: Labels) -> Floats:
    """Return (n, K): probabilities of classes, or numbers."""
    if labels.soft is not None:
        return labels.soft
    if labels.target.n_classes:
        return np.eye(labels.target.n_classes)[labels.y]
    y = np.asarray(labels.y, dtype=np.float64).reshape(len(labels.y), -1)
    refuse_huge(y)
    return y


def _distinct(
    table: Table, labels: Labels, y: Floats, weight: Floats
) -> tuple[Table, Floats, Floats]:
    """Return rows by content, equal ones as one of added weight: 2 is then the row twice."""
    code = row_groups(y)
    answers = y[np.unique(code, return_index=True)[1]]
    rows = ordered_rows(distinct_rows(Training(table, labels.target, code, weight)))
    return rows.table, answers[rows.y], rows.weight


@one_thread()  # the same bytes for any number
def _fitted(
    model: "SoftModel", table: Table, labels: Labels, y: Floats, weight: Floats, context: Context
) -> "_SoftRun":
    memory: SoftMemory | None = None if context.previous is None else model.memory_
    if memory is None:
        inputs, unit = SoftInputs.of(table, weight), float(weight.mean())
        centre, scale = np.zeros(y.shape[1]), np.ones(y.shape[1])
        if not labels.target.n_classes:
            centre, scale = centre_and_scale(y, weight)
        if context.further:
            _require_sample(table, inputs)
    else:
        inputs, unit, centre, scale = memory.inputs, memory.unit, memory.centre, memory.scale
        memory.require_same(model, y.shape[1])
    rows = inputs.rows(table.dense())
    goal = ((y - centre) / scale).astype(np.float32)
    size = (weight / unit).astype(np.float32)
    run = _SoftRun(model, plan_of(model, labels), context)
    here = rows
    rows, goal, size = (on_device(a, model.device) for a in (rows, goal, size))
    if memory is None:
        trees = run.drawn(here, y.shape[1], known=np.ptp(y, axis=0) == 0)
        run.trainer = SoftTrainer(trees, run.plan, inputs.group)
        if run.plan.gate_lasso:
            run.trainer.begin_lasso(rows, goal, size)
    else:
        run.trainer, run.n_epochs = memory.trainer(run.plan, model.device), memory.n_epochs
    if context.further:
        run.losses.append(run.epoch(rows, goal, size, np.arange(len(rows))))
    elif model.validation_fraction is None:
        run.train(rows, goal, size)
    else:
        codes = y.argmax(axis=1) if labels.target.n_classes else y
        data = Training(table, labels.target, codes, weight)
        run.train_watched(rows, goal, size, data)
    run.memory = SoftMemory.of(
        run.trainer, inputs, n_epochs=run.n_epochs, unit=unit, centre=centre, scale=scale
    ).thinned(keep_moments=context.further or model.warm_start)
    return run


def _require_sample(table: Table, inputs: SoftInputs) -> None:
    """Refuse a first call of partial_fit in which no column varies; warn of constant columns."""
    X = table.values
    constant = np.setdiff1d(np.arange(X.shape[1]), inputs.source)
    if not len(constant):
        return
    names = table.schema.words().columns
    unvaried = listed([names[j] for j in constant.tolist()])
    if len(constant) == X.shape[1]:
        raise PsephosError(
            f"the first call of partial_fit has {plural(X.shape[0], 'row')}, in which no column "
            "varies: columns are standardised by its means and deviations. Begin with a "
            "representative sample of the rows, or with fit."
        )
    warnings.warn(
        f"{unvaried}: constant in the first call of partial_fit, so not used in later calls "
        "either. Begin with a larger sample of the rows.",
        UserWarning,
        stacklevel=2,
    )


class _SoftRun:
    """Epochs of one fit, and what they came to."""

    trainer: SoftTrainer
    memory: SoftMemory

    def __init__(self, model: Any, plan: SoftPlan, context: Context) -> None:
        self.model, self.plan, self.context = model, plan, context
        self.losses: list[float] = []
        self.held: list[float] = []
        self.n_epochs = self.stale = 0
        self.stopped = "all epochs"

    def drawn(
        self, rows: NDArray[np.float32], n_outputs: int, known: NDArray[np.bool_]
    ) -> SoftTrees:
        """Draw the trees; a number that is the same in all rows (`known`) is its mean alone."""
        trees = started(
            self.context.generator(_START), self.model.n_estimators if self.model.boosted else 1,
            self.model.max_depth, rows.shape[1], n_outputs,
        )  # fmt: skip
        trees.gate[:, :, ~rows.any(axis=0)] = 0.0  # nothing moves these
        if isinstance(self.plan.loss, SquaredError):
            trees.leaf[:, known] = 0.0
            if known.all() and not self.context.further:
                trees.gate[...] = 0.0
        return SoftTrees(*(on_device(a, self.model.device) for a in trees))

    def epoch(self, rows: Any, y: LabelsLike, weight: Any, order: Indices) -> float:
        """Go through the rows once; return the mean loss, each batch's before its step."""
        with np.errstate(over="ignore", invalid="ignore"):
            loss = self.trainer.epoch(rows, y, weight, order) / float(weight.sum())
        self.n_epochs += 1
        xp = namespace(rows)
        known = all(bool(xp.all(xp.isfinite(part))) for part in self.trainer.trees)
        if not (np.isfinite(loss) and known):
            what = "parameters became infinite" if np.isfinite(loss) else f"the loss became {loss}"
            raise PsephosError(
                f"{what} in epoch {self.n_epochs}: lower learning_rate_init "
                f"({self.plan.step_size:g}) or learning_rate ({self.plan.learning_rate:g})."
            )
        return loss

    def train(self, rows: Any, y: LabelsLike, weight: Any) -> None:
        """Take `max_iter` epochs, each in an order of its own."""
        for _ in tracked(range(self.model.max_iter), "epochs"):
            rng = self.context.generator(_EPOCH, self.n_epochs)
            self.losses.append(self.epoch(rows, y, weight, rng.permutation(len(rows))))

    def train_watched(self, rows: Any, y: Any, weight: Any, data: Training) -> None:
        """Take epochs until the loss of held-out rows has long been above its least; go back.

        To where training began, if that was fitted before and no epoch was better.
        """
        train, rest = hold_out_rows(data, self.context, self.model.validation_fraction)
        held = rows[rest], y[rest], weight[rest]
        rows, y, weight = rows[train], y[train], weight[train]
        best = self.trainer.state()
        least = self.trainer.loss(*held) if self.n_epochs else np.inf
        for _ in tracked(range(self.model.max_iter), "epochs"):
            rng = self.context.generator(_EPOCH, self.n_epochs)
            self.losses.append(self.epoch(rows, y, weight, rng.permutation(len(rows))))
            self.held.append(self.trainer.loss(*held))
            self.stale += 1
            if self.held[-1] < least:
                best, least, self.stale = self.trainer.state(), self.held[-1], 0
            elif self.stale >= self.model.n_iter_no_change:
                self.stopped = "validation"
                break
        self.trainer.restore(best)
