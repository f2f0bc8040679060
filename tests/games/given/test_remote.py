"""Games behind a service, called over HTTP on loopback."""

import asyncio
import re
import signal
import sqlite3
import sys
import threading
import time
from functools import partial
from itertools import combinations

import joblib
import numpy as np
import pytest

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Options
from services import WEIGHTS, asking, asking_in_threads, server, truth

NAMES = ["ann", "bob", "cid", "dan", "eve", "fay"]
TWELVE = [f"p{i}" for i in range(12)]
EXACT = [WEIGHTS[name] * sum(WEIGHTS[other] for other in NAMES) for name in NAMES]


def test_values_are_exact_whatever_fails_on_the_way():
    with server(failures=0.1) as service:
        v = ff.shapley(ff.RemoteGame(asking(service), NAMES))
        assert v.values == pytest.approx(EXACT, abs=1e-10)
        # Every coalition was answered once: no failed call repeated another.
        assert len(service.answered) == len(set(service.answered)) == 64
        assert v.usage["calls"] == 64
        assert v.usage["retries"] == len(service.asked) - 64 > 0
        assert v.usage["cost"] == pytest.approx(0.64)
        assert "exact for these answers; 64 calls" in v.stop


def test_clients_that_are_not_async_run_in_threads():
    with server() as service:
        v = ff.shapley(ff.RemoteGame(asking_in_threads(service), NAMES, concurrency=4))
        assert v.values == pytest.approx(EXACT, abs=1e-10)


def test_it_works_inside_a_running_loop_and_beside_jobs():
    with server() as service:
        game = ff.RemoteGame(asking(service), NAMES)

        async def notebook():
            return ff.shapley(game)

        assert asyncio.run(notebook()).values == pytest.approx(EXACT, abs=1e-10)
        assert ff.shapley(game, n_jobs=2).values == pytest.approx(EXACT, abs=1e-10)
        url = service.url

        def in_a_process(url):
            import services

            class There:
                pass

            There.url = url
            return ff.shapley(ff.RemoteGame(services.asking(There), NAMES)).values

        found = joblib.Parallel(n_jobs=2, backend="threading")(
            joblib.delayed(in_a_process)(url) for _ in range(2)
        )
        assert np.array(found) == pytest.approx(np.array([EXACT, EXACT]), abs=1e-10)


def test_async_functions_are_games():
    with server() as service:
        worth = asking(service)
        assert ff.shapley(worth, players=NAMES).values == pytest.approx(EXACT, abs=1e-10)
        game = ff.FunctionGame(worth, NAMES, takes="names") * 2 + ff.FunctionGame(
            truth, NAMES, takes="names"
        )
        assert ff.shapley(game).values == pytest.approx(3 * np.array(EXACT), abs=1e-10)


def test_a_wrong_key_ends_the_run_at_once_and_stays_secret(tmp_path, monkeypatch):
    monkeypatch.setenv("SERVICE_API_KEY", "sk-mine-and-wrong")
    path = tmp_path / "w.db"
    with server() as service:

        async def worth(names):
            try:
                return await asking(service, key="sk-mine-and-wrong")(names)
            except Exception as error:
                error.args = (f"{error.args[0]} with key sk-mine-and-wrong",)
                raise

        game = ff.RemoteGame(worth, NAMES, concurrency=4)
        with pytest.raises(ff.WorthError, match=r"failed on coalition \{.*401") as caught:
            ff.shapley(game, store=path)
        assert len(service.asked) <= 4
    assert "sk-mine" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert b"sk-mine" not in path.read_bytes()


def test_errors_by_a_rule_of_ones_own():
    tries = []

    def worth(names):
        tries.append(names)
        raise ValueError("no number in the answer")

    with pytest.raises(ff.WorthError):
        ff.shapley(ff.RemoteGame(worth, 1, concurrency=1))
    assert len(tries) == 1
    game = ff.RemoteGame(worth, 1, concurrency=1, passing=lambda error: True)
    with pytest.raises(ff.WorthError):
        ff.shapley(game, retries=2)
    assert len(tries) == 4


def test_a_fallback_for_what_fails():
    def worth(names):
        if set(names) == {"ann", "bob"}:
            raise ValueError("refused")
        return truth(names)

    v = ff.shapley(ff.RemoteGame(worth, NAMES), on_error=0.0)
    assert "one worth could not be found and took the fallback, that of {ann, bob}" in v.stop
    assert v.usage["failures"] == 1
    assert v.grand == pytest.approx(truth(NAMES))


