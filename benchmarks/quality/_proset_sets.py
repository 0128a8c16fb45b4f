"""The study in the manual of proset: its data, its experiments, its figures beside ours."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, train_test_split

from psephos.datasets import make_checkerboard, make_continuous_xor


def fixed(load):
    return lambda seed: load(return_X_y=True)


def iris_2f(seed):
    X, y = load_iris(return_X_y=True)
    return X[:, :2], y


def xor(n_columns, n_noise=0):
    return lambda seed: make_continuous_xor(n_columns, n_noise_columns=n_noise, random_state=seed)


FIRST = {
    "iris_2f": iris_2f, "wine": fixed(load_wine), "cancer": fixed(load_breast_cancer),
    "digits": fixed(load_digits), "checker": lambda seed: make_checkerboard(random_state=seed),
    "xor6": xor(6),
}  # fmt: skip
FURTHER = {
    "checker_rot": lambda seed: make_checkerboard(rotation=45.0, random_state=seed),
    "xor3": xor(3), "xor4": xor(4), "xor5": xor(5), "xor6+6": xor(6, 6),
}  # fmt: skip
SETS = {**FIRST, **FURTHER}


class Case(NamedTuple):
    """One split of one table: training and test rows, folds as positions in the training rows."""

    A: Any
    s: Any
    B: Any
    t: Any
    folds: list[Any]


def case_of(name, seed):
    """Return split `seed` of a table: 70 % to train on, five folds of them, stratified."""
    X, y = SETS[name](seed)
    A, B, s, t = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed).split(A, s)
    return Case(A, s, B, t, list(folds))


@dataclass(frozen=True)
class Plan:
    """How an experiment chooses, and with which settings."""

    chooses: str  # 'two-stage', 'best', 'grid', 'fixed', 'joint', 'knn' or 'xgboost'
    sets: tuple[str, ...] = tuple(FIRST)
    alpha: float = 0.05  # share of L1
    n_candidates: int = 1000

    @property
    def programs(self):
        if self.chooses in ("knn", "xgboost"):
            return (self.chooses,)
        return ("psephos", "proset-refit", "proset")


LARGE = ("checker", "xor6")
PLANS = {
    "E1": Plan("two-stage", alpha=0.95), "E2": Plan("two-stage", alpha=0.5),
    "E3": Plan("two-stage"), "E4": Plan("best"), "E5": Plan("grid"), "E6": Plan("fixed"),
    **{f"E7-{m}": Plan("fixed", LARGE, n_candidates=m) for m in (100, 300, 1500)},
    "E8": Plan("knn"), "E9": Plan("xgboost"), "E10": Plan("two-stage", tuple(FURTHER)),
    "E11": Plan("knn", tuple(FURTHER)), "E12": Plan("xgboost", tuple(FURTHER)),
    "joint": Plan("joint", tuple(SETS)),
}  # fmt: skip


#: What is compared in pairs beside the log-loss, and its decimals.
BOTH = {"roc_auc": 3, "balanced_accuracy": 3, "columns": 1, "prototypes": 0}


class Told(NamedTuple):
    """Figures of the study: what its last model reads and holds, and its scores on test rows."""

    columns: float
    prototypes: float
    log_loss: float
    roc_auc: float
    balanced_accuracy: float
    threshold: float


#: One line a column of Tables E1 to E12. The k-NN and XGBoost hold no prototypes (nan); the
#: thresholds are those of the last stage.
FIGURES = """
E1 iris_2f 1 14 .62 .90 .80 .57
E1 wine 6 93 .10 1.00 .96 .18
E1 cancer 1 22 .31 .94 .87 .20
E1 digits 18 525 .15 1.00 .97 .24
E1 checker 2 288 .17 .99 .95 .20
E1 xor6 6 415 .52 .82 .73 .55
E2 iris_2f 2 20 .46 .91 .77 .58
E2 wine 3 17 .12 1.00 .96 .25
E2 cancer 2 47 .16 .98 .91 .20
E2 digits 17 495 .14 1.00 .97 .23
E2 checker 2 382 .18 .99 .94 .20
E2 xor6 6 407 .51 .83 .74 .56
E3 iris_2f 2 23 .45 .91 .79 .58
E3 wine 4 23 .10 1.00 1.00 .24
E3 cancer 4 49 .16 .99 .92 .19
E3 digits 18 533 .15 1.00 .97 .22
E3 checker 2 954 .16 .99 .94 .18
E3 xor6 6 392 .52 .83 .74 .56
E4 iris_2f 2 265 .45 .90 .72 .64
E4 wine 13 530 .07 1.00 .96 .30
E4 cancer 6 131 .09 1.00 .96 .15
E4 digits 27 952 .14 1.00 .98 .19
E4 checker 2 1484 .15 .99 .94 .18
E4 xor6 6 423 .51 .83 .73 .56
E5 iris_2f 2 20 .45 .89 .73 .63
E5 wine 5 10 .13 1.00 .96 .21
E5 cancer 3 45 .10 1.00 .97 .14
E5 digits 18 416 .19 1.00 .96 .25
E5 checker 2 347 .17 .99 .94 .19
E5 xor6 6 364 .51 .84 .75 .54
E6 iris_2f 2 32 .69 .85 .64 .61
E6 wine 9 73 .07 1.00 .98 .19
E6 cancer 6 106 .10 .99 .97 .17
E6 digits 32 829 .14 1.00 .97 .18
E6 checker 2 247 .19 .99 .95 .21
E6 xor6 6 1473 .48 .85 .75 .52
E7-100 checker 2 117 .39 .94 .86 .44
E7-300 checker 2 140 .30 .96 .88 .31
E7-1500 checker 2 316 .18 .99 .95 .20
E7-100 xor6 6 389 .57 .77 .69 .59
E7-300 xor6 6 593 .53 .81 .73 .56
E7-1500 xor6 6 2884 .48 .85 .76 .51
E8 iris_2f 2 nan .43 .92 .78 .49
E8 wine 13 nan .09 1.00 1.00 .13
E8 cancer 30 nan .18 .98 .90 .16
E8 digits 64 nan .22 1.00 .93 .27
E8 checker 2 nan .22 .98 .91 .25
E8 xor6 6 nan .52 .83 .74 .53
E9 iris_2f 2 nan .58 .91 .78 .62
E9 wine 13 nan .16 1.00 1.00 .17
E9 cancer 18 nan .21 .98 .91 .17
E9 digits 53 nan .15 1.00 .97 .18
E9 checker 2 nan .06 1.00 .99 .09
E9 xor6 0 nan .69 .50 .50 .69
E10 checker_rot 2 340 .19 .99 .95 .21
E10 xor3 3 63 .16 .99 .96 .23
E10 xor4 4 85 .33 .96 .87 .35
E10 xor5 5 307 .40 .91 .82 .42
E10 xor6+6 6 456 .54 .81 .71 .58
E11 checker_rot 2 nan .22 .98 .91 .25
E11 xor3 3 nan .21 .99 .94 .26
E11 xor4 4 nan .35 .93 .85 .34
E11 xor5 5 nan .45 .89 .79 .45
E11 xor6+6 12 nan .70 .47 .48 .70
E12 checker_rot 2 nan .18 .99 .95 .20
E12 xor3 3 nan .13 1.00 .96 .16
E12 xor4 4 nan .46 .89 .81 .49
E12 xor5 0 nan .70 .50 .50 .69
E12 xor6+6 0 nan .69 .50 .50 .69
"""
STUDY = {
    (experiment, name): Told(*map(float, figures))
    for experiment, name, *figures in map(str.split, FIGURES.strip().splitlines())
}


def head(title, *names):
    print(f"\n#### {title}\n")
    for line in (names, ["---"] * len(names)):
        row(*line)


def row(*parts):
    print("| " + " | ".join(parts) + " |")


def mean_of(results, name):
    return float(np.mean([one.get(name, np.nan) for one in results]))


def spread(results, name="log_loss"):
    values = [one[name] for one in results]
    return f"{np.mean(values):.3f}" + (f" ± {np.std(values, ddof=1):.3f}" if values[1:] else "")


def paired(left, right, places):
    """Return two figures as 'left / right'; what is not there, as a dash."""
    return " / ".join("–" if np.isnan(x) else f"{x:.{places}f}" for x in (left, right))


def seconds(results):
    return f"{np.median([one['cpu_seconds'] for one in results]):.1f}"


def choices(results):
    """Return the medians of what was chosen."""
    words = []
    for name in results[0]["chosen"]:
        value = float(np.median([one["chosen"][name] for one in results]))
        words.append(f"{name} {value:.2g}" if value % 1 else f"{name} {value:.0f}")
    return ", ".join(words)


def show_study(found):
    head(
        "The study / ours", "table", "set", "seeds", "columns", "prototypes", "log-loss: study",
        "ours", "least to most", "ROC-AUC", "balanced accuracy", "threshold of the last stage",
        "chosen by ours, medians", "CPU s",
    )  # fmt: skip
    inside, chance = [], []
    for (experiment, name), told in STUDY.items():
        program = PLANS[experiment].programs[0]
        if not (results := list(found.get((experiment, name, program), {}).values())):
            continue
        losses = [one["log_loss"] for one in results]
        if len(losses) > 1:  # the study rounds to .01
            inside.append(min(losses) - 0.005 <= told.log_loss <= max(losses) + 0.005)
            chance.append((len(losses) - 1) / (len(losses) + 1))
        last = float(np.mean([one["thresholds"][-1] for one in results]))
        row(
            experiment, name, str(len(results)),
            paired(told.columns, mean_of(results, "columns"), 1),
            paired(told.prototypes, mean_of(results, "prototypes"), 0),
            f"{told.log_loss:.2f}", spread(results), f"{min(losses):.2f} to {max(losses):.2f}",
            paired(told.roc_auc, mean_of(results, "roc_auc"), 2),
            paired(told.balanced_accuracy, mean_of(results, "balanced_accuracy"), 2),
            paired(told.threshold, last, 2), choices(results), seconds(results),
        )  # fmt: skip
    print(f"\n{sum(inside)} of {len(inside)} log-losses of the study lie within our range, where")
    print(f"there are two seeds or more; of one more seed of ours {sum(chance):.0f} would.")


def in_bold(values):
    """Return figures of two decimals, the least of them in bold; what is not there, as a dash."""
    texts = ["–" if np.isnan(x) else f"{x:.2f}" for x in values]
    least = f"{np.nanmin(values):.2f}" if np.isfinite(values).any() else ""
    return [f"**{text}**" if text == least else text for text in texts]


def show_settings(found):
    six = [f"E{k}" for k in range(1, 7)]
    head("E1 to E6, log-loss: study / ours, the least of each in bold", "set", *six)
    for name in FIRST:
        pools = [list(found.get((e, name, "psephos"), {}).values()) for e in six]
        ours = in_bold([mean_of(pool, "log_loss") if pool else np.nan for pool in pools])
        told = in_bold([STUDY[e, name].log_loss for e in six])
        row(name, *(f"{t} / {o}" for t, o in zip(told, ours, strict=True)))


def show_pairs(found):
    head(
        "Ours / proset 0.6.1, the same splits", "table", "set", "program", "seeds",
        "log-loss: ours", "theirs", "ours lower on", "ROC-AUC", "balanced accuracy", "columns",
        "prototypes", "CPU s: ours", "theirs",
    )  # fmt: skip
    for (experiment, told, program), theirs in found.items():
        mine = found.get((experiment, told, "psephos"), {})
        seeds = [seed for seed in theirs if seed in mine]
        if not program.startswith("proset") or not seeds:
            continue
        a, b = [mine[seed] for seed in seeds], [theirs[seed] for seed in seeds]
        lower = sum(x["log_loss"] < y["log_loss"] for x, y in zip(a, b, strict=True))
        both = (paired(mean_of(a, name), mean_of(b, name), places) for name, places in BOTH.items())
        cost = (seconds(a) if program == "proset" else "–", seconds(b))
        row(experiment, told, program, str(len(seeds)), spread(a), spread(b),
            f"{lower} of {len(seeds)}", *both, *cost)  # fmt: skip


def show_rivals(found):
    head(
        "Prototypes (E3, E10), k-NN (E8, E11) and XGBoost (E9, E12): study / ours", "set",
        "seeds of each", "log-loss: prototypes", "k-NN", "XGBoost", "bal. acc.: prototypes", "k-NN",
        "XGBoost", "best by the study", "by ours",
    )  # fmt: skip
    for name in SETS:
        trio = ("E3", "E8", "E9") if name in FIRST else ("E10", "E11", "E12")
        each = [found.get((e, name, PLANS[e].programs[0]), {}) for e in trio]
        told = [STUDY[e, name] for e in trio]
        seeds = set.intersection(*map(set, each))
        pools = [[one[seed] for seed in seeds or one] for one in each]  # shared seeds, if any
        if not all(pools):
            continue
        ours = [[mean_of(pool, "log_loss"), mean_of(pool, "balanced_accuracy")] for pool in pools]
        words = ("prototypes", "k-NN", "XGBoost")
        row(
            name, ", ".join(str(len(pool)) for pool in pools),
            *(paired(t.log_loss, o[0], 2) for t, o in zip(told, ours, strict=True)),
            *(paired(t.balanced_accuracy, o[1], 2) for t, o in zip(told, ours, strict=True)),
            words[int(np.argmin([t.log_loss for t in told]))],
            words[int(np.argmin([o[0] for o in ours]))],
        )  # fmt: skip


def show_costs(found):
    head("CPU seconds of one seed, medians", "table", "program", *SETS)
    lines = dict.fromkeys((experiment, program) for experiment, _, program in found)
    for experiment, program in lines:
        pools = [list(found.get((experiment, name, program), {}).values()) for name in SETS]
        row(experiment, program, *(seconds(pool) if pool else "–" for pool in pools))


TABLES = (show_study, show_settings, show_pairs, show_rivals, show_costs)
