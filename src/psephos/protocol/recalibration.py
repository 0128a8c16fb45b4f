"""For each saved model the map that the held-out answers of its recipe justify."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.protocol.splits import seed_of
from psephos.protocol.tables import DataTable
from psephos.recalibrating import recalibration_of
from psephos.vote.recalibration import Recalibration

__all__ = ["recalibrate_all"]


def recalibrate_all(
    models: Mapping[str, Any],
    finished: Sequence[tuple[Any, Mapping[str, Any]]],
    table: DataTable,
    random_state: int,
) -> None:
    """Set `recalibration_` of each model: by the held-out answers of its recipe, where it can be.

    None for models of several labels, of partly recorded labels, that have a calibration of their
    own, or of which too few cases of a class were answered.
    """
    for name, model in models.items():
        model.recalibration_ = None
        plain = model.vote_.readout.calibration is None
        if plain and not table.multilabel and table.partial is None:
            model.recalibration_ = _of(name, finished, table, random_state)


def _of(
    name: str,
    finished: Sequence[tuple[Any, Mapping[str, Any]]],
    table: DataTable,
    random_state: int,
) -> Recalibration | None:
    done = [
        (task.test, entry["proba"])
        for task, entry in finished
        if task.contender.name == name and task.split is not None and entry["status"] == "ok"
    ]
    if not done:
        return None
    rows = np.concatenate([test for test, _ in done])
    chances = np.concatenate([np.asarray(proba, dtype=np.float64) for _, proba in done])
    groups = None if table.groups is None else table.groups[rows]
    seed = seed_of(random_state, "recalibration", name)
    try:
        return recalibration_of(chances, table.codes[rows], rows, groups=groups, seed=seed)
    except PsephosError:  # too few cases of a class
        return None
