"""
A version space: what rows without noise prove
==============================================

A concept is a conjunction of conditions. Every row rules out the conjunctions that are wrong on it;
the remaining ones vote. The four days of Mitchell's EnjoySport leave six of 973. Then a machine
with twelve switches is queried: once for cases drawn at random, and once for the case on which
the remaining hypotheses disagree most.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from psephos import VersionSpaceClassifier

# %%
# Four days
# ---------

COLUMNS = ("Sky", "AirTemp", "Humidity", "Wind", "Water", "Forecast")
VALUES = (
    ("Sunny", "Cloudy", "Rainy"), ("Warm", "Cold"), ("Normal", "High"), ("Strong", "Weak"),
    ("Warm", "Cool"), ("Same", "Change"),
)  # fmt: skip
DAYS = (
    ("Sunny Warm Normal Strong Warm Same", "yes"),
    ("Sunny Warm High Strong Warm Same", "yes"),
    ("Rainy Cold High Strong Warm Change", "no"),
    ("Sunny Warm High Strong Cool Change", "yes"),
)


def table(days):
    """Return days as a table of categories."""
    rows = pd.DataFrame([day.split() for day in days], columns=list(COLUMNS))
    return rows.astype({c: pd.CategoricalDtype(v) for c, v in zip(COLUMNS, VALUES, strict=True)})


def day_by_day():
    """Return the number of hypotheses left after each day, and the model after the last."""
    model, left = VersionSpaceClassifier(), []
    for day, label in DAYS:
        model.partial_fit(table([day]), [label], classes=["no", "yes"])
        left.append(model.n_hypotheses_[0])
    return left, model


# %%
# Which case to ask about
# -----------------------
#
# `predict_proba` is the share of the hypotheses left that call a case a yes. Where it is nearest to
# one half, half of them go, whatever the answer.


def hypotheses_left(asked, n_switches=12, on=(2, 7, 9), n_questions=16, seed=0):
    """Return the number of hypotheses left after each answer.

    Parameters
    ----------
    asked : {'at random', 'where they disagree'}
    """
    rng = np.random.default_rng(seed)
    cases = rng.integers(2, size=(400, n_switches))
    cases[0, list(on)] = 1  # one that runs, and one that does not, to begin with
    cases[1, on[0]] = 0
    frame = pd.DataFrame(cases).astype(pd.CategoricalDtype([0, 1]))
    frame.columns = [f"switch {j}" for j in range(n_switches)]
    answers = np.where(cases[:, list(on)].all(axis=1), "runs", "idle")
    model = VersionSpaceClassifier()
    model.partial_fit(frame.iloc[:2], answers[:2], classes=["idle", "runs"])
    left = [model.n_hypotheses_[0]]
    for question in range(n_questions):
        row = 2 + question
        if model.n_hypotheses_[0] == 1:  # nothing is left to ask
            left.append(1)
            continue
        if asked == "where they disagree":
            row = int(np.abs(model.predict_proba(frame)[:, 1] - 0.5).argmin())
        model.partial_fit(frame.iloc[[row]], answers[[row]])
        left.append(model.n_hypotheses_[0])
    return left


# %%
# The picture
# -----------


def main() -> None:
    """Draw the queries of both kinds, or save them."""
    parser = argparse.ArgumentParser(description="EnjoySport, and which case to ask about.")
    parser.add_argument("--out")
    parser.add_argument("--seeds", type=int, default=8)
    args = parser.parse_args()
    left, model = day_by_day()
    print(f"EnjoySport: {left} hypotheses after each day; S {model.specific_}, G {model.general_}")
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for asked in ("at random", "where they disagree"):
        runs = [hypotheses_left(asked, seed=seed) for seed in range(args.seeds)]
        axes.plot(np.median(runs, axis=0), marker="o", label=f"cases chosen {asked}")
    axes.set(yscale="log", xlabel="answers", ylabel="hypotheses left (median)",
             title="Twelve switches, of which three must be on")  # fmt: skip
    axes.legend()
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()


if __name__ == "__main__":
    main()
