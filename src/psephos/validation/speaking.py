"""Which voters can speak where columns are missing, and whether the model can answer at all."""

from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._files.near import shown
from psephos.validation.cohort import Cohort
from psephos.vote.names import plural
from psephos.vote.part import over_outputs, primary

__all__ = ["refuse_silence", "speaking", "speaking_words"]

_LISTED = 6
_ROWS = 256
STATES = ("all", "some", "none", "no column")


def refuse_silence(model: Any, cohort: Cohort) -> None:
    """Raise PsephosError, naming the columns, if the model cannot answer the cohort as it is."""
    vote, names = model.vote_, model.schema_.words().columns
    gaps = np.isnan(cohort.X)
    if not gaps.any():
        return
    row = gaps.any(axis=1).argmax()
    try:
        vote.score(cohort.X[gaps.any(axis=1)])
    except PsephosError as error:
        columns = list(cohort.lacking) or np.flatnonzero(gaps[row]).tolist()
        where = "the cohort lacks" if cohort.lacking else f"case {cohort.ids[int(row)]!r} lacks"
        more = f" and {len(columns) - _LISTED} more" if len(columns) > _LISTED else ""
        listed = ", ".join(shown(names[j]) for j in columns[:_LISTED]) + more
        raise PsephosError(
            f"{where} {listed}, which {type(model).__name__} cannot answer without: measure or "
            "fill the gaps, or validate a model that answers with what there is (swag with "
            "absent='vote', trees with surrogates)."
        ) from error


def speaking(model: Any, cohort: Cohort) -> dict[str, Any]:
    """Return who can speak: counts, and a table of the voters.

    A voter has all its columns, some, none, or reads no column; a surrogate's column is not one
    of its own. `share` is its mean share of the weight over the cohort.
    """
    vote, names = model.vote_, model.schema_.words().columns
    lacking = np.zeros(vote.n_features, dtype=bool)
    lacking[list(cohort.lacking)] = True
    usage: Any = primary(vote.voters).usage()
    reads = np.asarray(usage.sum(axis=1)).ravel().astype(int)
    lost = np.asarray(usage[:, lacking].sum(axis=1)).ravel().astype(int)
    state = np.where(reads == 0, 3, np.where(lost == 0, 0, np.where(lost < reads, 1, 2)))
    share = np.zeros(vote.n_voters)
    heard = np.zeros(vote.n_voters, dtype=bool)
    for start in range(0, len(cohort.X), _ROWS):
        sizes = np.abs(over_outputs(vote.output_shares(cohort.X[start : start + _ROWS])))
        total = sizes.sum(axis=1, keepdims=True)
        share += (sizes / np.where(total > 0, total, 1.0)).sum(axis=0) / len(cohort.X)
        heard |= (sizes > 0).any(axis=0)
    weighting: Any = vote.weighting
    table = {
        "voter": list(range(1, vote.n_voters + 1)),
        "columns": reads.tolist(),
        "missing": lost.tolist(),
        "has": [STATES[k] for k in state.tolist()],
        "share": share.tolist(),
        "heard": heard.tolist(),
    }
    weighed = weighting.columns
    return {
        "n_voters": vote.n_voters,
        "n_heard": int(heard.sum()),
        **{f"n_{word.replace(' ', '_')}": int((state == k).sum()) for k, word in enumerate(STATES)},
        **{
            f"share_{word.replace(' ', '_')}": float(share[state == k].sum())
            for k, word in enumerate(STATES)
        },
        "lacking": [names[j] for j in cohort.lacking],
        "weights_read": len(weighed),
        "weights_lack": int(lacking[weighed].sum()),
        "voters": table,
    }


def speaking_words(told: dict[str, Any]) -> list[str]:
    """Return who can speak, in sentences."""
    lacking: list[str] = told["lacking"]
    if not lacking:
        return ["every column that the model reads is in the cohort: all voters can speak."]
    more = f" and {len(lacking) - _LISTED} more" if len(lacking) > _LISTED else ""
    listed = ", ".join(lacking[:_LISTED]) + more
    lines = [
        f"{plural(len(lacking), 'column')} of the model without a value in the cohort: {listed}.",
        f"of {plural(told['n_voters'], 'voter')} {told['n_all']} have all their columns, "
        f"{told['n_some']} some, {told['n_none']} none; {told['n_heard']} had a weight. Those "
        f"without all have {100 * (told['share_some'] + told['share_none']):.0f} % of the weight: "
        "they answer by the model's rule for missing values.",
    ]
    if told["weights_lack"]:
        lines.append(
            f"the weights compare cases on {told['weights_read']} columns, {told['weights_lack']} "
            "of which are missing."
        )
    return lines
