import numpy as np

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.evaluation import local
from fairfield.evaluation.kept import pack
from fairfield.evaluation.store import Store


def test_an_interrupt_while_others_work_ends_an_estimate_too(tmp_path, monkeypatch):
    """All that is missing is being evaluated by another driver."""
    game = ff.FunctionGame(lambda S: np.sqrt(S @ np.arange(12.0)), 12)
    path = tmp_path / "w.db"
    ff.shapley(game, budget=100, store=path)
    other = Store(path, game, {})
    other.claim(pack(enumerate_coalitions(12, 0, 4096)))

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(local, "sleep", interrupted)
    v = ff.shapley(game, budget=200, store=path)
    other.close()
    assert v.stop.startswith("interrupted")
