"""The rules of C4.5: a vote in which the first rule that applies decides."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from psephos._types import ClassWeightLike, Floats, SeedLike
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.labels import refuse_large_weights
from psephos.estimator.params import Classes, Constraint, Interval
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.tree.c45 import DRAWN
from psephos.trees.c45 import C45Options, grow_c45
from psephos.trees.c45_rules import find_rules
from psephos.vote import FirstMatch, Readout, Vote, rule_voters
from psephos.vote.frames import frame_of
from psephos.vote.operations.trees import Trees


@parameters
class C45RulesClassifier(VoteClassifier):
    """An ordered list of rules from an unpruned C4.5 tree, as c4.5rules makes them.

    Use it for a model that reads as rules, each with its own error: the first that applies decides.

    Every path from the root to a leaf is a rule. Its tests are dropped, the least useful first,
    while its pessimistic or its training error does not increase. Then each class keeps the rules R
    with the shortest description length, exceptions included::

        bits(R) = 1/2 (sum of bits(r) - log2(k!)) + log2(n) + B(F, fp) + B(n - F, fn)

    for k rules that apply to F of n rows, fp of them wrongly, and do not cover fn rows of the
    class; B is the number of bits that identify the errors. Classes are ordered by their false
    positives, and rules of a class by their error. If no rule applies, a default class is
    predicted. A rule that is wrong more often than the rest of the list is dropped.

    Parameters
    ----------
    min_samples_leaf : float
        M of the tree: at least two branches of a split must have this weight.
    confidence : float
        CF of the pessimistic errors.
    classes : list of labels or None
        The classes and their order, including classes without rows, as a C4.5 names file declares
        them. If classes tie, the first is predicted. None: the labels of y, sorted.
    random_state : int, RandomState or None
        Seed of the starts of the search among a class's rules, if it has more than ten.

    Attributes
    ----------
    vote_ : Vote
        The fitted vote: one voter per rule, in order, and the default last.
    rule_errors_ : ndarray of shape (T,)
        Pessimistic error rate of each rule; for the default, its error on the training rows it
        decides, 0 if there are none.

    Notes
    -----
    A missing value fails every test. Rules predict a class: probabilities are 0 and 1, and the
    reliability of a rule is in `rule_errors_`. The tree is that of release 8
    (``C45Classifier(release="c45", pruning=None)``), which may separate any two different values
    (in c4.5rules: if they differ by more than 1e-5). A row of weight w counts as w rows.

    References
    ----------
    Quinlan (1993), "C4.5: Programs for Machine Learning", chapter 5. Quinlan (1995), "MDL and
    categorical theories (continued)", ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import C45RulesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = C45RulesClassifier(random_state=0).fit(X, y)
    >>> model.describe()[1]
    'Voter 1 (33.3 %): if column 3 <= 0.6 then 0.'
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("rule voters",),
        "first match",
        "normalised",
        "ways of a C4.5 tree, generalised, by description length",
    )
    contender: ClassVar[Contender] = Contender(
        "c45-rules", "tree", DRAWN, small={"random_state": 0}
    ).weighted()
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "min_samples_leaf": Interval(0, open_low=True),
        "confidence": Interval(0, 1, open_low=True, open_high=True),
        "classes": Classes(),
    }

    min_samples_leaf: float = 2
    confidence: float = 0.25
    _: KW_ONLY
    categorical_features: CategoricalFeatures = "from_dtype"
    classes: Any = None
    class_weight: ClassWeightLike = None
    random_state: SeedLike = None
    rule_errors_: Floats = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        target, X = labels.target, table.dense()
        refuse_large_weights(weight)
        options = C45Options(
            float(self.min_samples_leaf), float(self.confidence), pruning=False, release="c45"
        )
        tree = grow_c45(X, labels.y, weight, target.n_classes, table.n_codes, options, table.found)
        found = find_rules(
            tree, X, labels.y, weight, table.n_codes, options.limit(), context.generator(0)
        )
        says = np.array([*(rule.target for rule in found.rules), found.default], np.intp)
        tests = [*(rule.tests for rule in found.rules), ()]
        voters = rule_voters(tests, target.code[says], X.shape[1])
        rank = np.arange(len(says), dtype=np.intp)
        decides = FirstMatch(voters, rank, np.ones(len(says))).weights(X)
        decided = weight @ decides
        wrong = weight @ (decides * (says != labels.y[:, None]))
        errors = [*(rule.error for rule in found.rules), wrong[-1] / max(decided[-1], 1e-300)]
        weighting = FirstMatch(voters, rank, decided / decided.sum())
        vote = Vote(voters, weighting, Readout("normalised", "share"), target)
        return vote, {"rule_errors_": np.array(errors, dtype=np.float64)}

    @property
    def rules_(self) -> Any:
        """The rules in order, as a frame: rule, class, accuracy, share of the training rows."""
        self._fitted()
        words, voters = self.schema_.words().in_sentences(), self._parts()[0]
        target = self.vote_.target
        rules = range(voters.n_voters)
        votes = np.array([voters.sides(t)[0][1] for t in rules])
        return frame_of(
            {
                "rule": [voters.rule(t, words.columns, words.levels) for t in rules],
                "class": target.decode(votes).tolist(),
                "accuracy": (1.0 - self.rule_errors_).tolist(),
                "share": self._parts()[1].mean_share().tolist(),
            }
        )

    def _parts(self) -> tuple[Trees, FirstMatch]:
        parts: Any = self.vote_.voters, self.vote_.weighting
        return parts
