"""Soft gradient boosting: CPU seconds of one thread.

    python benchmarks/speed/bench_soft_boosting.py epoch [--program FILE]
    python benchmarks/speed/bench_soft_boosting.py equal-loss [--set letter]
    python benchmarks/speed/bench_soft_boosting.py outputs [--set generated]
    python benchmarks/speed/bench_soft_boosting.py fat
    python benchmarks/speed/bench_soft_boosting.py device [--device cuda]

`epoch`: an epoch on the reference's sets, beside a torch program (its file exports `fit(X, target,
n_trees, depth, epochs, lr, weight_decay, batch, detach=, seed=)`), in turns in one process.
`equal-loss`: what the shortest fit takes whose held-out cross-entropy or error is at or below a
level, beside hard boosting. `outputs`: one model of all numbers beside one model a number. `fat`:
102 x 6,033 with sparse gates, and what memory it takes. `device`: an epoch of 10^6 x 100 there,
beside one thread of the CPU and the arithmetic that the device can do (needs PyTorch).
"""

import argparse
import importlib.util
import resource
import sys
import time
from pathlib import Path

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputRegressor
from sklearn.preprocessing import StandardScaler

from psephos import (
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    SoftGradientBoostingClassifier,
    SoftGradientBoostingRegressor,
)
from psephos.trees.soft import CrossEntropy, SoftPlan, SoftTrainer, started

sys.path.insert(0, str(Path(__file__).parents[1] / "quality"))
from _soft_sets import SETS, divided


def epoch(args):
    program = None
    if args.program:
        spec = importlib.util.spec_from_file_location("program", args.program)
        program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(program)
        import torch

        torch.set_num_threads(1)
    head("set", "trees, depth", "held fixed", "ours, s an epoch", "torch, s an epoch", "ratio")
    for name, (_, _, step, decay) in SETS.items():
        Xa, ya, _, _ = divided(name, 0)
        X = StandardScaler().fit_transform(Xa).astype(np.float32)
        Y = np.eye(ya.max() + 1, dtype=np.float32)[ya]
        for M, D in [(10, 5)] + [(20, 6)] * (name == "letter"):
            for detach in (True, False):
                plan = SoftPlan(CrossEntropy(), detach=detach, step_size=step, weight_decay=decay)
                rng = np.random.default_rng(0)
                trainer = SoftTrainer(started(rng, M, D, X.shape[1], Y.shape[1]), plan)
                weight = np.ones(len(X), np.float32)

                def ours(trainer=trainer, X=X, Y=Y, weight=weight, rng=rng):
                    trainer.epoch(X, Y, weight, rng.permutation(len(X)))

                seconds = cpu_time(ours)
                cells = [name, f"{M}, {D}", str(detach), f"{seconds:.4f}"]
                if program is not None:
                    tables = torch.from_numpy(X), torch.from_numpy(Y)

                    def theirs(tables=tables, detach=detach, M=M, D=D, step=step, decay=decay):
                        program.fit(*tables, M, D, 1, step, decay, 128, detach=detach)

                    other = cpu_time(theirs)
                    cells += [f"{other:.4f}", f"{other / seconds:.1f}"]
                line(*cells)


def equal_loss(args):
    """Seconds of the shortest fit that reaches a held-out error or loss."""
    for name in args.sets or ["satellite", "letter"]:
        Xa, ya, Xb, yb = divided(name, 0)
        runs = {}
        for label, make in {
            "soft, 20 of depth 6": lambda n: SoftGradientBoostingClassifier(
                max_iter=n, random_state=0
            ),
            "soft, learning_rate 3": lambda n: SoftGradientBoostingClassifier(
                learning_rate=3.0, max_iter=n, random_state=0
            ),
            "Newton, hist, 0.3": lambda n: NewtonBoostingClassifier("hist", n_estimators=n),
            "Newton, hist, 1.0": lambda n: NewtonBoostingClassifier(
                "hist", n_estimators=n, learning_rate=1.0
            ),
            "Newton, exact, 0.3": lambda n: NewtonBoostingClassifier(n_estimators=n),
            "gradient (scikit-learn's), 0.1": lambda n: GradientBoostingClassifier(
                n_estimators=n, max_depth=6, random_state=0
            ),
        }.items():
            lengths = (1, 2, 4, 8, 16, 32, 64)[: args.lengths]
            if "scikit" in label:
                lengths = (2, 8, 24)
            runs[label] = followed(make, Xa, ya, Xb, yb, lengths)
        best = [min(low for *_, low in run) for run in runs.values()]
        errors = sorted({0.15, 0.10, 0.05, 0.04} if name == "letter" else {0.13, 0.11, 0.10, 0.09})
        print(f"\n{name}: least cross-entropy of each: " + ", ".join(
            f"{label} {low:.3f}" for label, low in zip(runs, best, strict=True)
        ))  # fmt: skip
        losses = [1.0, 0.5, 0.3, 0.2, 0.15]
        head("model", *[f"error {e:g}" for e in errors[::-1]], *[f"loss {v:g}" for v in losses])
        for label, run in runs.items():
            cells = [first(run, 1, e) for e in errors[::-1]] + [first(run, 2, v) for v in losses]
            line(label, *cells)