def test_worths_must_be_numbers():
    wrong = (
        (None, "NoneType was returned"),
        (np.nan, "its worth is nan"),
        ("0.7", "the text '0.7'"),
    )
    for given, sentence in wrong:
        with pytest.raises(ff.WorthError, match=sentence):
            ff.shapley(ff.RemoteGame(lambda names, given=given: given, 2))


def test_every_answer_is_kept_and_none_is_asked_for_twice(tmp_path):
    path = tmp_path / "w.db"
    with server() as service:
        worth = asking(service)
        with pytest.raises(ff.WorthError, match=r"spend=0.1 .*those evaluated are in"):
            ff.shapley(ff.RemoteGame(worth, NAMES, price=0.01), store=path, spend=0.1)
        assert len(service.answered) == 10
        v = ff.shapley(ff.RemoteGame(worth, NAMES), store=path)
        assert v.values == pytest.approx(EXACT, abs=1e-10)
        assert v.evaluations == 54
        assert len(service.answered) == len(set(service.answered)) == 64
        ff.banzhaf(ff.RemoteGame(worth, NAMES), store=path)
        assert len(service.asked) == 64
    held = ff.describe_store(path)
    assert (held.worths, held.answers) == (64, 64)
    assert ff.verify_store(path) == 64
    assert {each.state for each in held.drivers} == {"ended"}


def test_two_drivers_share_the_work(tmp_path):
    path, found = tmp_path / "w.db", {}
    with server(latency=0.02) as service:

        def drive(number):
            game = ff.RemoteGame(asking(service), NAMES, concurrency=2, name="shared")
            found[number] = ff.shapley(game, store=path).values

        drivers = [threading.Thread(target=drive, args=(number,)) for number in range(3)]
        for each in drivers:
            each.start()
        for each in drivers:
            each.join()
        assert len(service.answered) == len(set(service.answered)) == 64
    for values in found.values():
        assert values == pytest.approx(EXACT, abs=1e-10)


