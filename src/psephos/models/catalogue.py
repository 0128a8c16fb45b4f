"""The models of the library as a table, generated from their anatomy."""

from psephos.base import estimator_classes

__all__ = ["catalogue", "markdown"]


def catalogue() -> list[dict[str, str]]:
    """Return one row per estimator: model, voters, weights, read-out, found by, summary."""
    return [
        {
            "model": name,
            "voters": ", ".join(cls.anatomy.voters),
            "weights": cls.anatomy.weighting,
            "read-out": cls.anatomy.readout,
            "found by": cls.anatomy.found_by,
            "summary": (cls.__doc__ or "").strip().splitlines()[0],
        }
        for name, cls in sorted(estimator_classes().items())
    ]


def markdown() -> str:
    """Return the catalogue as the README's table."""
    keys = ("model", "voters", "weights", "read-out", "found by")
    lines = ["| " + " | ".join(keys) + " |", "|" + "---|" * len(keys)]
    for row in catalogue():
        cells = [f"`{row[k]}`" if k == "model" else row[k] for k in keys]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
