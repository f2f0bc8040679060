"""Blocks of rows give the same bits in any number of threads, and move a bar."""

import numpy as np
import pytest

import fairfield as ff
from fairfield.evaluation import blocks
from fairfield.games.trees.game import TreeGame
from games.trees.models import BACKGROUND, X, fitted


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 32)


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
@pytest.mark.parametrize("name", ["forest", "boosting", "forest of classes"])
def test_same_bits_in_any_number_of_threads(name, background):
    model, output = fitted(name)[0], "all" if name == "forest of classes" else None
    game = TreeGame(model, X[:100], background, output=output)
    for value in (ff.shapley, ff.banzhaf, ff.interactions):
        one, three = (value(game, n_jobs=jobs).values for jobs in (1, 3))
        np.testing.assert_array_equal(one, three)
    found = [ff.variational_index(game, n_jobs=jobs).values for jobs in (1, 2)]
    np.testing.assert_array_equal(*found)


def test_every_row_is_worked_on_once():
    seen = np.zeros(100, int)

    def work(block):
        seen[block] += 1

    extension = TreeGame(fitted("forest")[0], X[:2]).extension()
    for jobs in (1, 4):
        extension.jobs = jobs
        blocks.over_rows(work, 100, extension)
    assert (seen == 2).all()
    with pytest.raises(ZeroDivisionError):
        blocks.over_rows(lambda block: 1 // 0, 100, extension)


def test_progress_is_shown(capsys):
    game = TreeGame(fitted("forest")[0], X[:100])
    ff.shapley(game, progress=True)
    assert "/100" in capsys.readouterr().err
    ff.shapley(game, progress=False)
    assert not capsys.readouterr().err
