"""The driver of calls: what is claimed, paid, lost and counted."""

import asyncio
import signal
import threading
import time

import numpy as np
import pytest

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Options

SIX = [f"p{i}" for i in range(6)]
ALL = enumerate_coalitions(3, 0, 8)


def truth(names):
    return float(len(names)) ** 2


def test_drivers_of_one_store_do_not_wait_for_what_the_other_gave_up(tmp_path):
    """Each gives up half of what it asks for; the other one then asks for it, too."""
    found, begin = [], threading.Barrier(2)

    def worth(names):
        time.sleep(0.002)
        if "p0" in names:
            raise ValueError("refused")
        return truth(names)

    def drive():
        game = ff.RemoteGame(worth, SIX[:4], concurrency=1, name="shared")
        begin.wait()
        found.append(ff.shapley(game, store=tmp_path / "w.db", on_error=0.0, progress=False))

    drivers = [threading.Thread(target=drive, daemon=True) for _ in range(2)]
    for each in drivers:
        each.start()
    for each in drivers:
        each.join(20)
    assert [v.stop.count("8 worths could not be found") for v in found] == [1, 1]


def test_claims_do_not_outlast_what_they_were_for(tmp_path):
    """Neither those of answered coalitions, which another may ask again, nor those of calls not made."""
    game = ff.RemoteGame(truth, 3, name="mine")
    options = Options(store=tmp_path / "w.db", spend=3)
    priced = ff.RemoteGame(truth, 3, name="mine", price=1.0, concurrency=8)
    with (
        Evaluator(priced, options) as first,
        Evaluator(game, Options(store=options.store)) as other,
    ):
        assert first.measure(ALL).worths.size == 3
        assert other.worths(ALL).tolist() == [truth(range(k)) for k in ALL.sum(axis=1)]
        # What others answered is no evaluation of one's own.
        assert (first.evaluations, other.evaluations) == (3, 5)


def test_a_repeat_that_fails_leaves_the_answers_there_are():
    asked = []

    def worth(names):
        asked.append(names)
        if len(names) == 2 and asked.count(names) == 2:
            raise ValueError("refused")
        if len(names) == 1:
            raise ValueError("refused")
        return truth(names)

    v = ff.shapley(ff.RemoteGame(worth, 2, repeats=3, concurrency=1), on_error=7.0)
    assert (v.grand, v.usage["failures"]) == (4.0, 7)
    assert "2 worths could not be found and took the fallback, the first of {0}" in v.stop


def test_answers_that_are_refused_are_paid_for():
    def worth(names):
        return ff.Worth(np.nan if len(names) == 2 else truth(names), cost=0.5, tokens=3)

    v = ff.shapley(ff.RemoteGame(worth, 2), on_error=0.0)
    assert (v.usage["calls"], v.usage["cost"], v.usage["tokens"]) == (3, 2.0, 12)
    assert "3 calls, 1 failure" in v.stop


def test_a_cap_needs_costs():
    asked = []

    def worth(names):
        asked.append(names)
        return truth(names)

    with pytest.raises(ff.WorthError, match=r"spend=5 cannot be kept.*give the game a price="):
        ff.shapley(ff.RemoteGame(worth, SIX, concurrency=4), spend=5)
    assert len(asked) <= 4
    free = ff.RemoteGame(lambda names: ff.Worth(truth(names), cost=0.0), SIX)
    assert ff.shapley(free, spend=5).usage["calls"] == 64


def test_a_cap_that_nobody_can_check_is_said(tmp_path):
    """All answers of few players were under way before the first of them told nothing of its cost."""

    async def worth(names):
        await asyncio.sleep(0.05)  # so that all calls begin before the first ends
        return truth(names)

    def asked(players=2, **own):
        return ff.RemoteGame(worth, players, concurrency=64, name="w", **own)

    doubt = "whether spend=5 was kept is not known, since an answer did not say what it cost"
    found = ff.shapley(asked(), spend=5)
    assert found.usage["calls"] == 4
    assert found.stop.count(doubt) == 1
    told = ff.shapley(asked(empty=0.0), spend=5).stop
    assert doubt in told
    assert "was given, not asked for" in told
    assert doubt in ff.shapley(asked(4), spend=5).stop
    assert "spend" not in ff.shapley(asked(price=0.01), spend=5).stop
    ff.shapley(asked(), store=tmp_path / "a.db")
    again = ff.shapley(asked(), store=tmp_path / "a.db", spend=5)
    assert "since an answer of an earlier run did not say" in again.stop


