"""
Local weights of a voter
========================

SamBA weights a voter by the training rows nearby on which it was right:
``w(x) = sum_i omega[i] / (a^b + |x - x_i|^b)``, divided by the same sum without omega so that it
can be drawn beside the relevances omega[i] themselves.

This redraws Figure 1 of the SamBA paper's supplement (Bauvin et al., UAI 2023, appendix C): 200
training rows on a line; an imaginary voter has relevance .44 up to x = .5 and .006 beyond. In the
lower row three rows of each group have the other group's relevance. With ``a = 0`` the curve
passes through every dot, the wrong ones too; with ``a = 0.02`` a single dot is outvoted. With
``b = 1.5`` far rows still count, so the curve sags between the dots; with ``b = 4`` it does not.
The flat line is the weight that a method without local knowledge, such as AdaBoost, would give.

``psephos.vote.Local`` computes all of it: the same part that a fitted `SamBAClassifier` uses.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from psephos.vote import InverseDistance, Local

HIGH, LOW = 0.44, 0.006  # relevances
WRONG = 3  # rows of each side that have the other's, where it is noisy

# %%
# The training rows, and the weight between them
# ----------------------------------------------
#
# ``--a`` and ``--b`` draw it for other values; of a fitted model they are moved in its report.


def relevances(noisy, n_samples=200, seed=0):
    """Return random rows on a line, sorted, and whether the voter is relevant there."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(size=n_samples))
    relevant = x <= 0.5
    if noisy:
        for group in (np.flatnonzero(x <= 0.5), np.flatnonzero(x > 0.5)):
            wrong = rng.choice(group, WRONG, replace=False)
            relevant[wrong] = ~relevant[wrong]
    return x, relevant


def estimate(x, relevant, a, b, where):
    """Return the mean relevance around some points: the weight over the similarity."""
    line = InverseDistance(
        a=a, b=b, scale=1.0, per_query=False, column_scale=np.ones(1),
        is_category=np.zeros(1, dtype=bool), absent=1.0,
    )  # fmt: skip

    def weighed(right):
        weighting = Local(
            n_features=1, columns=np.array([0]), similarity=line, anchors=x[:, None],
            anchor_weight=np.ones(len(x)), right=np.packbits(right[:, None], axis=1), voters=1,
            low=LOW, high=HIGH, rows=np.arange(len(x)), anchor_class=np.zeros(len(x), dtype=int),
        )  # fmt: skip
        return weighting.relative(where[:, None])[0]

    return (HIGH * weighed(relevant) / weighed(np.ones_like(relevant)))[:, 0]


def curves(n_samples=200, n_points=2001, seed=0, a=(0.0, 0.02), b=(1.5, 4.0)):
    """Return the panels by `b`: dots, curves by `a`, and the weight without local knowledge."""
    panels = {}
    for noisy in (False, True):
        x, relevant = relevances(noisy, n_samples, seed)
        where = np.union1d(np.linspace(0.0, 1.0, n_points), x)
        omega = np.where(relevant, HIGH, LOW)
        for one in b:
            panels[noisy, one] = {
                "x": x,
                "omega": omega,
                "where": where,
                "estimate": {v: estimate(x, relevant, v, one, where) for v in a},
                "flat": omega.mean(),
            }
    return panels


# %%
# The picture
# -----------


def draw(panels):
    """Draw the panels, pure above noisy."""
    fig, axes = plt.subplots(
        2, len(panels) // 2, figsize=(11, 6.5), sharex=True, sharey=True, layout="constrained",
        squeeze=False,
    )  # fmt: skip
    for ax, ((noisy, b), panel) in zip(axes.flat, panels.items(), strict=True):
        ax.axhline(panel["flat"], color="tab:green", lw=1.5, label="no local knowledge")
        for color, (a, curve) in zip(
            ("tab:blue", "tab:red"), panel["estimate"].items(), strict=False
        ):
            ax.plot(panel["where"], curve, color=color, lw=1.3, label=f"a = {a:g}")
        ax.plot(panel["x"], panel["omega"], ".", color="black", ms=3.5, label="training rows")
        ax.set_title(f"{'noisy' if noisy else 'pure'}, b = {b:g}")
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[1]:
        ax.set_xlabel("the one column, x")
    for ax in axes[:, 0]:
        ax.set_ylabel("relevance, and the weight made of it")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return fig


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Figure 1 of the SamBA supplement")
    parser.add_argument("--a", type=float, nargs=2, default=(0.0, 0.02))
    parser.add_argument("--b", type=float, nargs="+", default=(1.5, 4.0))
    parser.add_argument("--out", help="save the picture here instead of showing it")
    args = parser.parse_args()
    figure = draw(curves(a=args.a, b=args.b))
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()
