"""PSEPHOS_THOROUGH=1 runs every variant of a check: more seeds, and those of the same code."""

import os

THOROUGH = os.environ.get("PSEPHOS_THOROUGH") == "1"


def seeds(few, many):
    """Return the first `few` seeds; in a thorough run `many`."""
    return range(many if THOROUGH else few)
