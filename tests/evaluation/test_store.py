"""A store keeps worths over runs, and refuses what it cannot vouch for."""

import contextlib
import resource
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import fairfield as ff
from fairfield.evaluation.evaluator import evaluate_all
from fairfield.evaluation.options import Options
from fairfield.evaluation.store import Store

SKILLS = np.array([3.0, 1.0, 2.0, 0.5])


def team(coalitions):
    return coalitions @ SKILLS


def other(coalitions):
    return coalitions.sum(axis=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "worths.db"


def test_a_second_run_evaluates_only_the_few_it_checks(path):
    first = ff.shapley(team, players=4, store=path)
    second = ff.variational_index(team, players=4, store=path, temperature=1.0)
    assert first.evaluations == 16
    assert second.evaluations == 4
    assert_array_equal(ff.shapley(team, players=4, store=path).values, first.values)


def test_what_it_holds_can_be_asked(path):
    ff.shapley(team, players=["a", "b", "c", "d"], store=path)
    held = ff.describe_store(path)
    assert (held.players, held.worths) == (4, 16)
    assert held.description["function"] == "team"
    assert held.description["players"] == ["a", "b", "c", "d"]
    assert "numpy" in held.versions
    assert ff.verify_store(path) == 16
    assert ff.verify_store(path, ff.FunctionGame(team, ["a", "b", "c", "d"])) == 16


def test_another_game_is_refused_with_what_differs(path):
    ff.shapley(team, players=4, store=path)
    with pytest.raises(ff.StoreError, match=r'another game.*function \("team" not "other"\)'):
        ff.shapley(other, players=4, store=path)
    with pytest.raises(ff.StoreError, match="another game"):
        ff.shapley(team, players=3, store=path)


def test_a_function_that_changed_under_its_name_is_refused(path):
    ff.shapley(ff.FunctionGame(team, 4, name="mine"), store=path)
    with pytest.raises(ff.StoreError, match="other worths than it has now"):
        ff.shapley(ff.FunctionGame(other, 4, name="mine"), store=path)
    with pytest.raises(ff.StoreError, match="other worths"):
        ff.verify_store(path, ff.FunctionGame(other, 4, name="mine"))
    for changed in (ff.FunctionGame(team, 4), ff.FunctionGame(team, 3, name="mine")):
        with pytest.raises(ff.StoreError, match="another game"):
            ff.verify_store(path, changed)


def test_rounding_is_no_change(path):
    """A worth near 0 is a difference of larger ones, and rounds as they do."""

    def shifted(by):
        return ff.FunctionGame(lambda S: 1e6 * S[:, 0] - 1e6 * S[:, 1] + by, 2, name="even")

    ff.shapley(shifted(0), store=path)
    assert ff.shapley(shifted(1e-9), store=path).evaluations == 4
    with pytest.raises(ff.StoreError, match="other worths"):
        ff.shapley(shifted(0.01), store=path)


@pytest.mark.parametrize("name", ["worths #1.db", "50%25.db", "what?.db"])
def test_any_file_name_will_do(name, tmp_path):
    ff.shapley(team, players=4, store=tmp_path / name)
    assert ff.describe_store(tmp_path / name).worths == ff.verify_store(tmp_path / name) == 16


def test_several_may_open_a_new_store_at_once(tmp_path):
    together = threading.Barrier(8)

    def opened(path):
        together.wait()
        Store(path, ff.FunctionGame(team, 4), {}).close()

    with ThreadPoolExecutor(8) as threads:
        for i in range(5):
            list(threads.map(opened, [tmp_path / f"{i}.db"] * 8))
    assert ff.describe_store(tmp_path / "4.db").worths == 0


def test_a_database_without_tables_becomes_a_store(path):
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA user_version = 1")
    assert path.stat().st_size
    assert ff.shapley(team, players=4, store=path).evaluations == 16


def test_a_refused_store_is_let_go(path, tmp_path, monkeypatch):
    opened = []
    connect = sqlite3.connect

    def noted(*given, **rest):
        opened.append(connect(*given, **rest))
        return opened[-1]

    ff.shapley(ff.FunctionGame(team, 4, name="mine"), store=path)
    text = tmp_path / "text.db"
    text.write_text("not a database, but long enough to be looked at " * 30)
    monkeypatch.setattr(sqlite3, "connect", noted)
    for game, store in ((team, path), (team, text), (ff.FunctionGame(other, 4, name="mine"), path)):
        players = None if isinstance(game, ff.Game) else 4
        with pytest.raises(ff.StoreError):
            ff.shapley(game, players=players, store=store)
    assert len(opened) == 3
    for base in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            base.execute("SELECT 1")


def test_batches_are_kept_whole(path, rng):
    table = rng.standard_normal((3, 16))

    class Batch(ff.Game):
        players, batch = (0, 1, 2, 3), (3,)

        def worths(self, coalitions):
            return table[:, coalitions @ [1, 2, 4, 8]]

    first = ff.shapley(Batch(), store=path)
    assert first.evaluations == 16
    again = ff.shapley(Batch(), store=path)
    assert again.evaluations == 4  # the few that are checked again
    assert_array_equal(again.values, first.values)


def test_an_interrupted_run_goes_on(path):
    calls = []

    def fragile(coalitions):
        calls.append(len(coalitions))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return coalitions.sum(axis=1)

    game = ff.FunctionGame(fragile, 7, name="fragile")
    with pytest.raises(KeyboardInterrupt):
        ff.shapley(game, store=path)
    kept = ff.describe_store(path).worths
    assert kept >= 16
    done = ff.shapley(game, store=path)
    assert done.evaluations == 128 - kept + 4
    np.testing.assert_allclose(done.values, 1, rtol=1e-12)


def test_all_but_the_coalition_that_fails_are_kept(path):
    def picky(coalitions):
        if coalitions.all(axis=1).any():
            raise ValueError("too many cooks")
        return coalitions.sum(axis=1)

    with pytest.raises(ff.WorthError, match="too many cooks"):
        ff.shapley(picky, players=6, store=path)
    assert ff.describe_store(path).worths == 63


def test_a_flipped_byte_is_noticed(path):
    ff.shapley(team, players=4, store=path)
    raw = bytearray(path.read_bytes())
    at = raw.index(np.array([6.5]).tobytes())  # F(N), somewhere in the file
    raw[at + 3] ^= 1
    path.write_bytes(raw)
    for read in (lambda: ff.shapley(team, players=4, store=path), lambda: ff.verify_store(path)):
        with pytest.raises(ff.StoreError, match="damaged: the checksum of round 1"):
            read()


@pytest.mark.parametrize("keep", [0.9, 0.5, 0.1])
def test_a_truncated_file_is_noticed(path, keep):
    def wide(coalitions):
        return coalitions.sum(axis=1)

    ff.shapley(wide, players=10, store=path)
    raw = path.read_bytes()
    path.write_bytes(raw[: int(keep * len(raw))])
    with pytest.raises(ff.StoreError, match=r"worths|damaged|store"):
        ff.shapley(wide, players=10, store=path)


def test_other_files_are_refused(path, tmp_path):
    path.write_text("not a database, but long enough to be looked at " * 30)
    with pytest.raises(ff.StoreError, match="not a store of fairfield"):
        ff.shapley(team, players=4, store=path)
    strange = tmp_path / "strange.db"
    with sqlite3.connect(strange) as base:
        base.execute("CREATE TABLE mine (a)")
    with pytest.raises(ff.StoreError, match="not a store of fairfield"):
        ff.shapley(team, players=4, store=strange)
    with pytest.raises(ff.StoreError, match="there is no store"):
        ff.verify_store(tmp_path / "missing.db")
    with pytest.raises(ff.StoreError, match="could not be used: there is no folder"):
        ff.shapley(team, players=4, store=tmp_path / "no" / "such" / "folder.db")


FULL = """
import resource, signal, sys
import numpy as np
import fairfield as ff
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, limit = sys.argv[1], int(sys.argv[2])
def worth(S):
    return S.sum(axis=1)
game = ff.FunctionGame(worth, 12, name="full")
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
print(ff.shapley(game, store=path).evaluations)
"""


def test_a_full_disk_is_reported_and_earlier_worths_stay(path):
    """The operating system refuses to let the file grow, as a full disk does."""
    assert resource.RLIMIT_FSIZE is not None
    full = subprocess.run(
        [sys.executable, "-c", FULL, str(path), "90000"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert full.returncode != 0
    assert "worths committed earlier are intact" in full.stderr
    kept = ff.describe_store(path).worths
    assert 4 <= kept == ff.verify_store(path)
    rest = subprocess.run(
        [sys.executable, "-c", FULL, str(path), "0"], capture_output=True, text=True, check=True
    )
    assert int(rest.stdout) == 4096 - kept + 4


def test_errors_are_stored_shared_out_and_found(noisy_game, tmp_path):
    store = tmp_path / "worths.db"
    here = ff.banzhaf(noisy_game, store=store, n_jobs=2)
    repeated = ff.banzhaf(noisy_game, store=store)
    assert (here.evaluations, repeated.evaluations) == (16, 0)
    assert_array_equal(repeated.stderr, here.stderr)
    curve = ff.removal_curve(noisy_game, here[0], store=store)
    assert curve.worths.shape == (2, 5)
    assert_array_equal(curve.worths[:, 0], here.grand)
    table, _ = evaluate_all(noisy_game, Options(store=store))
    assert table.worths.shape == table.variances.shape == (2, 16)


def test_what_a_killed_driver_left_half_written_is_rolled_back(path):
    ff.shapley(team, players=4, store=path)
    # A transaction that has reached the file, though it was never committed.
    code = f"""
import os, sqlite3
base = sqlite3.connect({str(path)!r})
base.execute("PRAGMA cache_size = 1")
base.execute("UPDATE rounds SET checksum = 0")
base.execute("CREATE TABLE large (x)")
base.executemany("INSERT INTO large VALUES (?)", [("x" * 1000,)] * 2000)
os._exit(1)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    assert path.with_name(path.name + "-journal").exists()
    assert ff.describe_store(path).worths == 16
    assert ff.verify_store(path) == 16


def test_a_valuation_says_how_many_worths_its_store_had(path):
    ff.shapley(team, players=4, store=path)
    found = ff.shapley(team, players=4, store=path)
    assert found.method == "exact table, 16 worths read from a store"
    assert "read from a store" not in ff.shapley(team, players=4).method
