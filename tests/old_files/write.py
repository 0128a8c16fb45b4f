"""Write the files of this folder, by commit 3e7bf8fc of psephos; see README.md.

    python tests/old_files/write.py

It is kept to tell how the files were made, and no test runs it: run by another commit it would
write that commit's files, and the tests beside it would then prove nothing.
"""

import gzip
import io
import json
import shutil
import tarfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import CliRunner
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

import psephos
from psephos.cli import main
from psephos.registry import MODELS
from psephos.scoring import plain
from psephos.scoring.scorer import scorer
from psephos.scoring.vectors import with_rounded_rows
from psephos.testing import small_settings, small_table

HERE = Path(__file__).parent
SETTINGS = small_settings()
NUMBERS = {name for name, model in SETTINGS.items() if is_regressor(model)}
OWN = {name for name, model in SETTINGS.items() if getattr(model, "estimator", None) is None}
FITTED, COLUMNS, ASKED = 40, 8, 10  # rows
LARGE = 20_000  # bytes of a model file that goes into the archive

#: How the rows of each table are drawn: arguments of `small_table`.
TABLES = {
    "numbers": {"n_classes": 0},
    "two": {"n_classes": 2},
    "three": {"n_classes": 3},
    "numbers, missing": {"n_classes": 0, "missing": 0.2},
    "two, missing": {"n_classes": 2, "missing": 0.2},
    "three, missing": {"n_classes": 3, "missing": 0.2},
    "numbers, categories": {"n_classes": 0, "missing": 0.1, "categories": (4, 5)},
    "two, categories": {"n_classes": 2, "missing": 0.1, "categories": (4, 5)},
}
SCORERS = (
    "samba, frame", "cart, frame", "c45, frame", "newton-boosting, frame", "proset, frame",
    "ml-knn, frame", "rank-ridge, frame", "samba", "samba, two, missing", "samba-lines",
    "local-boosting", "local-boosting, three", "compressed-samba", "c45-rules, three, missing",
    "c45-soft", "cart, two, categories", "random-forest, three, missing",
    "gradient-boosting-regressor", "soft-boosting", "soft-tree", "proset-regressor", "swag-rbf_svm",
    "swag-naive_bayes", "swag, three", "pu, weak", "liois, weak", "one-sided-noise, weak",
    "version-space",
    "bayes-optimal", "gibbs", "cascade", "stacking-read", "multi-view-two", "voting-median",
    "ensemble-selection", "bagging", "column-budget", "ml-knn, labels", "isotonic",
    "temperature", "sigmoid", "class votes", "losses", "shrunk", "study samba",
)  # fmt: skip


def drawn(name, n, seed):
    return small_table(n=n, p=COLUMNS, seed=seed, **TABLES[name])


def fitted(setting, table):
    """Return a small model, fitted on a table of TABLES."""
    model = clone(SETTINGS[setting])
    if "categories" in TABLES[table]:
        model.set_params(categorical_features=[4, 5])
    return model.fit(*drawn(table, FITTED, 0))


def frame(n, seed):
    """Return a data frame of hostile names, categories of words and of numbers, and gaps."""
    X, y = small_table(3, n=n, missing=0.1, seed=seed)
    table = pd.DataFrame(X[:, :4], columns=["g1", 'k__B;p__<b>"', "it's", "ünits, §"])
    table["site"] = np.array(["skin", "lüng", "骨"], dtype=object)[np.arange(n) % 3]
    table["grade"] = (np.arange(n) % 4).astype(object)
    table.loc[5:9, "site"] = None
    for name in ("site", "grade"):
        table[name] = pd.Categorical(table[name])
    return table, y


def families():
    """Yield every setting on two classes or numbers, and every model on the other tables."""
    for name, model in SETTINGS.items():
        kind = "numbers" if name in NUMBERS else "two"
        yield name, kind, fitted(name, kind)
        if name not in MODELS:
            continue
        if name not in NUMBERS and not model.binary_only:
            yield f"{name}, three", "three", fitted(name, "three")
        if name in NUMBERS | OWN:
            yield f"{name}, {kind}, missing", f"{kind}, missing", fitted(name, f"{kind}, missing")
            if "categorical_features" in model.get_params(deep=False):
                table = f"{kind}, categories"
                yield f"{name}, {table}", table, fitted(name, table)
    yield "c45-rules, three, missing", "three, missing", fitted("c45-rules", "three, missing")
    yield (
        "random-forest, three, missing",
        "three, missing",
        fitted("random-forest", "three, missing"),
    )


def frames():
    """Yield models of a data frame of names and categories."""
    for name in ("samba", "adaboost", "cart", "c45", "newton-boosting", "proset", "ml-knn",
                 "rank-ridge", "random-forest", "local-boosting"):  # fmt: skip
        yield f"{name}, frame", "frame", clone(SETTINGS[name]).fit(*frame(FITTED, 0))


