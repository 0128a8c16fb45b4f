"""A pickle whose arrays have the other byte order is answered as the model itself is."""

import copyreg
import io
import pickle

import joblib
import numpy as np
import pytest
from joblib.numpy_pickle import NumpyPickler
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_regressor
from small_settings import small_settings

from psephos.testing import small_table

NAMES = [
    "adaboost", "samba", "random-forest", "random-forest-regressor", "gradient-boosting",
    "newton-boosting", "cart", "c45", "bagging", "voting", "proset", "ml-knn", "rank-ridge",
]  # fmt: skip


def _swapped(array):
    return array.byteswap().view(array.dtype.newbyteorder())


def _pickled(model):
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.dispatch_table = copyreg.dispatch_table.copy()
    pickler.dispatch_table[np.ndarray] = lambda a: (
        a.__reduce__() if a.dtype.kind == "O" else _swapped(a).__reduce__()
    )
    pickler.dump(model)
    return pickle.loads(file.getvalue())


class _Pickler(NumpyPickler):
    def save(self, obj):
        swap = isinstance(obj, np.ndarray) and obj.dtype.kind != "O"
        super().save(_swapped(obj) if swap else obj)


def _by_joblib(model):
    file = io.BytesIO()
    _Pickler(file).dump(model)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_the_model(name):
    model = clone(small_settings()[name])
    X, y = small_table(0 if is_regressor(model) else 2)
    model.fit(X, y)
    for again in (_pickled(model), _by_joblib(model)):
        assert_array_equal(again.predict(X), model.predict(X))
        if hasattr(model, "predict_proba"):
            assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.describe() == model.describe()
        assert str(again.explain(X[:2])) == str(model.explain(X[:2]))
