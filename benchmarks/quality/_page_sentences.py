"""What each sentence of a study's page must say, by its numbers; imports no psephos."""

import re

import numpy as np
import pandas as pd
from _page_figures import delong, net_benefit, nogueira, obuchowski, wilson
from _page_rules import (
    ONE,
    SPAN,
    AtThreshold,
    N,
    between,
    error_values,
    has,
    plain,
    pooled_of,
    searched,
    side_of,
)
from scipy import stats


def _first(r, m, _):
    key = m.string.split(" reads ")[0]
    return [r.study.mean(key, "columns_used")[0]] if key in r.study.models else None


def _first_mean(r, m, _):
    key = m.string.split(" reads ")[0]
    return r.study.interval(key)[:3] if key in r.study.models else None


def _better(r, m, _):
    """Return how many models are better than a constant: computed once a study, as it is slow."""
    if "better" not in r.study.known:
        r.study.known["better"] = _count_better(r)
    return r.study.known["better"]


def _count_better(r):
    keys = [k for k in r.study.models if r.study.folds(k)["columns_used"].max() > 0]
    base = next(k for k in r.study.models if k in ("majority", "mean"))
    n = sum(r.study.p_permuted(k) * len(keys) <= 0.05 for k in keys)  # Bonferroni
    return [n, r.study.mean(base, r.study.measure)[0], None, len(keys)]


def _differs(r, m, _):
    head = next(t["text"] for t in r.page["texts"] if " reads " in t["text"])
    key, best = head.split(" reads ")[0], m.group(4)
    if key not in r.study.models or best not in r.study.models:
        return None
    own = r.study.mean(best, "columns_used")[0]
    return [*r.study.interval(key, best)[:3], None, own]


def _at_first(r, m, _):
    """The sentence of the first screen is of the model that it names."""
    r = r.first(m)
    (a, n, s, *si), (c, k, p, *ci), *_ = r.at.four()
    return [r.t, n - a, n, s, *si, k - c, k, p, *ci]


def _missed_words(r, m, _):
    (a, n, *_), (c, k, *_), (right, called, *_), _ = r.at.four()
    return [r.t, a, n, c, k, called, right]


def _of_several(r):
    """The first screen of several classes: right cases, and the class found least."""
    own = r.study.held_out(r.shown())
    called = own[[f"p_{c}" for c in r.study.classes]].to_numpy(float).argmax(axis=1)
    right = np.array(r.study.classes)[called] == own["truth"].to_numpy()
    sizes = {c: (int(right[own["truth"] == c].sum()), int((own["truth"] == c).sum()))
             for c in r.study.classes}  # fmt: skip
    k, n = min(sizes.values(), key=lambda one: one[0] / one[1])
    return [int(right.sum()), len(own), len(sizes), k, n, k / n, *wilson(k, n)]


def _cost(r, m):
    """'22 of 307 ill' beside 'misses', or '78 of 383 healthy' beside 'alarms'."""
    if not r.at:
        return None
    _, missed, alarms, _ = r.at.counts()
    mine = plain(m.group(3)) == r.positive
    n = int((r.at.truth == mine).sum())
    return [missed if mine else alarms, n]


def _area(r, m, _):
    if r.at.groups is None:
        return delong(r.at.truth, r.at.p)
    return obuchowski(r.at.truth, r.at.p, r.at.groups)


def _worth(r, m, _):
    """The widest range of thresholds at which acting is worth more, and the number of others."""
    grid, found = np.arange(1, 100) / 100, []
    for t in grid:
        one = net_benefit(r.at.truth, np.floor(r.at.p * 1e6 + 1e-3) >= round(t * 1e6), t)
        every = net_benefit(r.at.truth, np.ones(len(r.at.p), bool), t)
        found.append(one > max(every, 0) + ONE)
    edges = np.flatnonzero(np.diff([0, *np.array(found, int), 0]))
    pairs = [(grid[a], grid[b - 1]) for a, b in edges.reshape(-1, 2).tolist()]
    widest = max(pairs, key=lambda one: round(one[1] - one[0], 2), default=(None, None))
    return [*widest, None if m.group(3) is None else len(pairs) - 1]


def _importance(r, m, unit):
    starts = [n for n in (*r.wholes, *(r.study.table if has(r.study) else ()))
              if m.string.startswith(n)]  # fmt: skip
    name = r.column(unit)
    if not name:  # a line of the model in words, which is the one shown first
        r, name = r.of(r.shown()), r.whole(max(starts, key=len, default=""))
    if r.study.permuted is None or not name:
        return None
    return [r.study.moved(r.key, name)]


