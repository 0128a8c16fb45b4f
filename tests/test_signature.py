"""Parameters declared once: constructors, docstrings, constraints and what is fitted."""

import inspect
import pickle
import re
from typing import Any, ClassVar

import pytest
from sklearn.base import BaseEstimator, clone

from psephos._errors import PsephosError
from psephos.estimator.params import Flag, Interval, Seed, check_params
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.registry import estimator_classes
from psephos.supervision import KLIEP, ULSIF, ElkanNotoPrior

EVERY = [*estimator_classes().values(), ULSIF, KLIEP, ElkanNotoPrior]


@parameters
class Trees(BaseEstimator):
    """Any trees.

    Parameters
    ----------
    size : int
        How many.
    low, high : float
        Limits.
    seed : int
        Of draws.

    Attributes
    ----------
    a_, b_ : int
        Two of them.
    """

    constraints: ClassVar[dict[str, Any]] = {"size": Interval(1, whole=True)}

    size: int = 3
    _: KW_ONLY
    low: float = 0.0
    high: float = 1.0
    whole: bool = False
    random_state: Any = None
    a_: int = fitted()


@parameters
class Stumps(Trees):
    """Trees of one cut.

    They are short.

    Parameters
    ----------
    high : float, default=7
        The upper one.
    first : str
        Before all others.
    after : str
        Behind `high`.

    Notes
    -----
    Nothing.
    """

    _: KW_ONLY
    first: str = "no"
    high: float = 2.0
    after: str = "yes"
    b_: float = fitted()


def test_the_constructor_has_fields_in_their_places():
    assert str(inspect.signature(Stumps)) == (
        "(size: int = 3, *, first: str = 'no', low: float = 0.0, high: float = 2.0, "
        "after: str = 'yes', whole: bool = False, random_state: Any = None) -> None"
    )
    made = Stumps(4, after="no")
    assert vars(made) == {
        "size": 4, "first": "no", "low": 0.0, "high": 2.0, "after": "no", "whole": False,
        "random_state": None,
    }  # fmt: skip
    assert repr(made) == "Stumps(after='no', size=4)"
    assert Trees().high == 1.0


def test_the_class_itself_has_no_defaults_and_is_no_dataclass():
    assert not hasattr(Stumps, "high")
    assert not hasattr(Stumps, "b_")
    assert not hasattr(Stumps, "__dataclass_fields__")


def test_wrong_arguments_are_named_as_of_any_constructor():
    with pytest.raises(TypeError, match=r"Stumps.__init__\(\) got an unexpected .* 'depth'"):
        Stumps(depth=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes from 1 to 2 positional arguments but 3 were given"):
        Stumps(1, 2)  # type: ignore[misc]


def test_docstrings_are_completed_from_those_of_the_bases():
    written = inspect.getdoc(Stumps) or ""
    assert written.startswith("Trees of one cut.\n\nThey are short.\n\nParameters\n----------\n")
    body = written.partition("----------\n")[2]
    assert body == (
        "size : int, default=3\n    How many.\n"
        "first : str, default='no'\n    Before all others.\n"
        "low : float, default=0.0\n    Limits.\n"
        "high : float, default=2.0\n    The upper one.\n"
        "after : str, default='yes'\n    Behind `high`.\n\n"
        "Attributes\n----------\na_, b_ : int\n    Two of them.\n\n"
        "Notes\n-----\nNothing."
    )
    assert "low, high : float, default=0.0, 1.0\n    Limits." in (Trees.__doc__ or "")


def test_constraints_and_extras_are_those_of_the_bases_and_what_needs_no_word():
    assert Stumps.constraints == {
        "whole": Flag(), "random_state": Seed(), "size": Interval(1, whole=True),
    }  # fmt: skip
    assert Stumps.extras == ("a_", "b_")


def test_a_class_may_write_its_own_constructor():
    class Own(Stumps):
        def __init__(self, size: int = 5) -> None:
            self.size = size

    assert Own().get_params() == {"size": 5}
    check_params(Own(), Own.constraints)  # those of the bases' other parameters do not matter
    with pytest.raises(PsephosError, match=r"Own: parameter 'size' must be .* at least 1"):
        check_params(Own(0), Own.constraints)


def test_without_docstrings_the_constructor_is_the_same():
    @parameters
    class Bare:
        size: int = 1

    assert Bare().size == 1
    assert Bare.__doc__ is None


@pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.__name__)
def test_every_parameter_is_documented_with_its_default(cls):
    """In the order of the constructor, and each with a description."""
    body = re.split(r"\n\n?(?=\w[\w ]*\n-{3,}\n)", inspect.getdoc(cls) or "")
    sections = dict(part.split("\n", 1) for part in body[1:])
    found = []
    lines = sections["Parameters"].split("\n")[1:]
    given = inspect.signature(cls).parameters
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith(" ") and line:
            names, kind = line.split(" : ")
            names = names.split(", ")
            assert after.startswith("    "), f"{names} has no description"
            defaults = [repr(given[name].default) for name in names]
            shown = defaults[0] if len(set(defaults)) == 1 else ", ".join(defaults)
            assert kind.endswith(f"default={shown}")
            found += names
    assert found == list(given)
    attributes = [line for line in sections["Attributes"].split("\n")[1:] if line[:1].strip()]
    told = {name for line in attributes for name in line.split(" : ")[0].split(", ")}
    assert set(getattr(cls, "extras", ())) <= told
    following = [*sections["Attributes"].split("\n")[2:], ""]
    for line, after in zip(sections["Attributes"].split("\n")[1:], following, strict=True):
        assert line.startswith(" ") or not line or after.startswith("    "), (
            f"{line}: not described"
        )


@pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.__name__)
def test_every_estimator_is_cloned_and_pickled(cls):
    model = cls()
    assert repr(pickle.loads(pickle.dumps(model))) == repr(clone(model)) == repr(model)
