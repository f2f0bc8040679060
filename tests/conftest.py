"""What several tests share."""

from pathlib import Path

import numpy as np
import pytest

# Reference results of others may lie beside the project; they are not part of it.
REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "reference"


@pytest.fixture
def rng():
    return np.random.default_rng(20220425)


@pytest.fixture
def reference():
    """Loads a file of reference results, or skips the test where there are none."""

    def load(name):
        path = REFERENCE / name
        if not path.exists():
            pytest.skip(f"reference results are not beside the project: shared/reference/{name}")
        return np.load(path, allow_pickle=False)

    return load
