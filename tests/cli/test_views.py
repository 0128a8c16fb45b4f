"""Views named by a file: from the file to predictions, and beside other models."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from psephos import PsephosError, compare, load, read_table
from psephos.protocol import Protocol


@pytest.fixture
def flowers(tmp_path):
    data = load_iris()
    names = ["sepal_l", "sepal_w", "petal_l", "petal_w"]
    frame = pd.DataFrame(data.data, columns=names)
    frame["noise"] = np.random.default_rng(0).normal(size=150)
    frame["kind"] = data.target_names[data.target]
    frame.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "views.csv").write_text(
        "column,view\nsepal_l,sepal\nsepal_w,sepal\npetal_*,petal\n"
    )
    return tmp_path


def test_from_the_file_of_views_to_predictions(flowers, call):
    out = flowers / "m.psephos"
    words = ["--target", "kind", "--views", flowers / "views.csv", "--out", out]
    found = call("fit", flowers / "t.csv", *words, "--model", "multi-view")
    assert found.exit_code == 0, found.output
    assert "petal (2 columns); without a view, and not read by multi-view: 'noise'." in found.stderr
    model = load(out)
    assert model.view_names_ == ("sepal", "petal")
    assert model.views == [("sepal", ["sepal_l", "sepal_w"]), ("petal", ["petal_l", "petal_w"])]
    frame = pd.read_csv(flowers / "t.csv")
    gone = frame.assign(sepal_l="", sepal_w="")  # a view is absent, columns in another order
    gone[["petal_w", "petal_l", "sepal_w", "sepal_l"]].to_csv(flowers / "new.csv", index=False)
    answers = call("predict", out, flowers / "new.csv")
    assert answers.exit_code == 0, answers.output
    whole = pd.read_csv(flowers / "t.csv")
    whole["sepal_l"] = whole["sepal_w"] = np.nan
    expected = model.predict(whole.drop(columns=["kind"]))
    given = pd.read_csv(io.StringIO(answers.stdout))
    assert given.iloc[:, 1].tolist() == expected.tolist()
    told = call("explain", out, flowers / "t.csv")
    assert told.exit_code == 0, told.output
    assert "petal_l" in told.stdout
    assert "noise" not in told.stdout
    refused = call("fit", flowers / "t.csv", *words, "--model", "cart")
    assert "cart does not read views (--views): use --model multi-view" in refused.stderr


@pytest.mark.filterwarnings("ignore:views")
def test_compare_with_views(flowers):
    table = read_table(flowers / "t.csv", target="kind", views=flowers / "views.csv")
    assert table.views == (
        ("sepal", ("sepal_l", "sepal_w")), ("petal", ("petal_l", "petal_w")),
    )  # fmt: skip
    found = compare(
        flowers / "t.csv", "kind", views=flowers / "views.csv", models=["multi-view", "majority"],
        protocol="demo", accept=["FD020"],
    )  # fmt: skip
    assert not found.failures
    assert found.models["multi-view"].view_names_ == ("sepal", "petal")
    with pytest.raises(PsephosError, match="views need the model multi-view: name it"):
        compare(table, models=["majority"])
    assert table.fingerprint() != read_table(flowers / "t.csv", target="kind").fingerprint()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "column,view\nsepl_l,a\n",
            "line 2 of 'v.csv' .* 'sepl_l', which is not a feature column.* did you",
        ),
        ("column,view\nsepal_l,a\nsepal_*,b\n", "'sepal_l' is in the views 'a' and 'b'"),
        ("column,view\nkind,a\n", "'kind', which is not a feature column"),
        ("column,view\nsepal_l,\n", "names no view"),
        ("sepal_l,a\nsepal_w,a\n", "two columns below a line of names"),
        ("column,view,more\nsepal_l,a,b\n", "two columns below a line of names"),
    ],
)
def test_what_a_file_of_views_may_hold(flowers, text, sentence):
    (flowers / "v.csv").write_text(text)
    with pytest.raises(PsephosError, match=sentence):
        read_table(flowers / "t.csv", target="kind", views=flowers / "v.csv")


@pytest.mark.filterwarnings("ignore:views")
def test_views_of_numbers(flowers, call):
    out, views = flowers / "m.psephos", flowers / "views.csv"
    frame = pd.read_csv(flowers / "t.csv").drop(columns="kind")
    frame["length"] = frame["sepal_l"] + 2 * frame.pop("noise")
    frame.to_csv(flowers / "n.csv", index=False)
    words = ["--target", "length", "--task", "numbers", "--views", views]
    found = call("fit", flowers / "n.csv", *words, "--model", "multi-view", "--out", out)
    assert found.exit_code == 0, found.output
    assert type(load(out)).__name__ == "MultiViewRegressor"
    assert load(out).view_names_ == ("sepal", "petal")
    table = read_table(flowers / "n.csv", target="length", task="numbers", views=views)
    plain = Protocol("plain", folds=2, inner_folds=2, draws=1)
    study = compare(table, models=["mean", "multi-view-regressor"], protocol=plain)
    assert not study.failures
    assert study.models["multi-view-regressor"].view_names_ == ("sepal", "petal")
    with pytest.raises(PsephosError, match="views need the model multi-view-regressor"):
        compare(table, models=["mean"])