def test_answers_of_a_driver_that_goes_on_are_used(tmp_path):
    game, path = ff.RemoteGame(truth, NAMES), tmp_path / "w.db"
    half = enumerate_coalitions(6, 0, 32)
    with Evaluator(game, Options(store=path)) as other:
        early = Evaluator(game, Options(store=path))
        other.measure(half)
        with early:  # it read the store before, and these are claimed
            assert early.worths(half[20:40]).tolist() == other.worths(half[20:40]).tolist()
        assert early.failures.usage.calls == 0
        assert [each.state for each in ff.describe_store(path).drivers] == ["alive", "ended"]
        found = ff.shapley(game, store=path)
    assert found.usage["calls"] == 32
    assert found.values == pytest.approx(EXACT, abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_spend_is_never_exceeded_by_more_than_the_calls_under_way(seed):
    rng = np.random.default_rng(seed)
    spend, concurrency = float(rng.uniform(4, 6)), int(rng.integers(1, 9))

    def worth(names):
        time.sleep(float(rng.uniform(0, 1e-3)))
        return ff.Worth(truth(names), cost=float(rng.uniform(0, 0.1)))

    game = ff.RemoteGame(worth, TWELVE, concurrency=concurrency)
    v = ff.shapley(game, spend=spend)
    assert 0.5 * spend <= v.usage["cost"] <= spend + 0.1 * concurrency
    assert "allows no further call" in v.stop
    assert v.stderr is not None


def test_a_price_makes_the_cap_exact():
    v = ff.shapley(ff.RemoteGame(truth, TWELVE, price=0.01), spend=1)
    assert v.usage["calls"] == 100
    v = ff.shapley(ff.RemoteGame(truth, NAMES, price=0.01), spend=1)
    assert v.usage["calls"] == 64
    with pytest.raises(ValueError, match="calls none; leave it out"):
        ff.shapley(lambda S: S.sum(axis=1), players=3, spend=1)


def test_repeats_measure_the_noise_and_go_on_from_fewer(tmp_path):
    path = tmp_path / "w.db"
    with server() as service:
        worth = asking(service, temperature=3.0)
        v = ff.shapley(ff.RemoteGame(worth, NAMES, repeats=4), store=path)
        assert len(service.answered) == 256
        assert (np.abs(v.values - EXACT) < 5 * v.stderr).all()
        # The variance of a value: 9/4 of each worth, by the squared weights of all coalitions.
        weights = [1 / (6 * len(list(combinations(range(5), k)))) for k in range(6)]
        sizes = [k for k in range(6) for _ in combinations(range(5), k)]
        expected = np.sqrt(2 * 9 / 4 * sum(weights[k] ** 2 for k in sizes))
        assert v.stderr.mean() == pytest.approx(expected, rel=0.3)
        more = ff.shapley(ff.RemoteGame(worth, NAMES, repeats=6), store=path)
        assert more.usage["calls"] == 128
        again = ff.shapley(ff.RemoteGame(worth, NAMES, repeats=6), store=path)
        assert again.usage["calls"] == again.usage["cost"] == 0
        assert again.values.tolist() == more.values.tolist()


def test_estimates_of_noisy_answers_have_errors():
    with server() as service:
        game = ff.RemoteGame(asking(service, temperature=1.0), TWELVE, repeats=2, concurrency=16)
        v = ff.shapley(game, budget=60)
        exact = [WEIGHTS[name] * sum(map(WEIGHTS.get, TWELVE)) for name in TWELVE]
        assert (np.abs(v.values - exact) < 5 * v.stderr + 1e-9).all()
        assert v.usage["calls"] == 120


def test_names_that_are_always_there_and_an_empty_worth():
    seen = []

    def worth(names):
        seen.append(names)
        return float(len(names))

    ff.shapley(ff.RemoteGame(worth, ["a", "b"], always=["question"], concurrency=1))
    assert all(names[0] == "question" for names in seen)
    assert ("question",) in seen
    seen.clear()
    v = ff.shapley(ff.RemoteGame(worth, ["a", "b"], empty=-1.0))
    assert () not in seen
    assert v.empty == -1
    assert "F(∅) = -1 was given, not asked for" in v.stop


def test_answers_are_valued_by_another_judge(tmp_path):
    path = tmp_path / "w.db"
    with server() as service:
        ff.shapley(ff.RemoteGame(asking(service), NAMES), store=path)
        v = ff.shapley(ff.RemoteGame(asking(service), TWELVE), store=tmp_path / "t.db", budget=80)
        asked = len(service.asked)
        root = ff.rescore(path, lambda record: float(record["text"]) ** 0.5)
        assert ff.shapley(root).values == pytest.approx([WEIGHTS[name] for name in NAMES])
        twice = ff.rescore(tmp_path / "t.db", lambda record: ff.Worth(2 * float(record["text"])))
        assert ff.shapley(twice, budget=80).values == pytest.approx(2 * v.values)
        with pytest.raises(ff.WorthError, match="no answer for coalition"):
            ff.shapley(twice)
        assert len(service.asked) == asked
    with pytest.raises(ff.StoreError, match="there is no store"):
        ff.rescore(tmp_path / "none.db", len)
    ff.shapley(ff.RemoteGame(truth, NAMES), store=tmp_path / "bare.db")
    with pytest.raises(ValueError, match="without a record"):
        ff.rescore(tmp_path / "bare.db", len)
    ff.shapley(lambda S: S.sum(axis=1), players=3, store=tmp_path / "local.db")
    with pytest.raises(ValueError, match="holds no answers"):
        ff.rescore(tmp_path / "local.db", len)


def test_time_ends_a_run_with_an_estimate(tmp_path):
    with server(latency=0.01) as service:
        game = ff.RemoteGame(asking(service), TWELVE, concurrency=8)
        v = ff.shapley(game, seconds=1.0, store=tmp_path / "w.db")
        assert re.search(r"stopped after [\d.]+ seconds", v.stop)
        assert v.usage["calls"] == len(service.answered) < 4096
        assert ff.describe_store(tmp_path / "w.db").answers == v.usage["calls"]


@pytest.fixture
def interruptible():
    """Shells start what runs behind them with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_gives_the_best_estimate_so_far(tmp_path, interruptible):
    count = 0

    async def worth(names):
        nonlocal count
        count += 1
        if count in (60, 190):
            signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.001)
        return truth(names)

    v = ff.shapley(ff.RemoteGame(worth, TWELVE), tolerance=1e-30, store=tmp_path / "w.db")
    assert v.stop.startswith("interrupted")
    assert v.stderr is not None
    assert ff.describe_store(tmp_path / "w.db").answers == count
    count = 180
    with pytest.raises(KeyboardInterrupt):
        ff.shapley(ff.RemoteGame(worth, TWELVE))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_damaged_store_is_refused(tmp_path):
    path = tmp_path / "w.db"
    ff.shapley(ff.RemoteGame(truth, NAMES), store=path)
    with sqlite3.connect(path) as base:
        base.execute("UPDATE answers SET checksum = 0 WHERE id = 3")
    base.close()
    with pytest.raises(ff.StoreError, match="checksum of answer 3"):
        ff.shapley(ff.RemoteGame(truth, NAMES), store=path)
    with pytest.raises(ff.StoreError, match="another game, with other always"):
        ff.shapley(ff.RemoteGame(truth, NAMES, always=["x"]), store=path)


def test_without_its_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tenacity", None)
    with pytest.raises(ImportError, match=r"tenacity: pip install 'fairfield\[remote\]'"):
        ff.shapley(ff.RemoteGame(truth, NAMES))


def test_a_cap_ends_an_estimate_of_few_players_too():
    calls = 0

    def dear(names):
        nonlocal calls
        calls += 1
        return ff.Worth(truth(names), cost=0.001)

    found = ff.shapley(ff.RemoteGame(dear, TWELVE[:8]), spend=0.1)
    assert found.stderr is not None
    assert 18 <= calls <= 100
    assert found.usage["cost"] <= 0.1 + 1e-9


def test_what_is_always_in_may_be_a_generator():
    game = ff.RemoteGame(lambda names: float(len(names)), ["a", "b"], always=iter(["y", "z"]))
    assert [ff.shapley(game).empty for _ in range(2)] == [2.0, 2.0]


@pytest.mark.parametrize("given", ["hi", ["p1"]])
def test_what_is_always_in_is_a_list_of_others(given):
    with pytest.raises(ValueError, match="names that are in every coalition and are no players"):
        ff.RemoteGame(truth, TWELVE, always=given)


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_costs_are_numbers_of_at_least_0(cost):
    with pytest.raises(ValueError, match=r"Worth\(cost=.*must be 0 or more"):
        ff.Worth(1.0, cost=cost)


def test_equal_coalitions_are_asked_for_once():
    seen = []
    game = ff.RemoteGame(lambda names: seen.append(names) or 1.0, 2)
    assert game.worths(np.ones((3, 2), dtype=bool)).tolist() == [1, 1, 1]
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"concurrency": 0}, "concurrency=0"),
        ({"per_minute": -1}, "per_minute.*above 0"),
        ({"per_minute": {"words": 3}}, "limits 'requests' and 'tokens'"),
        ({"timeout": 0}, "timeout=0"),
        ({"retries": -1}, "retries=-1"),
        ({"price": -0.1}, "price=-0.1"),
        ({"repeats": 1.5}, "repeats=1.5"),
        ({"empty": np.nan}, "empty"),
    ],
)
def test_arguments_are_checked(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        ff.RemoteGame(truth, NAMES, **wrong)
    with pytest.raises(TypeError, match="a worth function was expected"):
        ff.RemoteGame(3, NAMES)
    for wrong_type in ({"passing": 3}, {"name": 3}):
        with pytest.raises(TypeError, match="=3 was given; give a"):
            ff.RemoteGame(truth, NAMES, **wrong_type)


def test_options_are_checked():
    assert Options(on_error=0).on_error == 0.0
    for wrong in ({"spend": 0}, {"timeout": -1}, {"retries": -1}, {"on_error": "ignore"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Options(**wrong)


def test_an_error_carries_what_could_be_said(interruptible):
    count = 0

    def breaking(names):
        nonlocal count
        count += 1
        if count == 100:
            raise PermissionError("no more")
        if count == 300:
            signal.raise_signal(signal.SIGINT)
        return truth(names)

    wanted = ff.shapley(ff.RemoteGame(truth, TWELVE), budget=90).values
    game = ff.RemoteGame(breaking, TWELVE, concurrency=1)
    for options in ({}, {"budget": 200}):
        count = 0
        with pytest.raises(ff.WorthError, match="no more") as caught:
            ff.shapley(game, **options)
        assert caught.value.partial.values == pytest.approx(wanted, abs=1e-9)
        assert "ended by an error" in caught.value.partial.stop
    count = 200
    with pytest.raises(KeyboardInterrupt) as stopped:
        ff.shapley(game)
    assert stopped.value.partial.values == pytest.approx(wanted, abs=1e-9)
    count = 98
    with pytest.raises(ff.WorthError, match="no more") as caught:
        ff.shapley(game)
    assert caught.value.partial is None


def test_spend_is_that_of_the_store(tmp_path):
    game = ff.RemoteGame(truth, TWELVE, price=0.01)
    first = ff.shapley(game, spend=0.5, store=tmp_path / "w.db")
    assert first.usage["calls"] == 50
    again = ff.shapley(game, spend=0.5, store=tmp_path / "w.db")
    assert again.usage["calls"] == again.usage["cost"] == 0
    assert again.values.tolist() == first.values.tolist()
    assert "spend=0.5 allows no further call, 0.5 of it spent before" in again.stop
    more = ff.shapley(game, spend=0.8, store=tmp_path / "w.db")
    assert more.usage["calls"] == 30


def test_another_judge_uses_every_answer_of_a_budget(tmp_path):
    def worth(names):
        return ff.Worth(truth(names), record={"names": list(names)})

    path = tmp_path / "w.db"
    ff.shapley(ff.RemoteGame(worth, TWELVE), budget=400, store=path)
    judged = ff.rescore(path, lambda record: float("p3" in record["names"]) + len(record["names"]))
    v = ff.shapley(judged, budget=400)
    assert "used the budget of 400 coalitions" in v.stop
    wanted = np.ones(12)
    wanted[3] = 2
    assert v.values == pytest.approx(wanted, abs=1e-9)

    def broken(record):
        return 1 / (len(record["names"]) - 12)

    with pytest.raises(
        ff.WorthError, match=r"judge failed on the record of coalition \{p0, .*Zero"
    ):
        ff.rescore(path, broken)


def test_a_lambda_has_no_name_in_a_store(tmp_path):
    game = ff.RemoteGame(lambda names: 1.0, 2)
    with pytest.raises(ValueError, match=r"is a lambda.*pass name= to RemoteGame"):
        ff.shapley(game, store=tmp_path / "w.db")
    ff.shapley(ff.RemoteGame(lambda names: 1.0, 2, name="one"), store=tmp_path / "w.db")
    with pytest.raises(ValueError, match="is a directory; give a file in it"):
        ff.shapley(game, store=tmp_path)
    with pytest.raises(TypeError, match="store=3 was given"):
        ff.shapley(game, store=3)


def test_worths_may_be_values_of_other_games():
    """In threads, whose games do not wait for each other; not on the loop, which would wait for itself."""

    def inner(names):
        return float(ff.shapley(ff.RemoteGame(len, 2)).values.sum()) * len(names)

    async def blocking(names):
        return inner(names)

    async def apart(names):
        return await asyncio.to_thread(inner, names)

    for worth in (inner, apart):
        assert ff.shapley(ff.RemoteGame(worth, 2)).values == pytest.approx([2.0, 2.0])
    with pytest.raises(ff.WorthError, match=r"would wait for itself; await asyncio.to_thread"):
        ff.shapley(ff.RemoteGame(blocking, 2))


def test_too_little_money_for_an_estimate_is_refused_before_a_call():
    calls = []
    game = ff.RemoteGame(lambda names: calls.append(names) or 1.0, TWELVE, price=0.1)
    with pytest.raises(ValueError, match=r"spend=2\.5 is too small .*; at least 26 coalitions"):
        ff.shapley(game, spend=2.5)
    assert not calls


def test_owen_values_beside_others_ask_for_what_their_orders_come_through():
    calls = []
    game = ff.RemoteGame(lambda names: calls.append(names) or float(len(names)), NAMES)
    unions = {"u": NAMES[:2], "v": NAMES[2:]}
    ff.compare(game, criteria=[partial(ff.owen, unions=unions), "leave_one_out"])
    assert len(calls) == len(set(calls)) < 64
    for each in map(set, calls):
        assert sum(0 < len(each & set(own)) < len(own) for own in unions.values()) < 2