def first(run, k, level):
    return next((f"{row[0]:.2f}" for row in run if row[k] <= level), "-")


def measured(model, Xb, yb, classes):
    chances = model.predict_proba(Xb)
    return 1 - (chances.argmax(axis=1) == yb).mean(), log_loss(yb, chances, labels=classes)


def followed(make, Xa, ya, Xb, yb, lengths):
    """Return (seconds of a fit of so many epochs or rounds, error, loss), each fitted anew."""
    run = []
    for n in lengths:
        start = time.process_time()
        model = make(n).fit(Xa, ya)
        run.append((time.process_time() - start, *measured(model, Xb, yb, np.arange(ya.max() + 1))))
    return run


def several_numbers(name):
    if name == "generated":
        rng = np.random.default_rng(0)
        X = rng.standard_normal((5000, 50))
        inner = np.tanh(X @ rng.standard_normal((50, 10)) / 4)
        Y = inner @ rng.standard_normal((10, 20)) + 0.3 * rng.standard_normal((5000, 20))
        return X, Y
    from _label_sets import label_set

    X, Y, _ = label_set(name)
    return X, Y.astype(float)


def outputs(args):
    """One model of all numbers, and one a number: time and R^2."""
    head("set", "model", "CPU s", "mean R^2 of held-out rows")
    for name in args.sets or ["generated", "yeast"]:
        X, Y = several_numbers(name)
        Xa, Xb, Ya, Yb = train_test_split(X, Y, test_size=0.3, random_state=0)
        soft = {"n_estimators": 10, "max_depth": 4, "max_iter": 30, "random_state": 0}
        for label, model in {
            "soft, all at once": SoftGradientBoostingRegressor(**soft),
            "soft, all at once, share held out": SoftGradientBoostingRegressor(
                **soft, validation_fraction=0.2, n_iter_no_change=5
            ),
            "soft, one a number": MultiOutputRegressor(SoftGradientBoostingRegressor(**soft)),
            "soft, one a number, share held out": MultiOutputRegressor(
                SoftGradientBoostingRegressor(**soft, validation_fraction=0.2, n_iter_no_change=5)
            ),
            "Newton hist, one a number": MultiOutputRegressor(NewtonBoostingRegressor("hist")),
            "Newton hist, one a number, share held out": MultiOutputRegressor(
                NewtonBoostingRegressor("hist", validation_fraction=0.2, random_state=0)
            ),
            "Newton hist, 300 of depth 3, 0.1": MultiOutputRegressor(
                NewtonBoostingRegressor("hist", n_estimators=300, max_depth=3, learning_rate=0.1)
            ),
        }.items():
            start = time.process_time()
            model.fit(Xa, Ya)
            seconds = time.process_time() - start
            line(name, label, f"{seconds:.2f}", f"{r2_score(Yb, model.predict(Xb)):.4f}")


