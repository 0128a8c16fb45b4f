"""The answers through the map that a recipe's held-out answers justify: cross-fitted, monotone."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.protocol.evaluation.splits import seed_of
from psephos.recalibrating import cross_fitted
from psephos.report.study.answers import Answers
from psephos.report.study.folder import Folder
from psephos.vote.plain import to_plain
from psephos.vote.recalibration import Recalibration


def cross_fitted_answers(
    folder: Folder, answers: Answers, model: str, found: Recalibration | None
) -> NDArray[np.float64] | None:
    """Return each case's held-out answer through a map that was fitted on other cases.

    The map is of the kind that the model's file has. Of a case that was held out several times it
    is the mean answer that goes through.

    Parameters
    ----------
    found : Recalibration or None
        That of the model's file.

    Returns
    -------
    chances : ndarray of shape (m, K) or None
        NaN where there is no answer; None where there is no map, or none can be judged: its cases
        are in groups that were not kept.
    """
    known = answers.known(model)
    if found is None:
        return None
    groups: Any = answers.rows[known]
    if folder.about.get("groups"):
        if folder.cases is None or folder.cases.groups is None:
            return None
        groups = np.array(folder.cases.groups)[groups]
    seed = seed_of(int(folder.about.get("random_state") or 0), "recalibration", model)
    chances = np.full_like(answers.chances[model], np.nan)
    try:
        chances[known], _ = cross_fitted(
            answers.chances[model][known], answers.truth[known], groups,
            method=found.method, seed=seed,
        )  # fmt: skip
    except PsephosError:  # too few cases of a class
        return None
    return chances


def maps_section(
    maps: Mapping[str, Recalibration | None], judged: Sequence[str], kept: bool
) -> dict[str, Any]:
    """Return the maps that the page offers: what each did, in words, and the map as plain data.

    Parameters
    ----------
    judged : sequence of str
        The models whose held-out answers the page has through a map, too.
    kept : bool
        Whether the page carries cases: the points of an isotonic map are answers of some.
    """
    return {
        key: {"words": _words(found), "map": to_plain(found.calibration)}
        for key, found in maps.items()
        if found is not None and key in judged and (kept or found.method == "sigmoid")
    }


def _words(found: Recalibration) -> str:
    words = found.words()
    return f"{words[0].upper()}{words[1:]}."