def weak():
    """Yield models of labels of which some are not recorded: NaN, and of PU no zero is."""
    X, y = drawn("two", FITTED, 0)
    positive, known = y == "ham", np.random.default_rng(5).random(FITTED) < 0.6
    sure = np.where(positive & known, 1.0, np.nan)
    both = np.where(known, positive.astype(float), np.nan)
    for name in ("pu", "pu-kernels", "pu-tree", "pu-rank"):
        yield f"{name}, weak", "two", clone(SETTINGS[name]).fit(X, sure)
    for name in ("one-sided-noise", "liois", "liois-tree"):
        yield f"{name}, weak", "two", clone(SETTINGS[name]).fit(X, both)


def labels():
    """Yield models of several labels a row."""
    for name in ("ml-knn", "random-forest", "cart"):
        X, _ = drawn("three", FITTED, 0)
        Y = np.column_stack([X[:, 0] > 0.5, X[:, 1] > 1, X[:, 4] > 0]).astype(int)
        try:
            model = clone(SETTINGS[name]).fit(X, Y)
        except psephos.PsephosError:  # one class a row
            continue
        yield f"{name}, labels", "three", model


def others():
    """Yield models that were changed after their fit, and parts that no setting has."""
    X, y = drawn("three", FITTED, 0)
    forest = fitted("random-forest", "three")
    for method in ("sigmoid", "isotonic", "temperature"):
        again = psephos.calibrate(forest, *drawn("three", FITTED, 2), method=method)
        yield method, "three", again
    votes = {"ham": 1.0, "egg": 0.4, "jam": 2.0}
    chosen = psephos.VotingClassifier(
        [("tree", clone(SETTINGS["cart"])), ("samba", clone(SETTINGS["samba"]))],
        class_votes=votes,
    ).fit(X, y)
    yield "class votes", "three", psephos.calibrate(chosen, *drawn("three", FITTED, 2))
    members = [("tree", clone(SETTINGS["cart"])), ("samba", clone(SETTINGS["samba"]))]
    yield "borda", "three", psephos.VotingClassifier(members, voting="borda").fit(X, y)
    lines = [("line", LogisticRegression()), ("machine", LinearSVC())]
    yield (
        "hard",
        "two",
        psephos.VotingClassifier(lines, voting="hard").fit(*drawn("two", FITTED, 0)),
    )
    several = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3))]
    numbers = psephos.VotingRegressor(several).fit(*drawn("numbers", FITTED, 0))
    yield "linear numbers", "numbers", numbers
    drawing = clone(SETTINGS["gibbs"]).set_params(n_draws=None)
    yield "gibbs drawn", "two", drawing.fit(*drawn("two, missing", FITTED, 0))
    losses = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    yield "losses", "three", clone(SETTINGS["cart"]).set_params(loss=losses).fit(X, y)
    yield "shrunk", "three", psephos.shrink(forest, 5, X, y)
    boosted = fitted("adaboost", "two")
    yield (
        "shrunk boosting",
        "two",
        psephos.shrink(boosted, 2, *drawn("two", FITTED, 0), target="model"),
    )
    tree = clone(SETTINGS["cart"])
    yield "twice learnt", "three", psephos.twice_learn(tree, forest, X)
    samba = fitted("samba", "two")
    yield "rounded", "two", with_rounded_rows(samba, 3)
    further = (
        clone(SETTINGS["random-forest"]).set_params(warm_start=True).fit(*drawn("two", FITTED, 0))
    )
    yield "gone on", "two", further.set_params(n_estimators=7).fit(*drawn("two", FITTED, 0))


def answers_of(model, rows):
    """Return what a model answers, as JSON holds it: floats in full."""
    found = {"labels": np.asarray(model.predict(rows)).tolist()}
    if hasattr(model, "decision_function"):
        found["scores"] = np.asarray(model.decision_function(rows)).tolist()
    if hasattr(model, "predict_proba"):
        found["chances"] = np.asarray(model.predict_proba(rows)).tolist()
    return found


def run(*arguments):
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result


def cases(n, seed):
    """Return a table as a csv file holds it: an id, groups, words, gaps, and a hostile name."""
    rng = np.random.default_rng(seed)
    ill = rng.permutation(n) % 2
    table = pd.DataFrame({"name": [f"case {seed}-{i}" for i in range(n)]})
    table["state"] = np.where(ill, "ill", "well")
    table["batch"] = [f"batch {i % 12}" for i in range(n)]
    table['k__Bacteria;p__<b>"x"'] = np.round(rng.normal(size=n) + 2 * ill, 3)
    table.loc[5::11, 'k__Bacteria;p__<b>"x"'] = np.nan
    usual = np.where(ill, "red", "green")
    table["colour"] = np.where(rng.random(n) < 0.2, "blue", usual)
    table["noise"] = np.round(rng.normal(size=n), 3)
    table["age, years"] = np.round(50 + 10 * (rng.normal(size=n) + ill))
    return table