def _returns(r, m, unit):
    if not has(r.study) or not r.column(unit):
        return None
    chosen = r.study.chosen(r.key)
    at = list(r.study.table).index(r.column(unit))
    return [int(chosen[:, at].sum()), len(chosen)]


def _rises(r, m, unit):
    """Rank correlations with other columns."""
    if not has(r.study) or not r.column(unit) or not r.whole(m.group("name")):
        return None
    values = r.study.table[[r.column(unit), r.whole(m.group("name"))]].dropna()
    own = stats.spearmanr(values.iloc[:, 0], values.iloc[:, 1]).statistic
    return [None, own]


def _above(r, m, unit):
    """'Above it are 40 of 47 ALL and 2 of 25 AML', with the threshold of the table below."""
    name = r.column(unit)
    cuts = [row[0] for t in r.page["tables"] for row in t["rows"][1:]
            if name and r.whole(t["caption"].split(": ")[0]) == name
            and row[0].startswith(m.group(1).lower())]  # fmt: skip
    if not cuts or not has(r.study):
        return None
    own, y = side_of(r.study.table[name], cuts[0]), r.study.y.astype(str).to_numpy()
    found = [None]
    for c in (plain(m.group(4)), plain(m.group(7))):
        known = (y == c) & r.study.table[name].notna().to_numpy()
        found += [int((own & known).sum()), int(known.sum()), None]
    return found


def _times(r, m, _):
    chosen = r.study.chosen(r.key)
    times = chosen.sum(axis=0)
    own = nogueira(chosen)
    found = {"models": len(chosen), "columns": int((times > 0).sum()),
             "once": int((times == 1).sum()),
             "every": int((times == len(chosen)).sum())}  # fmt: skip
    return [found.get(k) for k in m.re.groupindex] if m.re.groupindex else own


def _like(r, m, _):
    """The held-out cases answered alike: as many in order of their answers, of these ends.

    Ends to two digits may be those of several runs of cases: then one with the printed interval.
    """
    at = AtThreshold(r.study, r.key, plain(m.group(2)), r.t)
    order, n, k = np.argsort(at.p, kind="stable"), int(m.group(1)), int(m.group(5))
    first, last = m.group(3), m.group(4) or m.group(3)
    found = []
    for start in range(len(order) - n + 1):
        own = order[start : start + n]
        ends = shown(at.p[own[0]]), shown(at.p[own[-1]])
        if ends == (first, last) and int(at.truth[own].sum()) == k:
            mine = np.isin(np.arange(len(at.p)), own)
            low, high = float(at.p[own[0]]), float(at.p[own[-1]])
            found.append([n, None, low, high, k, n, k / n, *at.interval(at.truth, mine)])
    if found:
        return next((f for f in found if tuple(map(shown, f[-2:])) == m.groups()[7:9]), found[0])
    return ["no such group", None, None, None, "no such group", None]


def shown(p):
    """Return a probability as printed."""
    return "<0.01" if p < 0.005 else ">0.99" if p >= 0.995 else f"{p:.2f}"


def _sizes(r, m, _):
    rows = r.study.folds(r.key)
    return [rows["n_test"].min(), rows["n_test"].max() if m.group(2) else None,
            rows["n_train"].min(), rows["n_train"].max() if m.group(4) else None]  # fmt: skip


def _runs(r, m, _):
    y = r.study.y.to_numpy()
    n = np.array(list(pd.Series(y).value_counts()), float)
    expected = len(y) - (n**2).sum() / len(y)
    return [int((y[1:] != y[:-1]).sum()), float(expected)]


def _in_groups(r):
    """In how many groups cases are missed, and others called falsely, of how many."""
    if not r.at or r.at.groups is None:
        return None
    wrong, n = r.at.called != r.at.truth, len(set(r.at.groups))
    own = [len(set(r.at.groups[wrong & mine])) for mine in (r.at.truth, ~r.at.truth)]
    return [own[0], n, own[1], n]


def _errs(r, m, u):
    own = (r.of(r.shown()) if u["panel"] == "first screen" else r).errors()
    part = between(own, m.group(1))
    n, mean, low, high, _ = error_values(part)
    rest = own["error"].drop(part.index).abs().mean()
    return [None, n, mean, low, high, float(rest)]


def _found(r, m, _):
    counts = r.at.counts()
    order = {"found": 0, "missed": 1, "false alarm": 2, "false alarms": 2, "cleared": 3}
    return [counts[order[m.group(2)]]]


def _class_n(r, m, _):
    name = plain(m.group(1))
    return [None, int((r.study.held_out(r.key)["truth"] == name).sum())]


def _target(r, m, _):
    y = r.study.y.astype(float) if has(r.study) else r.errors()["truth"]
    return [float(y.min()), float(y.max())]