def test_calls_that_time_out_do_not_exceed_the_cap():
    attempts = 0

    async def worth(names):
        nonlocal attempts
        attempts += 1
        if attempts > 20:
            await asyncio.sleep(60)
        return truth(names)

    v = ff.shapley(ff.RemoteGame(worth, SIX, price=1.0, timeout=0.02), spend=26)
    assert (attempts, v.usage["calls"], v.usage["cost"]) == (26, 20, 26)
    assert "spend=26 allows no further call" in v.stop


def test_money_ends_a_run_that_was_to_be_exact_with_an_estimate():
    game = ff.RemoteGame(lambda names: ff.Worth(truth(names), cost=0.05), SIX, price=0.01)
    v = ff.shapley(game, spend=1.5)
    assert v.usage["calls"] == 30
    assert v.stderr is not None
    assert "spend=1.5 allows no further call" in v.stop
    with pytest.raises(ff.WorthError, match="exact values need all worths") as caught:
        ff.shapley(game, spend=1.5, exact=True)
    assert caught.value.partial.values.tolist() == v.values.tolist()
    assert len(caught.value.coalitions) == len(caught.value.worths) == 30


def test_an_error_says_what_is_known():
    def worth(names):
        if len(names) == 3:
            raise ValueError("refused")
        return truth(names)

    with pytest.raises(ff.WorthError) as caught:
        ff.shapley(ff.RemoteGame(worth, 3, concurrency=1))
    found = caught.value.coalitions, caught.value.worths
    known = {row.tobytes(): w for row, w in zip(*found, strict=True)}
    assert known == {row.tobytes(): truth(range(row.sum())) for row in ALL[:7]}


def test_the_first_error_ends_the_run_and_calls_that_wait_are_not_made():
    tries = []

    def worth(names):
        tries.append(names)
        raise ValueError(f"number {len(tries)}")

    with pytest.raises(ff.WorthError, match="number 1"):
        ff.shapley(ff.RemoteGame(worth, SIX, per_minute=600))
    assert len(tries) == 1


