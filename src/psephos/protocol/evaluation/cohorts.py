"""Test parts from a column of cohorts (clinics, batches): each cohort once, or one only."""

from collections.abc import Callable

import numpy as np

from psephos._errors import Complaints, PsephosError
from psephos._types import Indices
from psephos.protocol.tables.roles import Cohorts
from psephos.protocol.tables.table import DataTable

Rows = Indices
Split = tuple[Rows, Rows]


def cohort_splits(
    table: DataTable, cohorts: Cohorts, check_training: Callable[[Rows], None]
) -> list[Split]:
    """Return a split for each tested cohort: training part all other rows, test part its own.

    Raises
    ------
    PsephosError
        If groups are the cohorts, or are on both sides of a split; or naming all cohorts that
        cannot be test parts, or whose other rows cannot be training parts.
    """
    splits, wrong, groups = list[Split](), Complaints(), table.groups
    if groups is not None and cohorts.only is None:
        each = [cohorts.of_row.tolist(), groups.tolist()]
        if len({len(set(one)) for one in [*each, zip(*each, strict=True)]}) == 1:
            raise PsephosError(
                f"the groups ({table.group_name}) are the cohorts of {cohorts.name!r} "
                "(--leave-out), which are on one side of a split anyway: leave --group (groups=) "
                "out, or name a finer grouping, such as the patient."
            )
    for one in cohorts.tested:
        train, test = (np.flatnonzero((cohorts.of_row == one) == k) for k in (False, True))
        where = f"the rows where {cohorts.name!r} is {one!r} (--leave-out)"
        if groups is not None and len(both := np.intersect1d(groups[train], groups[test])):
            raise PsephosError(
                f"{table.group_name!r} {str(both[0])!r} is in and outside {where}: rows of one "
                "group must be on one side. Leave such rows out, or name another column."
            )
        with wrong.gather():
            if why := _cannot_be_tested(table, train, test):
                raise PsephosError(
                    f"{where} {why}: leave these rows out, join cohorts, or name one that is "
                    "tested (COLUMN=VALUE)."
                )
            check_training(train)
        splits.append((train, test))
    wrong.refuse()
    return splits


def _cannot_be_tested(table: DataTable, train: Rows, test: Rows) -> str:
    """Return why rows cannot be the test part; '' if they can."""
    if table.kind == "numbers":
        return "are a single row, for which R² is not defined" if len(test) < 2 else ""
    if table.kind != "classes":
        return ""
    for part, why in (
        (test, "have no case of class {!r}, which is measured there"),
        (train, "hold all cases of class {!r}, which then cannot be learnt"),
    ):
        for label in np.setdiff1d(table.y, table.y[part])[:1]:
            return why.format(str(label))
    return ""
