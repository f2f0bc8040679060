import os
import time

import numpy as np
import pytest

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.evaluation.options import Options
from fairfield.evaluation.outcomes import Care, evaluate_block

ALL = enumerate_coalitions(3)


def outcome(function, coalitions=ALL, **options):
    game = ff.FunctionGame(function, ["a", "b", "c"])
    return evaluate_block(game, coalitions, Care.of(Options(**options)))


def sizes(S):
    return S.sum(axis=1).astype(float)


def refuses(*names):
    """Worths that fail on blocks with the coalition of these names."""
    row = np.isin(["a", "b", "c"], names)

    def worth(S):
        if (row == S).all(axis=1).any():
            raise ValueError("refused")
        return sizes(S)

    return worth


def test_a_block_is_measured_once():
    found = outcome(sizes)
    assert found.failure is None
    assert found.measured.worths.tolist() == sizes(ALL).tolist()
    assert Care.of(Options()) == Care(driver=os.getpid())


def test_the_coalition_that_fails_is_named():
    found = outcome(refuses("a", "c"))
    assert found.failure == "the game failed on coalition {a, c}: ValueError: refused"
    assert isinstance(found.error, ValueError)
    # The others of the block are kept.
    assert len(found.measured.worths) == len(ALL) - 1


def test_leaving_the_program_is_a_failure():
    found = outcome(lambda S: exit(3))
    assert "the game failed on coalition {}: SystemExit: 3" in found.failure


def test_a_worth_that_passes_when_tried_again_is_kept():
    tries = []

    def flaky(S):
        tries.append(len(S))
        if len(tries) < 3:
            raise ConnectionError("gone")
        return sizes(S)

    found = outcome(flaky, retries=2)
    assert found.measured.worths.tolist() == sizes(ALL).tolist()
    assert tries == [8, 8, 8]


def test_what_fails_takes_the_fallback_and_nothing_else_does():
    found = outcome(refuses("b"), on_error=-1.0)
    expected = sizes(ALL)
    expected[2] = -1.0
    assert found.measured.worths.tolist() == expected.tolist()
    assert found.measured.failures == ff.Failures(1, "{b} (ValueError: refused)")
    nans = outcome(lambda S: np.where(S.all(axis=1), np.nan, sizes(S)), on_error=0)
    assert nans.measured.worths.tolist() == [*sizes(ALL)[:-1], 0.0]
    assert "every worth must be a finite number" in nans.measured.failures.first


def test_a_hanging_worth_is_given_up_and_named():
    def hangs(S):
        if (S.sum(axis=1) == 3).any():
            time.sleep(3)
        return sizes(S)

    found = outcome(hangs, timeout=0.05)
    assert found.failure == (
        "the game failed on coalition {a, b, c}: TimeoutError: no worth within 0.05 seconds"
    )
    assert found.hung
    assert outcome(hangs, timeout=0.5).seconds < 2  # one worth's time, not that of all eight
    found = outcome(hangs, timeout=0.05, on_error=7)
    assert found.measured.worths.tolist() == [*sizes(ALL)[:-1], 7.0]


def test_errors_pass_through_the_thread_of_a_timed_worth():
    found = outcome(refuses("a"), timeout=30)
    assert found.failure == "the game failed on coalition {a}: ValueError: refused"
    assert outcome(sizes, timeout=30).measured.worths.tolist() == sizes(ALL).tolist()


def test_a_noisy_game_has_variances_beside_its_fallbacks():
    class Noisy(ff.Game):
        players, traits = ("a", "b"), ff.Traits(noisy=True)

        def measure(self, coalitions):
            if coalitions.all(axis=1).any():
                raise ValueError
            return ff.Measured(sizes(coalitions), np.ones(len(coalitions)))

    found = evaluate_block(Noisy(), enumerate_coalitions(2), Care(fallback=0.5))
    assert found.measured.worths.tolist() == [0, 1, 1, 0.5]
    assert found.measured.variances.tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2}, {"timeout": 60}])
def test_options_reach_the_workers(options):
    v = ff.shapley(refuses("a", "b"), players=["a", "b", "c"], on_error=2.0, **options)
    assert v.values == pytest.approx([1, 1, 1])
    assert "one worth could not be found and took the fallback, that of {a, b}" in v.stop


def test_a_fallback_is_not_stored(tmp_path):
    game = ff.FunctionGame(lambda names: 1 / (len(names) - 1), 2, takes="names")
    ff.shapley(game, on_error=0.0, store=tmp_path / "w.db")
    assert ff.verify_store(tmp_path / "w.db") == 2
    with pytest.raises(ff.WorthError, match="ZeroDivisionError"):
        ff.shapley(game, store=tmp_path / "w.db")


@pytest.mark.parametrize("options", [{}, {"timeout": 60}, {"n_jobs": 2}])
def test_beside_a_fallback_all_other_worths_are_stored(options, tmp_path):
    """Those of its block were not, and with a time limit none was, whether a worth failed or not."""
    store = tmp_path / "w.db"
    ff.shapley(refuses("a", "b"), players=["a", "b", "c"], on_error=2.0, store=store, **options)
    assert ff.verify_store(store) == 7


def test_keys_are_not_in_what_a_failure_says(monkeypatch):
    monkeypatch.setenv("SERVICE_API_KEY", "mine-and-secret")

    def worth(names):
        raise RuntimeError("401 for mine-and-secret")

    with pytest.raises(ff.WorthError, match=r"RuntimeError: 401 for \[secret\]") as caught:
        ff.shapley(ff.FunctionGame(worth, 2, takes="names"))
    assert caught.value.__cause__ is None
