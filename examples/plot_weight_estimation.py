"""
How much does a voter weigh, and where?
=======================================

SamBA weighs a voter by what it got right nearby:
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

from psephos.report.explorer import HIGH, LOW, estimate, relevances

# %%
# The training rows, and the weight between them
# ----------------------------------------------
#
# ``relevances`` draws the rows, ``estimate`` asks the weighting: both are those of the page that
# ``psephos explorer`` writes, in which a and b are moved.


def curves(n_samples=200, n_points=2001, seed=0):
    """Return the four panels: dots, curves by `a`, and the weight without local knowledge."""
    panels = {}
    for noisy in (False, True):
        x, relevant = relevances(noisy, n_samples, seed)
        where = np.union1d(np.linspace(0.0, 1.0, n_points), x)
        omega = np.where(relevant, HIGH, LOW)
        for b in (1.5, 4.0):
            panels[noisy, b] = {
                "x": x,
                "omega": omega,
                "where": where,
                "estimate": {a: estimate(x, relevant, a, b, where) for a in (0.0, 0.02)},
                "flat": omega.mean(),
            }
    return panels


# %%
# The picture
# -----------


def draw(panels):
    """Draw the panels, pure above noisy."""
    fig, axes = plt.subplots(
        2, 2, figsize=(11, 6.5), sharex=True, sharey=True, layout="constrained"
    )
    for (noisy, b), panel in panels.items():
        ax = axes[int(noisy), int(b > 2)]
        ax.axhline(panel["flat"], color="tab:green", lw=1.5, label="no local knowledge")
        for a, color in ((0.0, "tab:blue"), (0.02, "tab:red")):
            ax.plot(panel["where"], panel["estimate"][a], color=color, lw=1.3, label=f"a = {a:g}")
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
    parser.add_argument("--out", help="save the picture here instead of showing it")
    args = parser.parse_args()
    figure = draw(curves())
    if args.out:
        figure.savefig(args.out, dpi=150)
    else:
        plt.show()
