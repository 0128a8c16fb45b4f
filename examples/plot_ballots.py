"""
Reading a model: which voters decided this prediction?
======================================================

One model on scikit-learn's breast cancer table, read from end to end: the whole model in six
sentences, the ballots of one doubtful case, the same model reduced to the columns it reads, and a
file that holds it as data.
"""

import argparse
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import psephos

# %%
# Fit
# ---
#
# Five voters. Each is a stump on one column, weighted by how often it was right on similar
# training cases.


def fitted(n_estimators=5, seed=0):
    """Return the model and the cases it has not seen, with their diagnoses."""
    data = load_breast_cancer(as_frame=True)
    diagnosis = data.target_names[data.target]
    X, cases, y, truth = train_test_split(
        data.data, diagnosis, test_size=0.2, stratify=diagnosis, random_state=seed
    )
    return psephos.SamBAClassifier(n_estimators=n_estimators).fit(X, y), cases, truth


# %%
# Explain
# -------
#
# `explain` returns the ballots of any cases: one row per case and voter. Contributions below zero
# speak for the first class (benign), above zero for the second (malignant); they sum to the score.


def doubtful(model, cases):
    """Return the case whose score is nearest to zero, as a table of one row."""
    closest = np.argmin(np.abs(model.decision_function(cases)))
    return cases.iloc[[closest]]


def ballot(model, case):
    """Return one case's ballots as a dictionary of lists, with its score and nearest cases."""
    found = model.explain(case)
    columns = found.columns()
    nearest = found.nearest()[0]
    return columns | {"score": float(found.score[0, 0]), "nearest_cases": nearest}


# %%
# Reduce, save, load
# ------------------
#
# The reduced model needs only the columns the voters read, and gives the same answers. The file
# is data: loading it runs no code. It keeps the training rows on those columns, since the weights
# are made of them, and nothing else of the table.


def through_a_file(model):
    """Return the reduced model, read back from its file, and the file's size."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.psephos"
        psephos.save(model.reduce(), path)
        return psephos.load(path), path.stat().st_size


def story(seed=0):
    """Return everything the example shows, in one dictionary."""
    model, cases, truth = fitted(seed=seed)
    loaded, size = through_a_file(model)
    few = cases[list(model.features_used_)]
    return {
        "model": model,
        "sentences": model.describe(),
        "accuracy": model.score(cases, truth),
        "ballot": ballot(model, doubtful(model, cases)),
        "cases": cases,
        "truth": truth,
        "score": model.decision_function(cases),
        "mass": model.mass(cases),
        "loaded_score": loaded.decision_function(few),
        "file_bytes": size,
    }


def tell(found):
    """Print the story."""
    print("\n".join(found["sentences"]))
    print(f"\nAccuracy on {len(found['cases'])} unseen cases: {found['accuracy']:.3f}")
    ballots = found["ballot"]
    print(f"\nCase {ballots['case'][0]}, score {ballots['score']:+.3f}:")
    for reason, part in zip(ballots["reason"], ballots["contribution"], strict=True):
        print(f"  {part:+.3f}  {reason}")
    print("Most like the training cases:")
    for row, distance, share, label in ballots["nearest_cases"]:
        print(f"  {row}: {label}, at distance {distance:.2f}, {share:.0%} of the similarity")
    print(f"\nModel file: {found['file_bytes']:,} bytes; it gives the same scores: ", end="")
    print(np.array_equal(found["score"], found["loaded_score"]))


# %%
# The picture
# -----------
#
# Left, the ballots of the doubtful case. Right, all unseen cases: how sure the vote is, and how
# familiar the case is (the total weight: low where no training case is near).


def draw(found):
    """Draw the ballots of one case, and score against familiarity of all."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    ballots = found["ballot"]
    parts = np.array(ballots["contribution"])
    places = np.arange(len(parts))[::-1]
    colors = {"benign": "tab:blue", "malignant": "tab:red"}
    left.barh(places, parts, color=[colors[vote] for vote in ballots["vote"]], height=0.6)
    left.axvline(0, color="black", lw=0.8)
    left.axvline(ballots["score"], color="black", ls="--", lw=1, label="their sum, the score")
    left.set_yticks(places, ballots["reason"], fontsize=9)
    left.set_xlabel("contribution: benign < 0 < malignant")
    left.set_title(f"Ballots of case {ballots['case'][0]}", fontsize=11)
    left.legend(frameon=False, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, -0.3))
    for label, color in colors.items():
        of = found["truth"] == label
        right.scatter(found["score"][of], found["mass"][of], s=16, color=color, label=label)
    right.axvline(0, color="black", lw=0.8)
    right.set_yscale("log")
    right.set_xlabel("score")
    right.set_ylabel("total weight")
    right.set_title("Unseen cases, by their diagnosis", fontsize=11)
    right.legend(frameon=False)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return fig


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Reading one model")
    parser.add_argument("--out", help="save the picture here instead of showing it")
    args = parser.parse_args()
    everything = story()
    tell(everything)
    figure = draw(everything)
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()
