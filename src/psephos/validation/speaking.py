"""Which voters can speak where columns are missing, and whether the model can answer at all."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.files.near import shown
from psephos.validation.cohort import Cohort
from psephos.vote.names import listed, plural
from psephos.vote.part import over_outputs, primary

_ROWS = 256
ABSENT = ("missing", "silent")  # what may be done about columns that a cohort lacks
STATES = ("all", "some", "none", "no column")


def refuse_silence(model: Any, vote: Any, cohort: Cohort) -> None:
    """Raise PsephosError, naming the columns, if the vote cannot answer the cohort as it is."""
    names = model.schema_.words().columns
    gaps = np.isnan(cohort.X)
    if not gaps.any():
        return
    row = gaps.any(axis=1).argmax()
    try:
        vote.score(cohort.X[gaps.any(axis=1)])
    except PsephosError as error:
        columns = list(cohort.lacking) or np.flatnonzero(gaps[row]).tolist()
        where = "the cohort lacks" if cohort.lacking else f"case {cohort.ids[int(row)]!r} lacks"
        raise PsephosError(
            f"{where} {listed([shown(names[j]) for j in columns])}, which "
            f"{type(model).__name__} cannot answer without: measure or "
            "fill the gaps, or validate a model that answers with what there is (swag with "
            "absent='vote', trees with surrogates)."
        ) from error


def silenced(model: Any, cohort: Cohort) -> Any:
    """Return the vote of the voters that have all columns of their own, and those that read none.

    Raises
    ------
    PsephosError
        If no voter that reads a column is left.
    """
    vote = model.vote_
    _, reads, lost = _lost(vote, cohort)
    kept = np.flatnonzero(lost == 0)
    if not (reads[kept] > 0).any():
        names = model.schema_.words().columns
        raise PsephosError(
            f"every voter of {type(model).__name__} reads a column that the cohort lacks ("
            f"{listed([names[j] for j in cohort.lacking])}): none could speak. --absent missing "
            "(absent='missing') has them answer by their rule for missing values."
        )
    return vote if len(kept) == vote.n_voters else vote.take(kept)


def _lost(vote: Any, cohort: Cohort) -> tuple[Any, Any, Any]:
    """Return which columns are lacking, (p,), and for each voter how many it reads and lacks."""
    lacking = np.zeros(vote.n_features, dtype=bool)
    lacking[list(cohort.lacking)] = True
    usage: Any = primary(vote.voters).usage()
    reads = np.asarray(usage.sum(axis=1)).ravel().astype(int)
    return lacking, reads, np.asarray(usage[:, lacking].sum(axis=1)).ravel().astype(int)


def speaking(model: Any, cohort: Cohort, absent: str) -> dict[str, Any]:
    """Return who can speak: counts, and a table of the voters.

    A voter has all its columns, some, none, or reads no column; a surrogate's column is not one
    of its own. `share` is its mean share of the weight over the cohort.
    """
    vote, names = model.vote_, model.schema_.words().columns
    lacking, reads, lost = _lost(vote, cohort)
    state = np.where(reads == 0, 3, np.where(lost == 0, 0, np.where(lost < reads, 1, 2)))
    kept = np.flatnonzero(lost == 0) if absent == "silent" else np.arange(vote.n_voters)
    share = np.zeros(vote.n_voters)
    share[kept] = _shares(vote.take(kept) if len(kept) < vote.n_voters else vote, cohort)
    table = {
        "voter": list(range(1, vote.n_voters + 1)),
        "columns": reads.tolist(),
        "missing": lost.tolist(),
        "has": [STATES[k] for k in state.tolist()],
        "share": share.tolist(),
    }
    weighed = vote.weighting.columns
    words = [word.replace(" ", "_") for word in STATES]
    return {
        "absent": absent,
        "n_voters": vote.n_voters,
        "n_heard": int((share > 0).sum()),
        **{f"n_{word}": int((state == k).sum()) for k, word in enumerate(words)},
        **{f"share_{word}": float(share[state == k].sum()) for k, word in enumerate(words)},
        "lacking": [names[j] for j in cohort.lacking],
        "weights_read": len(weighed),
        "weights_lack": int(lacking[weighed].sum()),
        "voters": table,
    }


def _shares(vote: Any, cohort: Cohort) -> NDArray[np.float64]:
    """Return each voter's mean share of the weight over the cohort."""
    share = np.zeros(vote.n_voters)
    for start in range(0, len(cohort.X), _ROWS):
        sizes = np.abs(over_outputs(vote.output_shares(cohort.X[start : start + _ROWS])))
        total = sizes.sum(axis=1, keepdims=True)
        share += (sizes / np.where(total > 0, total, 1.0)).sum(axis=0) / len(cohort.X)
    return share


def speaking_words(told: dict[str, Any]) -> list[str]:
    """Return who can speak, in sentences."""
    lacking: list[str] = told["lacking"]
    if not lacking:
        return ["every column that the model reads is in the cohort: all voters can speak."]
    how = "left out of the vote" if told["absent"] == "silent" else "in the vote"
    without = told["n_some"] + told["n_none"]
    lines = [
        f"{plural(len(lacking), 'column')} of the model without a value in the cohort: "
        f"{listed(lacking)}.",
        f"of {plural(told['n_voters'], 'voter')} {told['n_all']} have all their columns, "
        f"{told['n_some']} some, {told['n_none']} none"
        + (f"; {told['n_no_column']} read none" if told["n_no_column"] else "")
        + f". Those that lack some or all are {how}.",
    ]
    part = 100 * (told["share_some"] + told["share_none"])
    if without and told["absent"] == "missing" and part == 0:
        lines.append("they have no weight: the model asks those whose columns were measured.")
    elif without and told["absent"] == "missing":
        lines.append(
            f"they have {part:.0f} % of the weight and answer by the model's rule for missing "
            "values; a voter without any of its columns says the same of every case. "
            "--absent silent (absent='silent') leaves them out."
        )
    if told["weights_lack"]:
        lines.append(
            f"the weights compare cases on {told['weights_read']} columns, {told['weights_lack']} "
            "of which are missing."
        )
    return lines
