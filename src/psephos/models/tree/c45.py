"""C4.5: one tree by gain ratio, fractional rows for missing values, pessimistic pruning."""

from collections.abc import Mapping
from typing import Any, ClassVar

from psephos._types import ClassWeightLike, Floats, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Distribution, Integers, LogUniform
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.labels import refuse_large_weights
from psephos.estimator.params import Classes, Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.ensemble import Leaves, uniform_vote
from psephos.trees.c45 import C45Options, c45_text, grow_c45, leaf_table
from psephos.trees.tree import Tree
from psephos.vote import branch_voters
from psephos.vote.frames import frame_of

#: Distributions from which comparisons draw parameters of trees and rules.
DRAWN: Mapping[str, Mapping[str, Distribution]] = {
    "quick": {"confidence": LogUniform(0.01, 0.5), "min_samples_leaf": Integers(1, 10)},
    "samba": {"confidence": LogUniform(0.001, 0.5), "min_samples_leaf": Integers(1, 20)},
}


@parameters
class C45Classifier(Leaves, VoteClassifier):
    """C4.5's decision tree, as grown and pruned by Weka's J48, or by release 8 of C4.5.

    Use it for one readable tree with a branch for each category, in which cases with missing values
    go down several branches.

    The split of a node has the highest gain ratio among those whose gain is at least average. With
    W the weight of the node's rows, T that of rows with the value and T_b that of branch b::

        gain  = (T / W) (H(known) - sum_b (T_b / T) H(b)) - log2(cuts) / W  [numbers only]
        ratio = gain / (- sum_b (T_b / W) log2(T_b / W) - ((W - T) / W) log2((W - T) / W))

    A categorical column has one branch per category. A row whose value is missing goes to every
    branch with the share T_b / T of its weight, in training and in prediction. A threshold is a
    training value, the largest one not above the midpoint between the two values it separates.
    Subtrees that do not lower the training error are removed. Then the tree is pruned from its
    leaves: with E(N, e) = e + (errors that a binomial limit at `confidence` adds to e errors among
    N), a node is replaced by a leaf, or by its largest branch, if the estimated errors hardly
    increase.

    Parameters
    ----------
    min_samples_leaf : float
        M: at least two branches of a split must have this weight, and a node with less than twice
        this weight is not split.
    confidence : float
        CF of the pessimistic errors: the smaller, the more is pruned.
    pruning : {'pessimistic', None}
        By pessimistic errors at `confidence`; None: no pruning.
    min_value_gap : float
        Values of a column that differ by no more than this are not separated. J48 and release 8
        use 1e-5, whatever the unit of the column; with 0, any two different values may be.
    release : {'j48', 'c45'}
        Weka's J48 (3.9), or release 8 of Quinlan's program: see Notes.
    criterion : {'gain_ratio', 'gain'}
        Criterion of splits (release 8's option -g). As in Quinlan's program, candidates are
        filtered by gain and chosen by ratio; some surveys describe the reverse.
    classes : list of labels or None
        The classes and their order, including classes without rows, as a C4.5 names file declares
        them. If classes tie, the first is predicted. None: the labels of y, sorted.
    random_state : int, RandomState, Generator or None
        Ignored, as nothing is random; accepted for programs that pass it.

    Attributes
    ----------
    vote_ : Vote
        The fitted vote: one voter, the tree.
    tree_ : Tree
        The tree; its column indices are those of the table.

    Notes
    -----
    A row of weight w counts as w rows wherever the algorithm counts rows, so weight 2 equals the
    row given twice. With weights that sum to 1 nothing is split, because M is a weight.

    Splits, ties and estimates are those of the sources, except for their tolerance of 1e-5, which
    is `min_value_gap` here: at 0 the tree does not depend on the unit of a column.

    Release 8 differs from J48: it has no tolerance where J48 treats values that differ by 1e-6 as
    equal; it may use a split without gain; it never tests a categorical column twice on one path;
    it collapses nodes while it grows; the errors added by CF come from a table of normal deviates;
    and a branch that may be raised is pruned on the node's rows before it is compared. Its
    estimates are slow in deep trees, as each level evaluates its largest branch again.

    A column whose type declares its categories (a pandas Categorical, a polars Enum, an Arrow
    dictionary) has a branch for each, with or without rows, as in J48; in other columns the
    categories are those that occur. J48 also counts declared classes without rows, and its order of
    classes decides ties: declare them by `classes`. By default, as in scikit-learn, the classes are
    those that occur, sorted.

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
    contender: ClassVar[Contender] = Contender("c45", "tree", DRAWN).weighted()
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

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        target = labels.target
        refuse_large_weights(weight)
        tree = grow_c45(
            table.dense(), labels.y, weight, target.n_classes, table.n_codes, self._options(),
            table.found,
        )  # fmt: skip
        return uniform_vote(branch_voters([tree], table.values.shape[1], target.code), target), {}

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
        """The tree: nodes in flat arrays, with the table's column indices."""
        self._fitted()
        voters: Any = self.vote_.voters
        return voters.tree(0)

    def get_depth(self) -> int:
        """Return the number of splits on the longest path to a leaf."""
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves

    @property
    def rules_(self) -> Any:
        """The paths to the leaves, as a frame: rule, class, training weight, wrong weight."""
        words = self.schema_.words()
        labels = [str(c) for c in self.classes_.tolist()]
        return frame_of(leaf_table(self.tree_, words.columns, words.levels, labels))

    def export_text(self) -> str:
        """Return the tree as text, in the format of J48.

        A leaf has its class, its training weight, and the part of it in other classes: ``class
        (48.0/1.0)``. A soft threshold, possible in trees of earlier versions, is followed by its
        lower and upper value: ``size <= 2.5 [2.3, 2.65]``.
        """
        tree, words = self.tree_, self.schema_.words()
        return c45_text(tree, words.columns, words.levels, [str(c) for c in self.classes_.tolist()])
