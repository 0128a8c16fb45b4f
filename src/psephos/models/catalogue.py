"""The library's models as a table, generated from their anatomy."""

from sklearn.base import is_regressor

from psephos.registry import estimator_classes, model_names

_CLASSES = ("classes", "classes, labels")  # one label per case only, or several as well


def catalogue() -> list[dict[str, str]]:
    """Return one row per estimator: name, class, target, parts of the vote, and a summary."""
    names = {kind: name for name, kind in model_names().items()}
    return [
        {
            "name": names[name],
            "model": name,
            "target": "numbers" if is_regressor(cls()) else _CLASSES[getattr(cls, "multilabel", 0)],
            "voters": ", ".join(cls.anatomy.voters),
            "weights": cls.anatomy.weighting,
            "read-out": cls.anatomy.readout,
            "found by": cls.anatomy.found_by,
            "summary": next(iter((cls.__doc__ or "").strip().splitlines()), ""),
        }
        for name, cls in sorted(estimator_classes().items())
    ]


def markdown() -> str:
    """Return the catalogue as the table of docs/models.md."""
    keys = ("model", "name", "voters", "weights", "read-out", "found by")
    lines = ["| " + " | ".join(keys) + " |", "|" + "---|" * len(keys)]
    for row in catalogue():
        cells = [f"`{row[k]}`" if k in ("model", "name") else row[k] for k in keys]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
