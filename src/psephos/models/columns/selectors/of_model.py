"""Columns by how much an estimator makes of them."""

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Estimator, Floats
from psephos.models.committees.fitting import Data, MemberTask, fit_all


def of_model(data: Data, estimator: Estimator) -> Floats:
    """Return (p,) importances of an estimator fitted on all columns, or sizes of its coefficients.

    Raises
    ------
    PsephosError
        If it has neither `feature_importances_` nor `coef_`.
    """
    model = fit_all(data, [MemberTask(estimator, (5,))])[0]
    p = data.X.shape[1]
    for name in ("feature_importances_", "coef_"):
        found = getattr(model, name, None)
        if found is not None and np.shape(found)[-1:] == (p,):
            return np.abs(np.asarray(found, dtype=np.float64)).reshape(-1, p).sum(axis=0)
    raise PsephosError(
        f"selector {type(estimator).__name__} says nothing of single columns once it is fitted: "
        "take an estimator with feature_importances_ or coef_, or 'blend'."
    )
