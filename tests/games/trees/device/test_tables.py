"""Blocks, chunks and parts of tables on a device."""

import numpy as np
import pytest

from conftest import needs
from fairfield.core import arrays
from fairfield.games.trees.device import tables
from fairfield.games.trees.device.tables import DeviceRows
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.tables import diagonal
from games.trees.models import BACKGROUND, X, fitted, shared_readings


@pytest.fixture
def torch(monkeypatch):
    """PyTorch, whose tensors on the host are taken for those of a device."""
    torch = needs("torch", "torch")
    monkeypatch.setattr(arrays, "HOSTS", ())
    return torch


@pytest.mark.parametrize("name", ["boosting", "histogram", "boosting of three classes"])
def test_any_blocks_chunks_and_parts_are_the_same(name, torch, monkeypatch):
    model = fitted(name)[0]
    output = "all" if "classes" in name else None
    rows, background = (torch.asarray(each) for each in (X, X[BACKGROUND]))
    wanted = shared_readings(TreeGame(model, rows, background, output=output))
    monkeypatch.setattr(tables, "AT_ONCE", 3000)
    monkeypatch.setattr(tables, "TOGETHER", 5)
    monkeypatch.setattr(diagonal, "KEPT", 0)
    monkeypatch.setattr(diagonal, "AT_ONCE", 2000)
    found = shared_readings(TreeGame(model, rows, background, output=output))
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_rows_as_the_splits_see_them(torch):
    model = fitted("xgboost with a sign for missing")[0]
    game = TreeGame(model, X[:40])
    rows = DeviceRows(game._trees, torch.asarray(X[:40]))
    seen = rows.block(slice(10, 20))
    assert seen.is_contiguous()
    assert rows.shape == game.rows.shape
    np.testing.assert_array_equal(seen.numpy(), game.rows[:, 10:20])
    np.testing.assert_array_equal(np.asarray(rows), game.rows)
