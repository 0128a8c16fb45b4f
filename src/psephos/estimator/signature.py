"""Constructor parameters declared once: as annotated fields, with the entries that document them.

The parameters of a recipe are fields of its class, as in a dataclass, and a class inherits those of
its bases::

    @parameters
    class Forest:
        '''Mixin of forests.

        Parameters
        ----------
        n_estimators : int
            Trees.
        max_depth : int
            Most cuts above a leaf; None for no limit.
        '''

        n_estimators: int = 100
        _: KW_ONLY
        max_depth: int | None = None


    @parameters
    class StumpForestClassifier(Forest, VoteClassifier):
        '''A forest of stumps.'''

        _: KW_ONLY
        max_depth: int | None = 1
        oob_score_: float = fitted()

The constructor only assigns: ``(n_estimators=100, *, max_depth=1)``. A recipe may write its own.
"""  # noqa: D214, D215  (the sections are the example's)

import inspect
import re
from dataclasses import KW_ONLY, MISSING, field, make_dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, dataclass_transform, get_origin

from psephos.estimator.params import ClassWeight, Constraint, Flag, Interval, Jobs, OneOf, Seed

__all__ = ["KW_ONLY", "fitted", "parameters"]

_Class = TypeVar("_Class", bound=type[Any])
_HEAD = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_FITTED: Any = object()
#: Constraints of parameters that mean the same in every recipe; a class may declare others.
_SAME: dict[str, Constraint] = {
    "class_weight": ClassWeight(),
    "learning_rate": Interval(0, open_low=True),
    "max_bin": Interval(2, 256, whole=True),
    "max_depth": OneOf((Interval(1, whole=True),), none=True),
    "max_iter": Interval(1, whole=True),
    "max_leaf_nodes": OneOf((Interval(2, whole=True),), none=True),
    "n_components": Interval(1, whole=True),
    "n_estimators": Interval(1, whole=True),
    "n_folds": Interval(2, whole=True),
    "n_iter_no_change": Interval(1, whole=True),
    "n_jobs": Jobs(),
    "n_samples": Interval(1, whole=True),
    "random_state": Seed(),
    "validation_fraction": OneOf((Interval(0, 1, open_low=True, open_high=True),), none=True),
    "verbose": OneOf((Flag(), Interval(0, whole=True))),
}


class _Parameter(NamedTuple):
    kind: Any
    default: Any
    keyword: bool


class _Entry(NamedTuple):
    """An entry of a docstring section for one or more names."""

    names: tuple[str, ...]
    kind: str
    lines: tuple[str, ...]


def fitted(*, init: Literal[False] = False) -> Any:
    """Mark a field as one of the `extras`, which `fit` sets and model files keep."""
    return _FITTED


@dataclass_transform(eq_default=False, field_specifiers=(fitted,))
def parameters(cls: _Class) -> _Class:
    """Make the constructor of a class from its fields and its bases', and complete its docstring.

    Fields after ``_: KW_ONLY`` are keyword-only. Redeclared fields of a base keep their position; a
    new field follows the one declared before it, or precedes the keyword-only parameters of the
    bases if it is the first. Missing parameters and attributes of the docstring are inserted from
    the bases; parameters have the order of the constructor, with their defaults.

    The `constraints` are completed by those of the bases, of boolean parameters, and of names that
    mean the same in every recipe, such as `n_estimators`. The `extras` are the `fitted` fields, the
    bases' first, unless the class declares them.
    """
    own: Any = cls
    own._parameters, found = _parameters_of(cls)
    if "extras" not in vars(cls):
        own.extras = (*getattr(cls, "extras", ()), *found)
    fields = [
        (name, one.kind, field(default=one.default, kw_only=one.keyword))
        for name, one in own._parameters.items()
    ]
    made: Any = make_dataclass("_", fields, repr=False, eq=False, namespace={"__doc__": ""})
    own.__init__ = made.__init__
    own.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
    own.__init__.__module__ = cls.__module__
    # scikit-learn reads it at each clone, and computing it takes longer than many fits
    own.__init__.__signature__ = inspect.signature(own.__init__)
    own.constraints = _constraints_of(cls)
    if cls.__doc__ is not None:  # under -OO
        cls.__doc__ = _completed(cls)
    return cls


