"""psephos warm-up: every model is fitted and asked once, and an unknown name is a sentence."""

import re
import sys

import numpy as np

from psephos import C45Classifier
from psephos.models.warming import warm_up


def test_a_model_is_warmed_and_its_seconds_are_told(call):
    told = call("warm-up", "--model", "c45")
    assert told.exit_code == 0, told.output
    assert re.fullmatch(r"c45 +\d+\.\d s\nready +\d+\.\d s\n", told.stdout)


def test_an_unknown_model_is_one_sentence(call):
    told = call("warm-up", "--model", "c46")
    assert told.exit_code == 2
    assert "got 'c46'" in told.stderr


def test_what_a_fit_of_the_usual_kind_needs_is_warmed():
    """A fit with the defaults, of two or three classes, compiles nothing more."""
    list(warm_up("c45"))
    known = signatures()
    assert any(known.values())
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    C45Classifier().fit(X, y).explain(X[:2]).columns()
    assert signatures() == known


def signatures():
    """Return what is compiled of every kernel."""
    return {
        f"{name}.{key}": list(kernel.signatures)
        for name, module in list(sys.modules.items())
        if name.startswith("psephos.kernels.")
        for key, kernel in vars(module).items()
        if hasattr(kernel, "signatures")
    }
