"""scikit-learn's own tests of ensembles, run on the classes of psephos.

The test modules are read from the scikit-learn that is installed and nothing of them is kept. In
each, the imports of the ensembles under test are changed and nothing else:

    python benchmarks/quality/peers_suites.py                       # counts and classes
    python benchmarks/quality/peers_suites.py --only voting --list  # each failure with its reason
    python benchmarks/quality/peers_suites.py --parameters          # as below

With ``--parameters`` each class also takes the constructor parameters of scikit-learn's that it
lacks, at their defaults; another value fails as "missing parameter". The tests then reach what they
test.

A test is said to *apply* if it fitted an estimator of psephos at least once.
"""

import argparse
import ast
import collections
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SUITES = {
    "weight_boosting": ("AdaBoostClassifier", "AdaBoostRegressor"),
    "forest": (
        "RandomForestClassifier",
        "RandomForestRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
    ),
    "gradient_boosting": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "bagging": ("BaggingClassifier", "BaggingRegressor"),
    "voting": ("VotingClassifier", "VotingRegressor"),
    "stacking": ("StackingClassifier", "StackingRegressor"),
}

# The class of a failure: the first pattern that its message matches.
CLASSES = (
    ("missing parameter", r"unexpected keyword argument|[Mm]issing parameter|Invalid parameter"),
    (
        "missing attribute",
        r"AttributeError|has no attribute|object is not iterable|has no len|not subscriptable",
    ),
    ("another wording", r"Regex pattern did not match|match(es|ed)? (no|any)|DID NOT WARN"),
    ("no refusal", r"DID NOT RAISE"),
    ("one class", r"y has only one class"),
    ("several outputs", r"y has \d+ columns|column-vector|1d array|one column|multi-?output"),
    ("refused here", r"PsephosError|ColumnError|ParameterError|LabelError|TargetError|psephos"),
    ("a warning", r"Warning"),
    ("other figures", r"AssertionError|Not equal|assert "),
)

SHIMS = '''
"""The classes of psephos, by the names of scikit-learn."""

import inspect
import sys

import psephos
import sklearn.ensemble as peers


def with_parameters(ours, theirs):
    """Return a subclass that also takes the parameters of the peer, at their defaults."""
    own = inspect.signature(ours.__init__).parameters
    new = [
        parameter.replace(kind=parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(theirs.__init__).parameters.items()
        if name not in own
    ]
    if not new:
        return ours

    def __init__(self, *args, **values):
        for parameter in new:
            value = values.pop(parameter.name, parameter.default)
            if value is not parameter.default and value != parameter.default:
                raise TypeError(f"missing parameter {parameter.name} = {value!r}")
        ours.__init__(self, *args, **values)

    __init__.__signature__ = inspect.Signature(list(own.values()))
    body = {"__init__": __init__, "__module__": __name__}
    return type(ours.__name__, (ours,), body)


for name in NAMES:
    if hasattr(psephos, name):
        cls = getattr(psephos, name)
        globals()[name] = with_parameters(cls, getattr(peers, name)) if PARAMETERS else cls
    else:  # no counterpart: scikit-learn's own, and the test does not apply
        globals()[name] = getattr(peers, name)
'''

PLUGIN = """
import json
import os
import pytest
from psephos.estimator.vote_estimator import VoteEstimator

fits = 0
found = {}
fit = VoteEstimator.fit


def counted(self, *args, **kwargs):
    global fits
    fits += 1
    return fit(self, *args, **kwargs)


VoteEstimator.fit = counted


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "setup":
        found[item.nodeid] = {"fits": -fits, "outcome": "passed", "why": ""}
    entry = found[item.nodeid]
    if report.outcome != "passed":
        entry["outcome"] = report.outcome
        if call.excinfo is not None and report.outcome == "failed":
            entry["why"] = call.excinfo.exconly()
    if call.when == "teardown":
        entry["fits"] += fits
    return report


def pytest_sessionfinish(session):
    with open(os.environ["PEERS_FOUND"], "w") as file:
        json.dump(found, file)
"""


def ported(source: str, names: tuple[str, ...]) -> str:
    """Return the test module with the classes under test imported from the shims."""
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "sklearn.ensemble":
            node.names = [alias for alias in node.names if alias.name not in names] or [
                ast.alias("BaseEnsemble")
            ]
    after = max(i for i, n in enumerate(tree.body) if isinstance(n, ast.Import | ast.ImportFrom))
    imports = ast.ImportFrom("peers_shims", [ast.alias(name) for name in names], 0)
    tree.body.insert(after + 1, imports)
    return ast.unparse(ast.fix_missing_locations(tree))


def run(suite: str, parameters: bool, seconds: int) -> dict[str, dict]:
    """Run one suite in a process of its own; return what became of each test."""
    names = SUITES[suite]
    module = importlib.import_module(f"sklearn.ensemble.tests.test_{suite}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / f"test_{suite}.py").write_text(ported(inspect.getsource(module), names))
        shims = f"NAMES = {names!r}\nPARAMETERS = {parameters!r}\n{SHIMS}"
        (folder / "peers_shims.py").write_text(shims)
        (folder / "peers_plugin.py").write_text(PLUGIN)
        (folder / "pytest.ini").write_text("[pytest]\n")
        path = os.pathsep.join([name, *filter(None, [os.environ.get("PYTHONPATH")])])
        found = folder / "found.json"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "peers_plugin", "--tb=no"]
        command += ["-p", "no:cacheprovider", "-p", "sklearn.conftest", f"test_{suite}.py"]
        environment = {**os.environ, "PYTHONPATH": path, "PEERS_FOUND": str(found)}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds
        )
        if not found.exists() or not (results := json.loads(found.read_text())):
            last = [line for line in done.stdout.splitlines() if line.startswith("ERROR ")]
            return {"collection": {"fits": 0, "outcome": "failed", "why": " ".join(last)}}
        return results


def class_of(why: str) -> str:
    """Return the class of a failure by its message."""
    return next((name for name, pattern in CLASSES if re.search(pattern, why)), "other")


def main() -> None:
    """Run the suites and print counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SUITES, default=list(SUITES))
    parser.add_argument("--parameters", action="store_true", help="with missing parameters")
    parser.add_argument("--list", action="store_true", help="print each failure")
    parser.add_argument("--seconds", type=int, default=1200, help="limit of a suite")
    parser.add_argument("--out", type=Path, help="write what became of each test, as JSON")
    args = parser.parse_args()
    everything = {}
    print("suite             run pass fail skip | apply pass fail")
    for suite in args.only:
        found = everything[suite] = run(suite, args.parameters, args.seconds)
        of = collections.Counter(entry["outcome"] for entry in found.values())
        apply = [entry for entry in found.values() if entry["fits"]]
        right = sum(entry["outcome"] == "passed" for entry in apply)
        print(
            f"{suite:17} {len(found):3} {of['passed']:4} {of['failed']:4} {of['skipped']:4} |"
            f" {len(apply):5} {right:4} {len(apply) - right:4}",
            flush=True,
        )
        failed = {name: e["why"] for name, e in found.items() if e["outcome"] == "failed"}
        kinds = collections.Counter(class_of(why) for why in failed.values())
        print("   " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
        if args.list:
            for name, why in failed.items():
                line = " ".join(why.split())[:160]
                print(f"   {name.split('::')[-1]} [{class_of(why)}]\n      {line}")
    if args.out:
        args.out.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
