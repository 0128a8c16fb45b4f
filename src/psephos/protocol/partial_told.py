"""What is told of a comparison on labels that are partly recorded, before it and after."""

from collections.abc import Mapping, Sequence
from typing import Any

from psephos._errors import PsephosError
from psephos.contender import Contender
from psephos.protocol.models import contenders, default_models, known_models
from psephos.protocol.tables import DataTable

__all__ = ["doubtful_priors", "partial_about", "partial_contenders", "refuted_records"]


def partial_contenders(
    models: Sequence[str | Contender] | None, table: DataTable, n_told: int
) -> list[Contender]:
    """Return the contenders that `models` names, by default those for the kind of target.

    Where labels are partly recorded, the default has besides the models that take rows without a
    label, as far as these have the records they need.

    Raises
    ------
    PsephosError
        Of `contenders`; or if a model that is named needs records of both classes, and there are
        those of one.
    """
    partial = table.partial
    if partial is not None and models is None:
        models = [*default_models(), *_taking(both=not partial.one_class)]
    named = contenders(models, multilabel=table.multilabel, n_told=n_told)
    if partial is None or not partial.one_class:
        return named
    unfit = [one.name for one in named if one.both_recorded]
    if unfit and (list(models or ()) == ["all"] or models == "all"):
        return [one for one in named if not one.both_recorded]
    if unfit:
        raise PsephosError(
            f"{table.target_name!r} records {str(table.classes[partial.positive])!r} alone, and "
            f"{' and '.join(unfit)} cannot be fitted without records of both classes: leave out "
            f"{' and '.join(unfit)}; 'pu' learns from positives and cases without a label."
        )
    return named


def _taking(*, both: bool) -> list[str]:
    """Return the models that take rows without a label, and are no default otherwise."""
    every = known_models().values()
    taking = [one for one in every if one.partial_labels and not one.default and one.available]
    return [one.name for one in taking if both or not one.both_recorded]


def refuted_records(table: DataTable) -> list[str]:
    """Return what is to be said of records that count as right, and truly are wrong."""
    partial = table.partial
    wrong = 0 if partial is None else partial.contradicted(table.codes)
    if partial is None or not wrong:
        return []
    return [
        f"{wrong} of the {int((partial.codes == 1).sum())} cases recorded "
        f"{str(table.classes[partial.positive])!r}, which counts as right, truly are not: the "
        "measures that need no truth (PU-F, the interval of the accuracy) and models that trust "
        "these records are led astray; check --positive, or mend the records."
    ]


def _priors(finished: Sequence[tuple[Any, Mapping[str, Any]]]) -> dict[str, list[Any]]:
    """Return the entries of fits that used a class prior, by model."""
    found: dict[str, list[Any]] = {}
    for task, entry in finished:
        if entry.get("prior") is not None:
            found.setdefault(task.contender.name, []).append(entry)
    return found


def partial_about(
    table: DataTable, about: Mapping[str, Any], finished: Sequence[tuple[Any, Mapping[str, Any]]]
) -> dict[str, Any]:
    """Return what comparison.json says of partly recorded labels once all fits are done."""
    if table.partial is None:
        return {}
    return {"partial": {**about["partial"], "told": _prior_words(table, finished)}}


def _prior_words(table: DataTable, finished: Sequence[tuple[Any, Mapping[str, Any]]]) -> str:
    """Return a sentence on the class priors that models used; empty where none did."""
    each = {name: [one["prior"] for one in own] for name, own in _priors(finished).items()}
    if not each or table.partial is None:
        return ""
    positive = str(table.classes[table.partial.positive])
    what = f"The share of {positive!r} among cases without a label"
    if table.partial.prior is not None:
        return f"{what} was given as {table.partial.prior:g}, and used by {', '.join(each)}."
    told = [f"{name} {_between(own)}" for name, own in each.items()]
    return f"{what} was estimated in each fit: {', '.join(told)}."


def _between(shares: list[float]) -> str:
    least, most = (f"{one:.2g}" for one in (min(shares), max(shares)))
    return least if least == most else f"{least} to {most}"


def doubtful_priors(finished: Sequence[tuple[Any, Mapping[str, Any]]]) -> list[str]:
    """Return what is to be said of estimates of the class prior that say little."""
    words: list[str] = []
    for name, own in _priors(finished).items():
        bad = [one["prior"] for one in own if one["prior_doubtful"]]
        if bad:
            words.append(
                f"{name}: the class prior it estimated is doubtful in {len(bad)} of {len(own)} "
                f"fits ({_between(bad)} was used): it was clipped, or cases with a label are "
                "hardly told from those without. Answers depend on it. Give the share of positives "
                "among the cases without a label, if it is known: --prior (in Python prior=)."
            )
    return words
