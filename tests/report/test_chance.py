"""What is said to be better than a constant answer is what `better_than_constant` returns."""

import numpy as np

from psephos.report import build_report, summarise


def test_what_tells_the_classes_apart_is_claimed(builders, tmp_path):
    truth, proba = builders.of_two(120, shift=1.6)
    noise = np.random.default_rng(0).dirichlet([1, 1], 120)
    folder = builders.written_folder(
        tmp_path, truth, {"good": [proba], "noise": [noise]}, ["healthy", "ill"]
    )
    report = summarise(folder)
    assert (
        "Of the 2 models that read columns, 1 is significantly better than a constant prediction"
        " (balanced accuracy 0.50; p\u00a0≤\u00a00.05, corrected for 2 models); noise is not."
        in report["verdict"]
    )
    assert {m["key"] for m in report["models"] if m["frontier"]} == {"good"}
    told = report["island"]["missed"]["models"]
    assert "acting on it is worth more than" in told["good"]["note"]
    assert "By these counts" not in told["noise"]["note"]


def test_a_page_of_noise_praises_no_model(builders, tmp_path):
    rng = np.random.default_rng(3)
    truth = np.arange(60) % 2
    noise = {f"m{k}": [rng.dirichlet([1, 1], 60)] for k in range(10)}
    folder = builders.written_folder(tmp_path, truth, noise, ["healthy", "ill"])
    report = summarise(folder)
    assert (
        "None of the 10 models that read columns is significantly better than a constant prediction"
        " (balanced accuracy 0.50; p\u00a0>\u00a00.05, corrected for 10 models)."
        in report["verdict"]
    )
    assert not any(m["frontier"] for m in report["models"])
    assert not any(p["frontier"] for p in report["island"]["chart"]["points"])
    page = build_report(folder).read_text("utf-8")
    assert "By these counts acting on it" not in page


def test_of_groups_the_groups_are_counted(builders, tmp_path):
    """Cases that come in six groups are worth six."""
    truth, proba = builders.of_two(120, shift=0.8)
    names = {"alone": {}, "grouped": {"n_groups": 6}}
    said = {
        name: summarise(
            builders.written_folder(
                tmp_path / name, truth, {"m": [proba]}, ["healthy", "ill"], **more
            )
        )["first"]
        for name, more in names.items()
    }
    assert any("It is significantly better than a constant" in words for words in said["alone"])
    assert any("It is not significantly better than a constant" in w for w in said["grouped"])


def test_interval_and_p_that_seem_to_contradict_are_explained_and_no_others(builders, tmp_path):
    truth, proba = builders.of_two(120, shift=0.8)
    for name, more in {"alone": {}, "grouped": {"n_groups": 6}}.items():
        folder = builders.written_folder(
            tmp_path / name, truth, {"m": [proba]}, ["healthy", "ill"], **more
        )
        told = "m and its p-value seem to disagree: the interval is of the mean over folds, p is"
        assert any(told in words for words in summarise(folder)["verdict"]) == (name == "grouped")


def test_where_all_models_are_better_that_is_said_once(builders, tmp_path):
    truth, proba = builders.of_two(120, shift=1.6)
    folder = builders.written_folder(
        tmp_path, truth, {"a": [proba], "b": [proba**2]}, ["healthy", "ill"]
    )
    report = summarise(folder)
    words = " ".join([*report["first"], *report["verdict"]])
    assert words.count("significantly better") == 1
    assert "It is, like both that read columns, significantly better than a" in words


def test_an_old_bound_above_the_error_of_the_most_frequent_class_is_vacuous(builders, tmp_path):
    """Of 100 cases 10 are ill. The file, of an earlier version, compared with guessing."""
    truth = (np.arange(100) % 10 == 0).astype(int)
    proba = np.column_stack([1.0 - truth, truth])
    models = {"above": [proba], "below": [proba]}
    folder = builders.written_folder(tmp_path, truth, models, ["healthy", "ill"])
    (folder / "bounds.csv").write_text(
        "model,bound,value,delta,vacuous,of,told\n"
        'above,"hold-out, folds",0.22,0.05,False,e,t\n'
        'below,"hold-out, folds",0.09,0.05,False,e,t\n'
    )
    shown = summarise(folder)["proved"]
    cells = {row["key"]: row["cells"][0] for row in shown["rows"]}
    assert cells["above"] == {"text": "0.220", "mark": "vacuous"}
    assert cells["below"] == {"text": "0.090", "mark": ""}
    assert (shown["constant"], shown["none"]) == ("0.100", "")


def test_the_head_counts_groups_by_the_name_of_their_column(builders, tmp_path):
    truth, proba = builders.of_two(120, shift=0.8)
    for name, words in (("subject", " of 6 subjects"), ("groups", " of 6 groups")):
        about = {"n_groups": 6, "groups": name}
        classes = ["healthy", "ill"]
        folder = builders.written_folder(tmp_path / name, truth, {"m": [proba]}, classes, **about)
        assert summarise(folder)["data_line"].startswith(f"120 cases{words}, 9 columns; ")
