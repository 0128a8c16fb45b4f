"""Help must come at once: nothing heavy may be imported for it."""

import subprocess
import sys

import pytest

COMMANDS = ("compare", "report", "fit", "predict", "explain", "list", "demo", "warm-up")
HEAVY = (
    "numpy",
    "scipy",
    "sklearn",
    "numba",
    "joblib",
    "pandas",
    "polars",
    "rich",
    "jinja2",
    "narwhals",
)

_SPY = """
import sys
from psephos.cli import main
try:
    main(sys.argv[1:], prog_name="psephos")
except SystemExit as end:
    assert not end.code, end.code
print("\\nIMPORTED", *sorted({name.split(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize(
    "arguments", [[], *([name] for name in COMMANDS)], ids=lambda a: " ".join(a)
)
def test_help_imports_nothing_heavy(arguments):
    run = [sys.executable, "-c", _SPY, *arguments, "--help"]
    done = subprocess.run(run, capture_output=True, text=True, check=True, encoding="utf-8")
    text, _, imported = done.stdout.partition("IMPORTED")
    assert text.startswith("Usage: psephos")
    assert not set(HEAVY) & set(imported.split())


def test_all_commands_are_listed_and_have_a_line_of_help(call):
    text = call("--help").output
    for name in COMMANDS:
        line = next(line for line in text.splitlines() if line.strip().startswith(f"{name} "))
        assert len(line.split()) > 3


def test_version(call):
    from psephos import __version__

    assert call("--version").output == f"psephos {__version__}\n"


def test_the_installed_command_is_this_one():
    from importlib.metadata import entry_points

    (found,) = [e for e in entry_points(group="console_scripts") if e.name == "psephos"]
    assert found.value == "psephos.cli:main"


def test_no_mark_of_the_help_library_is_shown(call):
    for name in ("", *COMMANDS):
        text = call(*([name] if name else []), "--help").output
        assert "\\b" not in text
        assert "..." not in text.split("Commands:")[-1] or name


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("predct", "did you mean predict?"),
        ("train", "did you mean fit?"),
        ("warmup", "did you mean warm-up?"),
        ("xyzzy", "the commands are compare, report"),
        (__file__, "is a file, not a command"),
    ],
)
def test_a_wrong_command_is_told_which_was_meant(call, word, told):
    result = call(word)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.count("did you mean") <= 1


def test_without_a_command_the_help_is_shown(call):
    assert "Commands:" in call().output


def test_the_parameters_of_a_model_are_listed_with_their_defaults(call):
    import inspect

    from psephos.registry import estimator_classes, model_names

    for name, kind in model_names().items():
        result = call("list", name)
        assert result.exit_code == 0, name
        signature = inspect.signature(estimator_classes()[kind].__init__)
        lines = result.output.splitlines()
        for one in list(signature.parameters.values())[1:]:
            assert f"  {one.name}={one.default!r}" in lines
    assert "k; if there are fewer" in call("list", "ml-knn").output
    wrong = call("list", "ml-kn")
    assert wrong.exit_code == 2
    assert "did you mean 'ml-knn'? psephos list shows all" in wrong.output
    assert "is not a model of psephos" in call("list", "sklearn-svm-linear").output + str(
        call("list", "xgboost").output
    )