def fat(args):
    """102 x 6,033: CPU seconds and the most memory of this process."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((102, 6033))
    y = (X[:, :5].sum(axis=1) > 0).astype(int)
    head("trees, depth", "gate_lasso", "CPU s", "columns", "most memory of the process, MB")
    for M, D, sparse in [(10, 3, 0.3), (20, 6, 0.3), (20, 6, 0.0)]:
        model = SoftGradientBoostingClassifier(M, max_depth=D, gate_lasso=sparse, random_state=0)
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        line(f"{M}, {D}", f"{sparse:g}", f"{seconds:.2f}", str(model.n_features_used_),
             f"{most:.0f}")  # fmt: skip


def on_a_device(args):
    """10^6 x 100, 20 trees of depth 6: seconds an epoch by batch, and the limit."""
    import torch

    device = torch.device(args.device)
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    n, q, M, D = args.rows, 100, 20, 6
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, q), dtype=np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2:8].sum(axis=1) + 0.5 * rng.standard_normal(n) > 0).astype(int)
    Y, weight = np.eye(2, dtype=np.float32)[y], np.ones(n, np.float32)
    gates, leaves, K = 2**D - 1, 2**D, 2
    work = n * 2.0 * M * (2 * gates * q + 3 * leaves * K)  # gates there and back, leaves and theirs
    rate = matrix_rate(torch, device, wait)
    print(f"{device}, {torch.__version__}: float32 products {rate / 1e12:.1f} TFLOP/s; an epoch's "
          f"products are {work / 1e12:.2f} TFLOP, {work / rate:.4f} s at that rate")  # fmt: skip
    head("batch", "device, s an epoch", "one CPU thread, s", "ratio", "times the limit",
         "one step's greatest difference")  # fmt: skip
    for size in (128, 1024, 8192, 65536):
        plan = SoftPlan(CrossEntropy(), step_size=0.01, batch_size=size)
        start = started(np.random.default_rng(1), M, D, q, K)
        host, there = (
            SoftTrainer(start.copy(), plan),
            SoftTrainer(
                type(start)(*(torch.asarray(a.copy(), device=device) for a in start)), plan
            ),
        )
        tables = [torch.asarray(a, device=device) for a in (X, Y, weight)]
        host.step(X[:size], Y[:size], weight[:size])
        there.step(*(a[:size] for a in tables))
        apart = max(
            np.abs(b.cpu().numpy() - a).max() / np.abs(a).max()
            for a, b in zip(host.trees, there.trees, strict=True)
        )
        order = np.random.default_rng(2).permutation(n)
        there.epoch(*tables, order[: 20 * size])
        times = []
        for _ in range(3):
            wait()
            begin = time.perf_counter()
            there.epoch(*tables, order)
            wait()
            times.append(time.perf_counter() - begin)
        part = order[: max(n // 10, size)]
        begin = time.process_time()
        host.epoch(X, Y, weight, part)
        cpu = (time.process_time() - begin) * n / len(part)
        seconds = float(np.median(times))
        line(f"{size}", f"{seconds:.3f}", f"{cpu:.1f} (a tenth timed)", f"{cpu / seconds:.0f}",
             f"{seconds / (work / rate):.1f}", f"{apart:.1e}")  # fmt: skip
    head("fit of 5 epochs, batch 8192", "s", "accuracy of 20,000 other rows")
    a, b = slice(n - 20000), slice(n - 20000, n)
    for where in (args.device, "cpu"):
        model = SoftGradientBoostingClassifier(
            max_iter=5, batch_size=8192, device=where, random_state=0
        )
        begin = time.perf_counter()
        model.fit(X[a], y[a])
        seconds = time.perf_counter() - begin
        line(where, f"{seconds:.1f}", f"{model.score(X[b], y[b]):.4f}")


def matrix_rate(torch, device, wait):
    """Return the floating-point operations a second of a product of two large float32 matrices."""
    a, b = (torch.randn(8192, 8192, device=device) for _ in range(2))
    times = []
    for _ in range(6):
        wait()
        begin = time.perf_counter()
        a @ b
        wait()
        times.append(time.perf_counter() - begin)
    return 2.0 * 8192**3 / min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tasks = {
        "epoch": epoch, "equal-loss": equal_loss, "outputs": outputs, "fat": fat,
        "device": on_a_device,
    }  # fmt: skip
    parser.add_argument("task", choices=tasks)
    parser.add_argument("--program", help="file of the torch program")
    parser.add_argument("--set", nargs="*", dest="sets")
    parser.add_argument("--lengths", type=int, default=7, help="fits of 1, 2, 4 ... epochs")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rows", type=int, default=10**6)
    args = parser.parse_args()
    tasks[args.task](args)


if __name__ == "__main__":
    main()
