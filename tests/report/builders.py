"""Small tables whose every string is an attack, and the comparisons made of them."""

from dataclasses import replace

import numpy as np

from psephos.protocol import DataTable, Protocol, compare, known_models

ATTACK = "</script><script>window.__pwned=1;alert(1)</script>"
HOSTILE = (
    'k__Bacteria;p__<b>"x"',
    ATTACK,
    "<img src=x onerror=window.__pwned=1>",
    "{{ 7 * 7 }} & 'quoted' \u2028 next",
)


def _many_voters(params, shape, seed):
    """Return SWAG with more voters of several columns than so small a table would get."""
    return known_models()["swag"].build(
        {"alpha": 1.0, "delta": 1.0, "p_max": 2} | params, shape, seed
    )


SWAG = replace(known_models()["swag"], build=_many_voters, distributions={"quick": {}})
MODELS = ("samba", "adaboost", SWAG, "majority", "sklearn-l1-logistic", "sklearn-decision-tree")


def hostile_table(n=48, n_classes=2, seed=0):
    """Return n cases of 4 hostile columns that tell the classes, and one category."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    X = rng.normal(size=(n, 5))
    X[:, :4] += 1.2 * codes[:, None] * rng.choice([-1, 1], size=4)
    X[::7, 1] = np.nan
    X[:, 4] = rng.integers(0, 2, size=n)
    classes = np.array(["<b>ill</b>", 'well & "fine"', "un<i>known"])[:n_classes]
    return DataTable(
        X=X,
        y=classes[codes],
        names=(*HOSTILE, "kind <of> column"),
        categories={4: ("<u>one</u>", "two")},
        target_name="<em>state</em>",
        ids=np.array([f"case <i>{i}</i> & more" for i in range(n)]),
        dataset="<h1>data</h1> & set",
    )


def hostile_folder(folder, n_classes=2):
    """Compare models on a hostile table; leave everything in `folder`."""
    small = Protocol("small", draws=2, inner_folds=2)
    compare(hostile_table(n_classes=n_classes), models=MODELS, protocol=small, out=folder, n_jobs=1)
    return folder