def studies():
    """Write the folders of two comparisons and of a validation, and the tables they are of."""
    place = HERE / "tables"
    place.mkdir()
    cases(48, 0).to_csv(place / "cases.csv", index=False)
    cases(30, 1).to_csv(place / "cohort.csv", index=False)
    X, y = small_table(3, n=45, p=5)
    many = pd.DataFrame(np.round(X, 4), columns=list("abcde"))
    for k, name in enumerate(("is_ham", "is_egg", "is_jam")):
        many[name] = ((np.array(["ham", "egg", "jam"])[k] == y) | (X[:, 4] > 1)).astype(int)
    many.to_csv(place / "labels.csv", index=False)
    columns = ("--target", "state", "--id", "name", "--group", "batch")
    settings = ("--protocol", "demo", "--folds", 3, "--n-jobs", 1, "--no-report")
    models = "samba,adaboost,cart,majority"
    run("compare", place / "cases.csv", *columns, *settings, "--models", models, "--out",
        HERE / "study")  # fmt: skip
    run("compare", place / "labels.csv", "--labels", 3, *settings, "--models", "ml-knn,cart",
        "--out", HERE / "study-of-labels")  # fmt: skip
    run("validate", HERE / "study" / "models" / "samba.psephos", place / "cohort.csv", "--target",
        "state", "--positive", "ill", "--group", "batch", "--by", "colour", "--out",
        HERE / "validation")  # fmt: skip


def saved():
    """Yield the models of the study that this folder holds."""
    for name in ("samba", "adaboost", "cart"):
        model = psephos.load(HERE / "study" / "models" / f"{name}.psephos")
        yield f"study {name}", "cases", model
        if model.recalibration_ is not None:
            yield f"study {name}, recalibrated", "cases", psephos.recalibrated(model)


def write_all(path, contents):
    """Write files that are much alike as one archive, which is small by that."""
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for name, content in sorted(contents.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def stored(path):
    """Return a model file with the same entries, not packed each by itself."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as file, zipfile.ZipFile(buffer, "w") as other:
        for entry in file.infolist():
            other.writestr(zipfile.ZipInfo(entry.filename, entry.date_time), file.read(entry))
    return buffer.getvalue()


def asked_rows():
    """Return the rows that models are asked about, by the name of their table."""
    rows = {name: drawn(name, ASKED, 9).X for name in TABLES}
    rows["frame"] = frame(ASKED, 9)[0]
    cohort = pd.read_csv(HERE / "tables" / "cohort.csv").astype({"colour": "category"})
    rows["cases"] = cohort.drop(columns=["name", "state", "batch"])[:ASKED]
    return rows


def main_of_this():
    warnings.simplefilter("ignore")
    for name in ("models", "tables", "study", "study-of-labels", "validation"):
        shutil.rmtree(HERE / name, ignore_errors=True)
    (HERE / "models").mkdir()
    studies()
    rows, kept = asked_rows(), {}
    plains, programs, more, unsaved = {}, {}, {}, {}
    for source in (families, frames, weak, labels, others, saved):
        for name, table, model in source():
            file = HERE / "models" / f"{name.replace(', ', '--').replace(' ', '-')}.psephos"
            try:
                psephos.save(model, file)
            except psephos.PsephosError as error:
                unsaved[name] = str(error)
                continue
            kept[name] = {"file": file.name, "table": table, **answers_of(model, rows[table])}
            if name not in MODELS or file.stat().st_size > LARGE:
                more[file.name] = stored(file)
                file.unlink()
            try:
                plains[f"{file.stem}.json"] = json.dumps(plain(model), sort_keys=True).encode()
            except psephos.PsephosError as error:
                unsaved[f"plain form of {name}"] = str(error)
            if name in SCORERS:
                programs[f"{file.stem}.py"] = scorer(model, f"{file.stem}.py").encode()
    np.savez_compressed(HERE / "rows.npz", **{n: rows[n] for n in TABLES})
    rows["frame"].to_csv(HERE / "tables" / "frame.csv", index=False)
    write_all(HERE / "more-models.tar.xz", more)
    write_all(HERE / "plain.tar.xz", plains)
    write_all(HERE / "scorers.tar.xz", programs)
    cohort = HERE / "tables" / "cohort.csv"
    printed = {
        name: run("predict", HERE / "study" / "models" / f"{name}.psephos", cohort, "--id", "name")
        for name in ("samba", "adaboost", "cart")
    }
    told = {name: one.stdout for name, one in printed.items()}
    text = json.dumps({"kept": kept, "unsaved": unsaved, "predict": told}, ensure_ascii=False)
    (HERE / "answers.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main_of_this()
