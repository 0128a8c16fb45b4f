"""Steps of soft gradient boosting against an implementation by automatic differentiation."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from psephos.trees.soft import CrossEntropy, SoftPlan, SoftTrainer, SoftTrees, SquaredError

STORED = json.loads((Path(__file__).parent / "soft_gbm.json").read_text())
LOSSES = {"cross_entropy": CrossEntropy(), "squared": SquaredError()}
pytestmark = pytest.mark.reference


def arrays(stored):
    return SoftTrees(*(np.array(a, dtype=np.float32) for a in stored))


@pytest.mark.parametrize("run", STORED["runs"], ids=lambda r: f"{r['loss']}-{r['detach']}")
def test_steps_from_the_same_start_are_the_same(run):
    X, y = np.array(run["X"], dtype=np.float32), np.eye(3, dtype=np.float32)[run["y"]]
    plan = SoftPlan(
        LOSSES[run["loss"]],
        learning_rate=run["learning_rate"],
        detach=run["detach"],
        step_size=run["learning_rate_init"],
        weight_decay=run["weight_decay"],
    )
    trainer = SoftTrainer(arrays(run["start"]), plan)
    for step, loss in enumerate(run["losses"]):
        assert trainer.step(X, y, np.ones(len(X), np.float32)) == pytest.approx(loss, rel=1e-5)
        if step in (0, 2):
            expected = arrays(run["after"][step // 2])
            for ours, theirs in zip(trainer.trees, expected, strict=True):
                assert_allclose(ours, theirs, atol=1e-5)