def test_what_fails_after_an_interrupt_is_no_error():
    """It would be tried again, were the run to go on."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    count = 0

    def worth(names):
        nonlocal count
        count += 1
        if count > 40:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            raise ConnectionError
        return truth(names)

    try:
        v = ff.shapley(ff.RemoteGame(worth, SIX, concurrency=1), tolerance=1e-30)
    finally:
        signal.signal(signal.SIGINT, before)
    assert v.stop.startswith("interrupted")
    assert count == 41


def test_keys_in_errors_behind_an_error_stay_secret(monkeypatch):
    monkeypatch.setenv("SERVICE_API_KEY", "mine-and-secret")

    def worth(names):
        try:
            raise ConnectionError("x?auth=mine-and-secret")
        except ConnectionError as error:
            raise ValueError("no answer") from error

    with pytest.raises(ff.WorthError, match="ValueError: no answer") as caught:
        ff.shapley(ff.RemoteGame(worth, 2))
    assert caught.value.__cause__ is None


def test_what_clients_report_need_not_be_plain_numbers(tmp_path):
    def worth(names):
        cost, tokens = np.float32(0.5), None if names else np.int64(3)
        return ff.Worth(truth(names), cost=cost, tokens=tokens, record={(1, 2): {np.int64(3)}})

    game = ff.RemoteGame(worth, 2, always=(name for name in ["question"]))
    v = ff.shapley(game, store=tmp_path / "w.db")
    assert v.usage["cost"] == 2.0
    found = ff.rescore(tmp_path / "w.db", lambda record: float(record == {"(1, 2)": ["3"]}))
    assert ff.shapley(found).grand == 1.0


def test_repeats_that_are_never_answered_end_the_run():
    asked = set()

    def worth(names):
        if names in asked:
            raise ValueError("not again")
        asked.add(names)
        return truth(names)

    game = ff.RemoteGame(worth, 4, repeats="auto")
    v = ff.shapley(game, tolerance=1e-9, on_error=0.0)
    assert "used 16 answers; no more came" in v.stop
    assert v.evaluations == 16
    assert v.usage["failures"] > 0


def test_time_outs_of_a_client_are_paid_for_once_and_for_all(tmp_path):
    asked = 0

    def worth(names):
        nonlocal asked
        asked += 1
        if asked <= 6:
            raise TimeoutError("read timed out")
        return truth(names)

    def value(spend):
        game = ff.RemoteGame(worth, SIX[:4], name="late", price=1.0, retries=0, concurrency=1)
        return ff.shapley(game, store=tmp_path / "w.db", spend=spend, on_error=0.0)

    assert value(14).usage["cost"] == asked == 14
    # The next run has no money left, though the store has but 8 answers; it does without the others.
    repeated = value(14)
    assert "spend=14 allows no further call, 14 of it spent before" in repeated.stop
    assert "6 worths could not be found and took the fallback" in repeated.stop
    assert asked == 14
    assert value(30).usage["calls"] == 8
    assert asked == 22


def test_answers_are_kept_though_the_money_ends_with_the_last_of_them():
    def worth(names):
        return ff.Worth(truth(names), cost=1.0)

    v = ff.shapley(ff.RemoteGame(worth, 3), spend=8, exact=True)
    assert v.stop == "exact for these answers; 8 calls, cost 8"


def test_what_was_paid_for_is_read_whatever_may_be_spent(tmp_path):
    game = ff.RemoteGame(truth, SIX[:4], name="mine", price=1.0)
    exact = ff.shapley(game, store=tmp_path / "w.db")
    again = ff.shapley(game, store=tmp_path / "w.db", spend=10)
    assert again.values.tolist() == exact.values.tolist()
    assert again.stop == "exact for these answers"
    twice = ff.RemoteGame(truth, SIX[:4], name="mine", price=1.0, repeats=2)
    with pytest.raises(ff.WorthError, match="spend=10 allows no further call, 16 was spent before"):
        ff.shapley(twice, store=tmp_path / "w.db", spend=10, exact=True)


def test_answers_of_no_use_stay_paid_for_in_later_runs(tmp_path):
    asked = 0

    def worth(names):
        nonlocal asked
        asked += 1
        return ff.Worth(
            np.nan if len(names) == 2 else truth(names), cost=1.0 - 0.1 * (len(names) == 2)
        )

    def value():
        game = ff.RemoteGame(worth, SIX[:3], name="some")
        return ff.shapley(game, store=tmp_path / "w.db", spend=10, on_error=0.0)

    first = value()
    assert first.usage["cost"] == pytest.approx(7.7)
    assert asked == 8
    # What the three cost is not kept, so that the next run takes the dearest for it: two are asked for.
    assert value().values.tolist() == first.values.tolist()
    assert asked == 10


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_run_with_fallbacks_gives_the_same_again_when_its_money_is_spent(repeats, tmp_path):
    """A call that failed left no answer, so that the same call had nothing to begin with."""
    asked = 0

    def worth(names):
        nonlocal asked
        asked += 1
        if names == ("c",):
            raise ValueError("refused")
        return ff.Worth(len(names) ** 1.5, cost=0.01)

    def value(**options):
        game = ff.RemoteGame(worth, list("abcdefgh"), price=0.01, retries=0, repeats=repeats)
        return ff.shapley(game, spend=0.4 * repeats, store=tmp_path / "w.db", **options)

    first, calls = value(on_error=0.0), asked
    repeated = value(on_error=0.0)
    assert asked == calls
    assert repeated.values.tolist() == first.values.tolist()
    assert repeated.stderr.tolist() == first.stderr.tolist()
    assert (
        "one worth could not be found and took the fallback, that of {c} (ValueError"
        in repeated.stop
    )
    with pytest.raises(ff.WorthError, match=r"spend=.* allows no further call"):
        value()
