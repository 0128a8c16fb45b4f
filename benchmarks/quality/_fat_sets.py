"""Fat tables for studies of few columns: nineteen that settings were chosen on, ten that were not.

Twelve of the nineteen are those that chose the blend of `ColumnBudgetClassifier`; of the others the
two share no study, so that what is fitted on the first may be judged on the second. Numbers are
cut at their median, of several labels the one is taken whose share is nearest to .3, and of more
than 640 rows 300 are drawn.
"""

import numpy as np
from _label_sets import label_set
from realdata import folder, load

CHOSE = (
    "colon_alon", "leukemia_golub", "prostate_6033", "breast_gravier", "gut_cirrhosis",
    "gut_colorectal", "gut_obesity", "otu_lean_obese", "lsvt", "srbct", "lymphoma", "arcene",
    "methyl_age", "riboflavin", "cookie_sucrose", "ml_genbase", "ml_medical", "ml_yeast", "sonar",
)  # fmt: skip
OTHERS = (
    "kegg_module", "kegg_pathway", "taxa_family", "taxa_genus", "gasoline_octane", "tecator_fat",
    "ml_enron", "ml_scene", "madelon", "meterB",
)  # fmt: skip
_METAGENOME = ("kegg_module", "kegg_pathway", "taxa_family", "taxa_genus")
_MOST = 640
_DRAWN = 300


def read(name):
    """Return (X, codes of classes, groups or None) of a set."""
    X, y, groups = _raw(name)
    if y.dtype.kind == "f" and len(np.unique(y)) > 2:
        y = y > np.median(y)
    y = np.unique(y, return_inverse=True)[1]
    if len(y) > _MOST:
        kept = np.sort(np.random.RandomState(0).permutation(len(y))[:_DRAWN])
        return X[kept], y[kept], None
    return X, y, groups


def _raw(name):
    if name.startswith("ml_"):
        X, Y, _ = label_set(name[3:])
        nearest = np.abs(np.mean(Y, axis=0) - 0.3).argmin()
        return np.asarray(X, dtype=np.float64), np.asarray(Y)[:, nearest], None
    if name in _METAGENOME:
        with np.load(folder() / "samba_metagenome" / f"{name}.npz") as archive:
            return np.asarray(archive["X"], dtype=np.float64), archive["y"], None
    return load(name)[:3]
