"""The library's own contract on every estimator."""

from sklearn.base import is_classifier, is_regressor

from psephos.registry import estimator_classes
from psephos.testing import Case, parametrize_with_contract, small_settings

SETTINGS = small_settings()
NUMBERS = {n for n, e in SETTINGS.items() if is_regressor(e)}
CLASSES = SETTINGS.keys() - NUMBERS
MORE = {n for n in CLASSES if not SETTINGS[n].binary_only}
OWN = {n for n in CLASSES if getattr(SETTINGS[n], "estimator", None) is None}

DRAWN = "rows are drawn, and from other rows"
NOT_REPEATED = {
    "adaboost-held-out": DRAWN,
    "samba-held-out": DRAWN,
    "samba-anchors": DRAWN,
    "compressed-samba": DRAWN,
    "compressed-samba-near": DRAWN,
    "gradient-held-out": DRAWN,
    "gradient-sampled": DRAWN,
    "newton-held-out": DRAWN,
    "soft-boosting-held-out": DRAWN,
    "newton-sampled": DRAWN,
    "c45-windows": DRAWN,
    "adaboost-trees": "scikit-learn's tree decides near-ties by rounding, which weights change",
}


FOLDED = ("swag", "stacking", "cascade", "multi-view-stacked", "ensemble", "bagging")


def case(name, **kwargs):
    drawn = DRAWN if name.startswith(FOLDED) else ""
    return Case(SETTINGS[name], no_repetition=NOT_REPEATED.get(name, drawn), **kwargs)


CASES = {name: case(name) for name in sorted(CLASSES)}
CASES |= {f"{name}, three classes": case(name, n_classes=3) for name in sorted(MORE)}
CASES |= {f"{name}, missing": case(name, missing=0.2) for name in sorted(OWN)}
CASES |= {name: case(name, n_classes=0) for name in sorted(NUMBERS)}
CASES |= {f"{name}, missing": case(name, n_classes=0, missing=0.2) for name in sorted(NUMBERS)}


@parametrize_with_contract(CASES)
def test_contract(check):
    check()


def test_every_estimator_has_a_small_setting():
    covered = {type(estimator).__name__ for estimator in SETTINGS.values()}
    assert covered == set(estimator_classes())
    assert all(is_classifier(e) or is_regressor(e) for e in SETTINGS.values())