PCT = r" %"
TEXTS = [
    (rf"^{N} cases, {N} columns[;.]?", lambda r, m, u: [r.study.about["n_rows"],
                                                     r.study.about["n_columns"]]),
    (rf"^{N} cases of {N} [^,]+, {N} columns", lambda r, m, u: [
        r.study.about["n_rows"], len(set(r.study.groups)), r.study.about["n_columns"]]),
    (rf"misses [^,]*, in {N} of {N}\b.* alarms [^,]*, in {N} of {N}\b", lambda r, m, u:
     _in_groups(r.first(m) if u["panel"] == "first screen" and "threshold" in m.string else r)),
    (rf"a number: {N} to {N}\.", _target),
    (rf"(?:[:,] |and )(\S+) \({N}\)(?=[,. ])", lambda r, m, u: _class_n(r, m, u)
     if r.study.classes and plain(m.group(1)) in r.study.classes else None),
    (rf" reads (?:about )?{N} columns?; its held-out", _first),
    (rf"its held-out [^;]* is {N} \(95 % interval {SPAN}\)", _first_mean),
    (rf"like all {N} that read columns, .*?\({N}; p ≤ {N}, corrected for the {N}", _better),
    (rf"differs by {N} \({SPAN}\) from (\S+), the most accurate, on (?:about )?{N}",
     _differs),
    (rf"At threshold {N} it misses {N} of {N} .*?\(sensitivity {N}, {SPAN}\), with false "
     rf"alarms at {N} of {N} .*?\(specificity {N}, {SPAN}\)", _at_first),
    (rf"^misses {N} of {N} \S+, alarms {N} of {N}", lambda r, m, u: r.at and
     [r.at.counts()[1], int(r.at.truth.sum()), r.at.counts()[2], int((~r.at.truth).sum())]),
    (rf"^{N} (missed|found|cleared|false alarms?)$", _found),
    (rf"^(.+) \({N} cases\)$", lambda r, m, u: _class_n(r, m, u)
     if r.study.classes and plain(m.group(1)) in r.study.classes else None),
    (rf"^{N} missed .*? cases?, surest", lambda r, m, u: [r.at.counts()[1]]),
    (rf"^{N} false alarms?, surest", lambda r, m, u: [r.at.counts()[2]]),
    (rf"log-loss \(mean over the folds\) {N} against {N}", lambda r, m, u: [
        r.study.mean(searched(r"probabilities of (\S+) are", m.string)[1], "log_loss")[0],
        r.study.mean("majority", "log_loss")[0]]),
    (rf"frequency in the training part has a log-loss of {N};", lambda r, m, u: [
        r.study.mean("majority", "log_loss")[0]]),
    (rf"Which columns (?:\S+) reads changes from fold to fold \(stability {N}\)", lambda r, m, u: [
        nogueira(r.study.chosen(m.string.split()[2]))[0]]),
    (rf"which changes {N} times from one \S+ to the next; {N} times", _runs),
    (rf"(?P<key>\S+) was fitted {N} times to parts of the cases, and its models read {N}"
     rf"(?: to {N})? columns?", lambda r, m, u: [None, len(r.study.folds(m.group(1))),
     int(r.study.folds(m.group(1))["columns_used"].min()),
     int(r.study.folds(m.group(1))["columns_used"].max())]),
    (rf"wrong in {N} of the cases, so nothing", lambda r, m, u: [
        1 - float(r.study.held_out(r.key)["truth"].value_counts(normalize=True).max())]),
    (rf"^Called \S+ from {N}, \S+ finds {N} of {N} .* and clears {N} of {N} .*; it calls {N} \S+, "
     rf"{N} rightly", _missed_words),
    (rf"^Called \S+ from {N}: counts", lambda r, m, u: [0.5]),
    (rf"^Among those tested,.*Here {N} % are", lambda r, m, u: [100 * float(r.at.truth.mean())]),
    (rf"^{N} % if all are called", lambda r, m, u: r.at and [100 * float(r.at.truth.mean())]),
    (rf"^area {N}(?: ?{SPAN})?$", lambda r, m, u: r.at and _area(r, m, u)),
    (rf"^{SPAN}$", lambda r, m, u: _area(r, m, u)[1:]
     if r.at and u["panel"] == "missed" else None),
    (rf"mean of the {N} areas under the ROC curve of single folds is {N}\.", lambda r, m, u: [
        len(r.study.folds(r.key)), r.study.mean(r.key, "roc_auc")[0]]),
    (rf"nobody, \S+ at a threshold of {N} to {N}(?:, and in {N} other ranges?)?\. Each",
     lambda r, m, u: r.at and _worth(r, m, u)),
    (rf"On average it answered {N}; {N} of {N} were", lambda r, m, u: [
        float(r.at.p.mean()), int(r.at.truth.sum()), len(r.at.p)]),
    (rf"fitted to all {N} cases", lambda r, m, u: [r.study.about["n_rows"]]),
    (rf"permuted(?: in the folds' models)? {N}", _importance),
    (rf"returns in {N} of {N} folds", _returns),
    (rf"(?:with |, |and )(?P<name>[^,()]+?) \(ρ {N}\)", _rises),
    (rf"(?P<side>Above|Below) it are {N} of {N} (\S+) and {N} of {N} (\S+?)[.;]", _above),
    (rf"^(?:case|row) {N} \(([^,]*), held out {N} for (.*)\)$", lambda r, m, u: [
        r.case(m), None, r.held(r.study.row_of(m.group(0)), plain(m.group(4)))]),
    (rf"^(?:case|row) {N} \(([^,]*)\)$", lambda r, m, u: [r.case(m)]),
    (rf"^{N} (?:other )?cases? of the study ha(?:ve|s) the same values",
     lambda r, m, u: [r.same()]),
    (rf"^It predicts {N} of {N} cases correctly; of the {N} classes it finds (?:\S+) least: {N} of "
     rf"{N} found, sensitivity {N} \(95 % interval {SPAN}\)", lambda r, m, u: _of_several(r)),
    (rf"^{N} of {N} (\S+)$", lambda r, m, u: _cost(r, m) if u["panel"] == "first screen" else None),
    (rf"fitted to all {N} cases, reads {N} of {N} columns through {N} voters?", lambda r, m, u: [
        r.study.about["n_rows"], int(r.study.refits.loc[r.key, "columns_used"]),
        r.study.about["n_columns"], int(r.study.refits.loc[r.key, "n_voters"])]),
    (rf"^{N} voters? \(.*?\), {N} columns? of {N} read", lambda r, m, u: [
        int(r.study.refits.loc[r.shown(), "n_voters"]),
        int(r.study.refits.loc[r.shown(), "columns_used"]), r.study.about["n_columns"]]),
    (rf"{N} cases, {N} columns; {N} cases of the rarest class for each column that (\S+) reads "
     rf"\({N}\)", lambda r, m, u: [None, None, *r.per_column(m.group(4))]),
    (rf"{N} of {N} values are missing in the columns that saved", lambda r, m, u: r.missing()),
    (rf"{N} cases: (\S+) {N} and (\S+) {N}$", lambda r, m, u: [r.study.about["n_rows"], None,
     *_class_n(r, re.match(r"(.*)", m.group(2)), u)[1:], None,
     *_class_n(r, re.match(r"(.*)", m.group(4)), u)[1:]] if r.study.classes else None),
    (rf"Of the {N} held-out cases with the nearest answers for (.*?), {N}(?: to {N})?, {N} of {N} "
     rf".*?: {N} \(95 % interval {SPAN}",
     lambda r, m, u: r.at and _like(r, m, u)),
    (r"^The (?P<models>\d+) models of \S+ read (?P<columns>\d+) columns between them: "
     r"(?P<every>\d+) (?:is|are) read every time(?: \(.*?\))?(?:, (?P<once>\d+) only once)?",
     _times),
    (rf"The stability is {N} \(95 % interval {SPAN}", _times),
    (rf"held-out part has {N}(?: to {N})? cases, its training part {N}(?: to {N})?", _sizes),
    (rf"errs most where \S+ is ((?:above|up to) [^(]*) \({N} cases\): mean absolute error {N} "
     rf"\(95 % interval {SPAN}\), elsewhere {N}", _errs),
    (rf"Held-out cases(?: with predictions ([^(]*))? \({N}\): mean absolute error {N} "
     rf"\(95 % interval {SPAN}\), mean error {N}", lambda r, m, u: [
        None, *error_values(between(r.errors(), m.group(1) or "", "predicted"))]),
    (rf"held-out predictions of \S+: {N}\.", lambda r, m, u: [
        float(r.errors()["error"].abs().mean())]),
    (rf"pooled mean absolute error {N}", lambda r, m, u: [pooled_of(
        *(r.study.held_out(m.string.split(" reads ")[0])[c].astype(float).to_numpy()
          for c in ("truth", "predicted")))[1]]),
]  # fmt: skip


def of_text(rules, unit):
    """Return the pairs (printed, own value) of a sentence."""
    text, found = unit.get("text", unit.get("caption", "")), []
    for pattern, own in TEXTS:
        for match in re.finditer(pattern, text):
            values = own(rules, match, unit)
            if values is not None:
                pairs = zip(match.groups(), values, strict=False)
                found += [(p, v) for p, v in pairs if p is not None and v is not None]
    return found
