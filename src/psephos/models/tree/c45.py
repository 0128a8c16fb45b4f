"""C4.5: one tree by gain ratio, fractional rows where values are missing, pessimistic pruning."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from psephos._types import ClassWeightLike, Floats, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import BALANCED, WEIGHTS, Distribution, Integers, LogUniform
from psephos.estimator.input import CategoricalFeatures, Context, FittedVote, Table
from psephos.estimator.labels import refuse_large_weights
from psephos.estimator.params import Classes, Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.leaves import Leaves
from psephos.trees.c45 import C45Options, c45_text, grow_c45, leaf_table
from psephos.trees.tree import Tree
from psephos.vote import Constant, Readout, Vote, branch_voters
from psephos.vote.frames import frame_of

#: What comparisons draw of trees and of rules.
DRAWN: Mapping[str, Mapping[str, Distribution]] = {
    "quick": {
        "confidence": LogUniform(0.01, 0.5),
        "min_samples_leaf": Integers(1, 10),
        "class_weight": BALANCED,
    },
    "samba": {
        "confidence": LogUniform(0.001, 0.5),
        "min_samples_leaf": Integers(1, 20),
        "class_weight": WEIGHTS,
    },
}


@parameters
class C45Classifier(Leaves, VoteClassifier):
    """C4.5's decision tree, as Weka's J48 grows and prunes it, or as release 8 of C4.5 does.

    Use it for one tree that is read from the root down, with a branch for each category, and cases
    with missing values sent down several branches.

    A split is chosen by its gain ratio among those whose gain is at least average. With W the
    weight of a node's rows, T that of known value and T_b that of branch b::

        gain  = (T / W) (H(known) - sum_b (T_b / T) H(b)) - log2(cuts) / W  [numbers only]
        ratio = gain / (- sum_b (T_b / W) log2(T_b / W) - ((W - T) / W) log2((W - T) / W))

    A column of categories has one branch for each category; a row whose value is missing is part
    of every branch, with the share T_b / T of its weight, when the tree is grown and when it
    answers. Thresholds are values of the training table, the largest that is not above the middle
    of the two values cut apart. A grown tree loses the subtrees that do not lower the training
    error; then it is pruned from its leaves: with E(N, e) = e + (errors that a binomial
    limit at `confidence` adds to e errors among N), a node becomes a leaf, or its largest branch,
    if that is estimated to make hardly more errors than the tree below it.

    Parameters
    ----------
    min_samples_leaf : float
        M: at least two branches of a split have this weight, and a node of less than twice as
        much is not split.
    confidence : float
        CF of the pessimistic errors: the less, the more is pruned.
    pruning : {'pessimistic', None}
        By errors as pessimistic as `confidence` makes them; None: not at all.
    min_value_gap : float
        Values of a column that differ by no more than this are not cut apart. J48 and release 8
        have 1e-5, whatever the unit of the column; 0 cuts between any two different values.
    release : {'j48', 'c45'}
        Weka's J48 (3.9), or release 8 of Quinlan's program: see Notes.
    criterion : {'gain_ratio', 'gain'}
        What a split is chosen by (release 8's option -g). The order is Quinlan's; surveys that
        take candidates by ratio first, then the best gain, have it the wrong way round.
    classes : list of labels or None
        The classes and their order, those of no row too, as a file of names declares them. Where
        classes tie, the first is the answer. None: the labels of y, sorted.
    random_state : int, RandomState, Generator or None
        Not used: nothing is drawn. It is kept so that programs that pass it go on to run.

    Attributes
    ----------
    vote_ : Vote
        The fitted vote: one voter, the tree.
    tree_ : Tree
        The tree, its columns those of the table.

    Notes
    -----
    A row of weight w counts as w rows wherever the algorithm counts rows, so weight 2 is the row
    twice. Weights that sum to 1 leave nothing to split: M is a weight.

    Splits, ties and estimates are those of the sources, but for the 1e-5 that keeps them from
    cutting apart what differs by less, which is `min_value_gap`: with a gap of 0 the tree does not
    depend on the unit of a column.

    Release 8 differs: it has no tolerance where J48 takes for equal what differs by 1e-6; it may
    take a split without gain; it never asks for a category twice on one way; it collapses a node
    while it grows; the errors added by CF come from a table of normal deviates; and a branch that
    may be raised is pruned on the node's rows before it is compared. Its estimates take long in
    deep trees, for each level looks at its largest branch anew.

    A column whose type declares its categories (a pandas Categorical, a polars Enum, an Arrow
    dictionary) has a branch for each, with rows or without, as J48 has; of other columns the
    categories are those of the rows. J48 also counts classes that are declared without rows, and
    its order of classes decides ties: `classes` declares them. By default, as in scikit-learn,
    the classes are those that occur, sorted.

    References
    ----------
    Quinlan (1993), "C4.5: Programs for Machine Learning". Quinlan (1996), "Improved use of
    continuous attributes in C4.5", J. Artif. Intell. Res. 4. Hall et al. (2009), "The WEKA data
    mining software", SIGKDD Explorations 11(1).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import C45Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = C45Classifier().fit(X, y)
    >>> print(model.export_text())
    column 3 <= 0.6: 0 (50.0)
    column 3 > 0.6
    |   column 3 <= 1.7
    |   |   column 2 <= 4.9: 1 (48.0/1.0)
    |   |   column 2 > 4.9
    |   |   |   column 3 <= 1.5: 2 (3.0)
    |   |   |   column 3 > 1.5: 1 (3.0/1.0)
    |   column 3 > 1.7: 2 (46.0/1.0)
    """

    _one_tree: ClassVar[bool] = True
    anatomy: ClassVar[Anatomy] = Anatomy(
        ("branching tree voters",),
        "constant",
        "normalised",
        "greedy growth by gain ratio, pessimistic pruning",
    )
    contender: ClassVar[Contender] = Contender(
        "c45",
        "tree",
        DRAWN,
        first={"quick": {"class_weight": "balanced"}},
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "min_samples_leaf": Interval(0, open_low=True),
        "confidence": Interval(0, 1, open_low=True, open_high=True),
        "pruning": Options(("pessimistic", None)),
        "min_value_gap": Interval(0),
        "release": Options(("j48", "c45")),
        "criterion": Options(("gain_ratio", "gain")),
        "classes": Classes(),
    }
    min_samples_leaf: float = 2
    confidence: float = 0.25
    _: KW_ONLY
    pruning: str | None = "pessimistic"
    min_value_gap: float = 0.0
    release: str = "j48"
    criterion: str = "gain_ratio"
    categorical_features: CategoricalFeatures = "from_dtype"
    classes: Any = None
    class_weight: ClassWeightLike = None
    random_state: SeedLike = None

    def _fit_vote(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> FittedVote:
        target = labels.target
        refuse_large_weights(weight)
        tree = grow_c45(
            table.dense(), labels.y, weight, target.n_classes, table.n_codes, self._options(),
            table.found,
        )  # fmt: skip
        p = table.values.shape[1]
        voters = branch_voters([tree], p, target.code)
        return Vote(voters, Constant(p, np.ones(1)), Readout("normalised", "share"), target), {}

    def _options(self) -> C45Options:
        return C45Options(
            float(self.min_samples_leaf),
            float(self.confidence),
            self.pruning is not None,
            self.release,
            self.criterion == "gain",
            float(self.min_value_gap),
        )

    @property
    def tree_(self) -> Tree:
        """The tree: nodes in flat arrays, its columns those of the table."""
        self._fitted()
        voters: Any = self.vote_.voters
        return voters.tree(0)

    def get_depth(self) -> int:
        """Return the number of rules on the longest way to a leaf."""
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves

    @property
    def rules_(self) -> Any:
        """The ways to the leaves, as a frame: rule, class, training weight, wrong weight."""
        words = self.schema_.words()
        labels = [str(c) for c in self.classes_.tolist()]
        return frame_of(leaf_table(self.tree_, words.columns, words.levels, labels))

    def export_text(self) -> str:
        """Return the tree line by line, as J48 prints it.

        A leaf is its class, the training weight that reached it, and how much of it is of other
        classes: ``class (48.0/1.0)``. Behind a soft threshold, which trees of earlier versions may
        have, stand its lower and upper value: ``size <= 2.5 [2.3, 2.65]``.
        """
        tree, words = self.tree_, self.schema_.words()
        return c45_text(tree, words.columns, words.levels, [str(c) for c in self.classes_.tolist()])
