"""Members by name: the parameter, its defaults and its checks."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import Tags, get_tags

from psephos._errors import PsephosError
from psephos._types import Estimator, Floats, SeedLike
from psephos.base import VoteClassifier, VoteEstimator
from psephos.estimator.input import CategoricalFeatures
from psephos.estimator.params import Accepts, Constraint, Interval
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.files.field_types import GREATEST
from psephos.models.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from psephos.models.linear.rank_ridge import RankRidgeClassifier, RankRidgeRegressor
from psephos.models.tree.cart import CARTClassifier, CARTRegressor

Members = list[tuple[str, Estimator]]


def is_member(estimator: Any) -> bool:
    """Return whether this is an estimator, not its class."""
    return not isinstance(estimator, type) and hasattr(estimator, "fit")


def _are_pairs(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, list | tuple) or not value:
        return False
    pairs = [one for one in value if isinstance(one, tuple | list) and len(one) == 2]
    return len(pairs) == len(value) and all(_names(*pair) for pair in pairs)


def _names(name: Any, estimator: Estimator) -> bool:
    dropped = isinstance(estimator, str) and estimator == "drop"
    return isinstance(name, str) and (dropped or is_member(estimator))


def _divides(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(len(pair) == 2 for pair in value)
    splitter = hasattr(value, "split") and not isinstance(value, str)
    return splitter or Interval(2, whole=True).allows(value)


#: None (the default members), or a list of pairs of a name and an estimator, or 'drop'.
ESTIMATORS = Accepts(
    _are_pairs, "None or a list of pairs (name, estimator), each an instance and not its class"
)
MEMBER = Accepts(
    lambda value: value is None or is_member(value),
    "None or an estimator, an instance and not its class",
)
CV = Accepts(
    _divides,
    "a number of folds of at least 2, a scikit-learn splitter, or a list of (training rows,"
    " test rows)",
)


def check_kind(model: Any, estimator: Any, what: str) -> None:
    """Raise PsephosError unless an estimator is a classifier or regressor as the committee is."""
    of_classes = is_classifier(model)
    if not (is_classifier if of_classes else is_regressor)(estimator):
        kind = "classifier" if of_classes else "regressor"
        name = type(estimator).__name__
        raise PsephosError(f"{type(model).__name__}: {what} must be a {kind}; got {name}.")


@parameters
class NamedMembers(VoteEstimator):
    """Mixin of committees of named members, with nested parameters such as ``tree__max_depth``.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name, as in `VotingClassifier`.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; every member must accept them.
    n_jobs : int
        Threads that fit members; the vote does not depend on it.
    random_state : int, RandomState or None
        Seed of the folds, and of the members whose own `random_state` is None.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {"estimators": ESTIMATORS}

    estimators: Any = None
    _: KW_ONLY
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    random_state: SeedLike = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep` also those of the members."""
        found: dict[str, Any] = super().get_params(deep=deep)
        for name, one in self._pairs() if deep else ():
            found[name] = one
            if hasattr(one, "get_params"):
                found |= {f"{name}__{n}": v for n, v in one.get_params(deep=True).items()}
        return found

    def _pairs(self) -> Members:
        """Return the members in `estimators`; none while the parameter is not valid."""
        given = self.estimators
        return list(given) if given is not None and ESTIMATORS.allows(given) else []

    def set_params(self, **params: Any) -> Any:
        """Set parameters; a member by its name, and its parameters as ``name__parameter``."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        names = [name for name, _ in self._pairs()]
        for name in [n for n in params if n in names]:
            new = params.pop(name)
            self.estimators = [(n, new if n == name else one) for n, one in self.estimators]
        return super().set_params(**params)

    def _members(self) -> Members:
        return self._defaults() if self.estimators is None else self._pairs()

    def _defaults(self) -> Members:
        return default_members(isinstance(self, VoteClassifier))

    def _kept(self) -> list[Any]:
        """Return the members that are not dropped."""
        return [one for _, one in self._members() if not isinstance(one, str)]

    def reads_categories(self) -> bool:
        """Return whether columns may hold categories, named in `categorical_features`."""
        return all(reads_categories(one) for one in self._kept())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        members = [get_tags(one) for one in self._kept()]
        tags.input_tags.allow_nan = all(t.input_tags.allow_nan for t in members)
        tags.input_tags.sparse = True  # members read dense rows
        return tags


def reads_categories(estimator: Any) -> bool:
    """Return whether an estimator accepts categorical columns."""
    return isinstance(estimator, VoteEstimator) and estimator.reads_categories()


def checked(model: Estimator, pairs: Iterable[tuple[str, Any]]) -> Members:
    """Return the members that are not dropped."""
    kept = [(name, one) for name, one in pairs if not isinstance(one, str)]
    kind = type(model).__name__
    names = [name for name, _ in kept]
    if not kept:
        raise PsephosError(f"{kind}: estimators must have a member that is not 'drop'.")
    taken = set(model.get_params(deep=False))
    for i, name in enumerate(names):
        if name in names[:i] or "__" in name or name in taken:
            raise PsephosError(
                f"{kind}: names of members must differ, without two underscores, and must not be "
                f"parameters of the committee; got {name!r}."
            )
    for name, one in kept:
        check_kind(model, one, f"member {name!r}")
    return kept


SMALL = [
    ("tree", CARTClassifier(min_samples_split=6, n_folds=3, random_state=0)),
    ("forest", RandomForestClassifier(n_estimators=4, random_state=0)),
]
SMALL_NUMBERS = [
    ("tree", CARTRegressor(min_samples_split=6, n_folds=3, random_state=0)),
    ("forest", RandomForestRegressor(n_estimators=3, random_state=0)),
]


def default_members(of_classes: bool) -> Members:
    """Return the members of a committee that is given none: a forest and a ridge on ranks."""
    if of_classes:
        return [("forest", RandomForestClassifier(300)), ("ridge", RankRidgeClassifier())]
    forest = RandomForestRegressor(300, max_features=1 / 3)
    return [("forest", forest), ("ridge", RankRidgeRegressor())]


def weights_of(given: Any, names: list[str], what: str) -> Floats:
    """Return the weight of each member, or view."""
    if given is None:
        return np.ones(len(names))
    try:
        if np.asarray(given).dtype.kind in "SU":  # which numpy would convert to numbers
            raise TypeError
        alpha = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        alpha = np.empty(0)
    if alpha.shape != (len(names),):
        raise PsephosError(
            f"weights must be one number for each of the {len(names)} {what} "
            f"({', '.join(names)}); got {given!r}."
        )
    if not (np.isfinite(alpha).all() and (alpha >= 0).all() and (alpha > 0).any()):
        raise PsephosError(
            f"weights must be finite numbers of at least 0, one of them above 0; got {given!r}."
        )
    return within_range(alpha)


def within_range(weights: Floats) -> Floats:
    """Return weights divided by a power of two, if their sums and products would overflow."""
    most = float(weights.max())
    if 1.0 / GREATEST <= most <= GREATEST:
        return weights
    return np.ldexp(weights, -int(np.frexp(most)[1]))