def _parameters_of(cls: type[Any]) -> tuple[dict[str, _Parameter], list[str]]:
    """Return the parameters of the constructor in order, and the names of fitted fields.

    Defaults are removed from the class: they belong to the constructor.
    """
    fitted: list[str] = []
    found: dict[str, _Parameter] = {}
    for base in cls.__mro__[1:]:
        found |= {n: p for n, p in vars(base).get("_parameters", {}).items() if n not in found}
    order, keyword = list(found), False
    place = sum(not one.keyword for one in found.values())
    for name, kind in inspect.get_annotations(cls).items():
        if kind is KW_ONLY or get_origin(kind) is ClassVar:
            keyword = keyword or kind is KW_ONLY
            continue
        default = vars(cls).get(name, MISSING)
        if default is not MISSING:
            delattr(cls, name)
        if default is _FITTED:
            fitted.append(name)
            continue
        found[name] = _Parameter(kind, default, keyword)
        if name not in order:
            order.insert(place, name)
        place = order.index(name) + 1
    return {name: found[name] for name in order}, fitted


def _constraints_of(cls: type[Any]) -> dict[str, Constraint]:
    """Return the constraints that a class and its bases declare, and those implied by names."""
    found: dict[str, _Parameter] = vars(cls)["_parameters"]
    rules = {name: Flag() for name, one in found.items() if one.kind is bool}
    rules |= {name: rule for name, rule in _SAME.items() if name in found}
    for base in reversed(cls.__mro__):
        rules |= vars(base).get("constraints", {})
    return rules


def _completed(cls: type[Any]) -> str:
    """Return a class's docstring with the entries of all its parameters and attributes."""
    entries: dict[str, dict[str, _Entry]] = {"Parameters": {}, "Attributes": {}}
    for base in reversed(cls.__mro__):
        for head, body in _sections(base).items():
            if head in entries:
                entries[head] |= {name: one for one in _entries(body) for name in one.names}
    found: dict[str, _Parameter] = vars(cls)["_parameters"]
    given = {name: one for name in found if (one := entries["Parameters"].get(name))}
    sections = _sections(cls)
    made = {
        "": sections.pop(""),
        "Parameters": _text(given, {name: one.default for name, one in found.items()}),
        "Attributes": _text(entries["Attributes"], {}),
        **{head: body for head, body in sections.items() if head not in entries},
    }
    parts = [
        f"{head}\n{'-' * len(head)}\n{body}" if head else body
        for head, body in made.items()
        if body
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _sections(cls: type[Any]) -> dict[str, str]:
    """Return the sections of a class's own docstring; '' is the text before the first."""
    start, *rest = _HEAD.split(inspect.cleandoc(vars(cls).get("__doc__") or ""))
    return {"": start, **dict(zip(rest[::2], rest[1::2], strict=True))}


def _entries(body: str) -> list[_Entry]:
    """Return the entries of a section, without defaults at the end of their types."""
    found: list[_Entry] = []
    for line in body.strip("\n").split("\n"):
        if line.startswith(" ") or not line:
            found[-1] = found[-1]._replace(lines=(*found[-1].lines, line))
        else:
            names, _, kind = line.partition(" : ")
            found.append(_Entry(tuple(names.split(", ")), kind.partition(", default=")[0], ()))
    return found


def _text(entries: dict[str, _Entry], defaults: dict[str, Any]) -> str:
    """Return the text of a section: each entry once, with the defaults of its names."""
    lines: list[str] = []
    for one in dict.fromkeys(entries.values()):
        names = [name for name in one.names if entries.get(name) is one]
        given = [defaults[name] for name in names if defaults.get(name, MISSING) is not MISSING]
        given = given[:1] if all(value == given[0] for value in given) else given
        shown = f", default={', '.join(map(repr, given))}" if given else ""
        kind = f" : {one.kind}{shown}" if one.kind else ""
        lines += [", ".join(names) + kind, *one.lines]
    return "\n".join(lines)
