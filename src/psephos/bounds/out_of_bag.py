"""Which rows a bag or forest left out of each voter, where that makes them as good as held out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.bounds.requirements import Asked, kept_and_given

__all__ = ["OUT_OF_BAG", "out_of_bag_rows"]

OUT_OF_BAG = (
    "no voter depends on the rows left out of it (a forest of this library bins a column of more "
    "than max_bins different values by all rows, their answers unseen)"
)


def out_of_bag_rows(one: Asked, X: Any, y: Any) -> NDArray[np.bool_]:
    """Return which rows each voter was not grown on, (T, n).

    Raises
    ------
    PsephosError
        If the model does not know, if these are not the rows of its fit, or if rows were not drawn
        alike: by weights, or with copies of a row drawn together. Then rows left out are no sample
        of what new rows come from.
    """
    ask: Any = getattr(one.model, "left_out", None)
    if ask is None:
        raise one.refuse(
            "it does not know which rows each voter was grown on: only fitted bags and forests "
            "(BaggingClassifier, RandomForestClassifier with bootstrap=True) do. Give held-out "
            "rows, and rows='held-out'."
        )
    out = ask(X, y)
    rows = kept_and_given(one)
    if out is None or (rows is not None and not set(rows[0]) <= set(rows[1])):
        raise one.refuse(
            "its voters were not grown on bootstrap samples of these rows: set bootstrap=True, and "
            "give the X and y of fit (fitted without sample_weight)."
        )
    _refuse_unlike(one, X, y)
    return np.asarray(out, dtype=np.bool_)


def _refuse_unlike(one: Asked, X: Any, y: Any) -> None:
    """Raise PsephosError if some rows were drawn oftener than others, by the causes there are."""
    weight = one.model.read(X, y)[2]
    causes: list[str] = []
    mended: list[str] = []
    if len(one.model.memory_.mass) != len(one.y):
        causes.append("copies of a row are drawn together")
        mended.append("on distinct rows")
    if np.ptp(weight) > 1e-12 * weight.max():
        causes.append(f"class_weight={one.model.class_weight!r} draws some classes oftener")
        mended.append("with class_weight=None")
    if causes:
        raise one.refuse(
            f"rows were not drawn alike: {' and '.join(causes)}, so that rows left out are no fair "
            f"sample. Fit it {' and '.join(mended)}, or give held-out rows."
        )
