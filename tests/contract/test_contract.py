"""The library's own contract on every estimator."""

from sklearn.base import is_classifier

from psephos.base import estimator_classes
from psephos.testing import Case, parametrize_with_contract, small_settings

SETTINGS = small_settings()
OWN = {n: e for n, e in SETTINGS.items() if e.estimator is None}

DRAWN = "rows are drawn, and from other rows"
NOT_REPEATED = {
    "adaboost-held-out": DRAWN,
    "samba-held-out": DRAWN,
    "samba-anchors": DRAWN,
    "adaboost-trees": "scikit-learn's tree decides near-ties by rounding, which weights change",
}


def case(name, **kwargs):
    return Case(SETTINGS[name], no_repetition=NOT_REPEATED.get(name, ""), **kwargs)


CASES = {name: case(name) for name in SETTINGS}
CASES |= {f"{name}, three classes": case(name, n_classes=3) for name in SETTINGS}
CASES |= {f"{name}, missing": case(name, missing=0.2) for name in OWN}


@parametrize_with_contract(CASES)
def test_contract(check):
    check()


def test_every_estimator_has_a_small_setting():
    covered = {type(estimator).__name__ for estimator in SETTINGS.values()}
    assert covered == set(estimator_classes())
    assert all(is_classifier(estimator) for estimator in SETTINGS.values())
