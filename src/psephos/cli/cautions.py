"""Cautions on the table of a command: those that stop it, with remedies, and those only printed."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from psephos._errors import Complaints, PsephosError
from psephos.cli.words import repeated, say

if TYPE_CHECKING:
    from psephos.cautions import Caution, Cautions
    from psephos.protocol import DataTable, Protocol

#: Cautions that never stop a command, and recommend to leave something out.
ADVISED = ("FD001", "FD007", "FD009", "FD010", "FD012", "FD033")

accept_option = click.option(
    "--accept",
    multiple=True,
    metavar="CODE",
    callback=lambda _context, _option, codes: tuple(code.upper() for code in codes),
    help="Accept a caution that would stop the command, such as FD004 (docs/cautions.md); "
    "repeatable. It is recorded with the study.",
)


def read_whole(
    path: Path, roles: dict[str, Any], command: str, accepted: Sequence[str] = ()
) -> "DataTable":
    """Read a table; raise a PsephosError that lists all that is wrong with it.

    The table is read again with the remedies of the first errors, so that later errors, and
    cautions, are in the same message.
    """
    from psephos.protocol import read_table

    wrong, known, roles = Complaints(), dict[tuple[str, str], None](), dict(roles)
    while True:
        try:
            data = read_table(path, **roles)
        except PsephosError as error:
            if not with_remedies(roles, error.parts or (error,), known, wrong):
                wrong.refuse()
        else:
            if not known:
                return data
            settled = settling(data.cautions(), command, accepted)
            for one in settled:
                wrong.add(PsephosError(str(one)))
            wrong.refuse(options_of(settled, ids=data.ids is not None))


def with_remedies(
    roles: dict[str, Any], errors: Sequence[PsephosError], known: dict[tuple[str, str], None],
    wrong: Complaints,
) -> bool:  # fmt: skip
    """Add the remedies of errors to the values of options, and the errors to `wrong`.

    If the last row is a total, which may cause other errors, only that row is left out. Return
    whether an option was added that is not `known`.
    """
    last = [
        one for one in errors if ("--skip-last", "1") in one.options and roles["skip_last"] is None
    ]
    fresh = dict[tuple[str, str], None]()
    for error in last or errors:
        wrong.add(error)
        fresh |= dict.fromkeys(pair for pair in error.options if pair not in known)
    known.update(fresh)
    for flag, value in fresh:
        name = flag[2:].replace("-", "_")
        several = isinstance(roles[name], tuple)
        whole = int(value) if name == "skip_last" else value
        roles[name] = (*roles[name], value) if several else whole
    return bool(fresh)


def settling(found: "Cautions", command: str, accepted: Sequence[str] = ()) -> "Sequence[Caution]":
    """Return the cautions that stop a command, and, if there are any, those that advise options."""
    refused = found.refused(command, accepted)
    return [
        one for one in found
        if one in refused or (refused and one.code in ADVISED and one.code not in accepted)
    ]  # fmt: skip


def options_of(found: "Sequence[Caution]", *, ids: bool) -> list[tuple[str, str]]:
    """Return the command-line options, with values, that resolve cautions.

    The first column that names rows becomes the id (numbers before words, FD002), unless there is
    one (`ids`), and the first column of subjects becomes the group.
    """
    pairs = [pair for one in found for pair in one.remedy]
    order = sorted(found, key=lambda one: one.code == "FD002")
    named = [value for one in order for flag, value in one.remedy if flag == "--id"]
    apart = [("--id", name) for name in named[:1] if not ids]
    apart += [pair for pair in pairs if pair[0] == "--group"][:1]
    gone = {value.rpartition("=")[0] if "=*" in value else value for _, value in apart}
    rest = [("--drop" if flag == "--id" else flag, value) for flag, value in pairs]
    kept = [one for one in rest if one[0] != "--group" and one not in {("--drop", v) for v in gone}]
    return list(dict.fromkeys([*apart, *kept]))


def settle(
    table: "DataTable", command: str, accepted: Sequence[str], plan: "Protocol | None" = None
) -> tuple[str, ...]:
    """Print the cautions on a DataTable; raise PsephosError for those that stop the command.

    If the table cannot be divided into the folds of a `plan`, the message says so, and the
    suggested command has as many folds as possible. Return the accepted cautions, by code and name.
    """
    from psephos.cautions.registry import known_codes
    from psephos.protocol.evaluation.splits import outer_splits

    found = table.cautions(plan.folds) if plan else table.cautions()
    refused = found.refused(command, known_codes(accepted))
    if refused:
        words: list[str] = ["psephos", *click.get_current_context().find_root().meta["words"]]
        settled = settling(found, command, known_codes(accepted))
        wrong = Complaints()
        with wrong.gather():
            if plan:
                outer_splits(table, plan, 0)
        folds = [pair for error in wrong.found for pair in error.options]
        again = repeated(words, [*options_of(settled, ids=table.ids is not None), *folds])
        insisting = repeated(words, [*(("--accept", one.code) for one in refused), *folds])
        lines = [f"{table.dataset!r} must be corrected before a fit:", *map(str, refused)]
        if advice := [str(one) for one in settled if one not in refused]:
            lines += ["Advice, which the command below takes:", *advice]
        lines += [f"Also, {error}" for error in wrong.found]
        if again != words:
            lines.append(f"Repeat with:  {shlex.join(again)}")
        lines.append(f"To continue anyway:  {shlex.join(insisting)}")
        raise PsephosError("\n".join(lines))
    for one in found:
        say(f"{one}" + (" Accepted (--accept)." if one.code in accepted else ""))
    return found.accepted(accepted)
