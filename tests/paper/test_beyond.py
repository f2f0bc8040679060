"""The page beyond the paper: its readings on games that are known, and its tables."""

import numpy as np
import pytest

from fairfield.core.coalitions import enumerate_coalitions
from paper import beyond

pytest.importorskip("scipy")


@pytest.mark.filterwarnings("ignore:An input array is constant")  # all players are alike
def test_eigenvalues_tell_where_alg_1_cycles():
    """Any member will do, members cost: it settles at T = .3 and cycles at .2."""
    S = enumerate_coalitions(3)
    worths = S.any(axis=1) - 0.2 * S.sum(axis=1)
    scale = beyond.read("redundancy", worths, 1.0).temperature
    for temperature, settles in ((0.3, True), (0.2, False)):
        found = beyond.read("redundancy", worths, temperature / scale)
        assert found.temperature == pytest.approx(temperature)
        assert found.settled is found.predicted is settles
        assert (found.lowest > -1) is settles
    assert found.errors[0] == pytest.approx(0.484, abs=1e-3)
    assert found.missing == pytest.approx(abs(3 * found.temperature * np.log(0.52821 / 0.47179) - 0.4) / 0.4, rel=1e-3)  # fmt: skip


def test_tables_stand_between_their_marks():
    page = "a\n<!-- cycles -->\nold\n<!-- end of cycles -->\nb\n"
    once = beyond.fill(page, {"cycles": ["| x |"]})
    assert "old" not in once
    assert once.startswith("a\n<!-- cycles -->\n\n| x |")
    assert once.endswith("<!-- end of cycles -->\nb\n")
    assert beyond.fill(once, {"cycles": ["| x |"]}) == once
