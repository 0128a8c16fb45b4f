"""The fixture `plain`, and refusals without kernels; the contract has the rest."""

import numpy as np
import pytest

from psephos import MLKNeighborsClassifier, PsephosError
from psephos.kernels.prediction import tree_walk_binary
from psephos.testing import small_table


@pytest.mark.usefixtures("plain")
def test_a_kernel_raises_outside_fits():
    with pytest.raises(AssertionError, match="a prediction called the kernel binary_leaves"):
        tree_walk_binary.binary_leaves()


@pytest.mark.usefixtures("plain")
def test_rows_that_are_too_far_are_refused():
    model = MLKNeighborsClassifier(n_neighbors=3).fit(*small_table())
    with pytest.raises(PsephosError, match="so far from the training cases"):
        model.predict(np.full((1, 12), 1e149))
