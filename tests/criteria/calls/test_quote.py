import time

import pytest

import fairfield as ff


def refuse(names):
    raise AssertionError("a quote calls no service")


def test_a_service_is_not_called():
    game = ff.RemoteGame(refuse, 12, price=0.01, per_minute=600, repeats=2)
    assert ff.quote(game) == ff.Quote(4096, 8192, pytest.approx(819.2), pytest.approx(81.92))
    assert ff.quote(game, "shapley", budget=100) == ff.Quote(100, 200, 20.0, pytest.approx(2.0))
    assert ff.quote(game, ff.leave_one_out).evaluations == 14
    assert ff.quote(game, "banzhaf", spend=3).calls == 300
    assert ff.quote(ff.RemoteGame(refuse, 4)) == ff.Quote(16, 16, None, None)
    assert ff.quote(ff.RemoteGame(refuse, 4, empty=0)).calls == 15
    noisy = ff.RemoteGame(refuse, 4, repeats="auto", price=0.01)
    assert ff.quote(noisy, spend=3).calls == 300


def test_few_worths_do_for_some_criteria_and_money_is_counted_as_in_the_run():
    halves = {"left": range(4), "right": range(4, 8)}
    asked, game = [], ff.RemoteGame(lambda names: asked.append(names) or 1.0, 8, price=0.1)
    exact = ff.owen(game, halves)
    assert ff.quote(game, ff.owen, unions=halves).calls == exact.usage["calls"] == len(asked) == 60
    asked.clear()
    assert ff.owen(game, halves, spend=4.1).stderr is not None
    # Though 4.1 / 0.1 is a little less than 41.
    assert ff.quote(game, ff.owen, unions=halves, spend=4.1).calls == len(asked) == 41


def test_stored_answers_tell_more(tmp_path):
    def worth(names):
        time.sleep(0.01)
        return ff.Worth(len(names), cost=0.5)

    game = ff.RemoteGame(worth, 12, concurrency=4, name="mine")
    ff.shapley(game, budget=60, store=tmp_path / "w.db")
    found = ff.quote(ff.RemoteGame(refuse, 12, name="mine"), budget=100, store=tmp_path / "w.db")
    assert (found.evaluations, found.calls, found.cost) == (40, 40, 20.0)
    assert found.seconds >= 40 * 0.01 / 8


def test_other_games_are_timed(tmp_path):
    calls = []

    def worth(S):
        calls.append(len(S))
        return S.sum(axis=1)

    found = ff.quote(worth, players=10)
    assert (found.evaluations, found.cost, calls) == (1024, 0.0, [16])
    assert found.seconds > 0
    assert ff.quote(ff.VotingGame([1, 2, 3], 4)) == ff.Quote(0, 0, 0.0, 0.0)
    game = ff.FunctionGame(worth, 10)
    ff.shapley(game, store=tmp_path / "w.db")
    assert ff.quote(game, store=tmp_path / "w.db").evaluations == 0


def test_what_cannot_be_known_is_said():
    with pytest.raises(ValueError, match="give a budget="):
        ff.quote(ff.RemoteGame(refuse, 12), tolerance=0.1)
    with pytest.raises(ValueError, match=r"spend= pays for.*or the game a price="):
        ff.quote(ff.RemoteGame(refuse, 12), spend=3)
    with pytest.raises(MemoryError, match="exact values need all 2\\^40 worths"):
        ff.quote(ff.RemoteGame(refuse, 40))


def test_fits_are_timed_and_the_least_is_said():
    calls = []

    class Fits(ff.Game):
        players = tuple(range(12))
        traits = ff.Traits(block=1)

        def worths(self, coalitions):
            calls.append(len(coalitions))
            time.sleep(0.01)
            return coalitions.sum(axis=1).astype(float)

    found = ff.quote(Fits(), "shapley", budget=100)
    assert calls == [1, 1, 1, 1]
    assert (found.evaluations, found.least) == (100, 26)
    assert found.least_seconds == pytest.approx(0.26 * found.seconds)
    assert found.seconds >= 1.0
    # As many as the time allows, but at least what an answer needs.
    assert 26 <= ff.quote(Fits(), "shapley", seconds=2.0).evaluations <= 200
    assert ff.quote(Fits(), "shapley", seconds=0.01).evaluations == 26
    assert ff.quote(Fits(), ff.leave_one_out).least == 14


def test_what_was_told_is_no_evaluation_and_took_no_time(tmp_path):
    local = ff.FunctionGame(lambda S: S.sum(axis=1), 3, name="sum")
    study = ff.Study("shapley", local, store=tmp_path / "local.db")
    study.tell(study.ask(8), [1.0] * 8)
    assert ff.quote(local, store=tmp_path / "local.db").evaluations == 8
    remote = ff.RemoteGame(refuse, 3, name="mine", per_minute={"tokens": 60})
    study = ff.Study("shapley", remote, store=tmp_path / "remote.db")
    study.tell(study.ask(2), [ff.Worth(1.0, tokens=10)] * 2)
    # Six more, ten tokens each, at one a second.
    assert ff.quote(remote, store=tmp_path / "remote.db").seconds == pytest.approx(60)


def test_a_worth_that_is_given_is_neither_asked_for_nor_paid():
    def quoted(repeats, **options):
        return ff.quote(ff.RemoteGame(refuse, 8, empty=0.0, price=1.0, repeats=repeats), **options)

    assert quoted(1, spend=30).calls == 30
    assert quoted(1, budget=30).calls == 29
    assert quoted("auto", budget=30).calls == 30
