"""Several drivers share one store: its worths are evaluated once, locks are waited for."""

import contextlib
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import numpy as np
import pytest

import fairfield as ff
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Options
from fairfield.evaluation.storage import file as store_file
from fairfield.evaluation.store import Store

DRIVER = """
import sys, time
import numpy as np
import fairfield as ff

def worth(S):
    time.sleep(0.01 * len(S))
    return np.sin(S @ np.arange(1.0, 9.0))

print(sys.stdin.readline())
found = ff.shapley(ff.FunctionGame(worth, 8, name="slow"), store=sys.argv[1])
print(found.evaluations, found.values.tolist())
"""


def worth(S):
    return np.sin(S @ np.arange(1.0, 9.0))


def test_three_drivers_evaluate_each_worth_once(tmp_path):
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "s.db")]
    drivers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for driver in drivers:
        driver.stdin.write("\n")
        driver.stdin.flush()
    lines = [driver.communicate()[0].split("\n")[-2] for driver in drivers]
    counts = [int(line.split()[0]) for line in lines]
    exact = ff.shapley(worth, players=8).values.tolist()
    assert all(line.endswith(str(exact)) for line in lines)
    # Those that find worths on opening try four of them again.
    assert 256 <= sum(counts) <= 256 + 8
    assert ff.describe_store(tmp_path / "s.db").worths == ff.verify_store(tmp_path / "s.db") == 256
    assert sorted(each.name for each in tmp_path.iterdir()) == ["s.db"]


def test_what_a_dead_driver_had_claimed_is_free(tmp_path):
    game, path = ff.FunctionGame(worth, 8, name="slow"), tmp_path / "s.db"
    lost = Store(path, game, {})
    claimed = lost.claim(np.array([b"\x01", b"\x02"]))
    assert claimed.all()
    other = Store(path, game, {})
    assert other.claim(np.array([b"\x01", b"\x03"])).tolist() == [False, True]
    lost.close()
    assert other.claim(np.array([b"\x01", b"\x03"])).all()
    other.close()


def test_waiting_for_another_driver_ends_with_its_worths(tmp_path):
    game, path = ff.FunctionGame(worth, 8, name="slow"), tmp_path / "s.db"
    rows = np.zeros((2, 8), dtype=bool)
    rows[1, 0] = True
    claimed = threading.Event()

    def drive():
        store = Store(path, game, {})
        store.claim(np.array([b"", b"\x01"]))
        claimed.set()
        time.sleep(0.3)
        store.add(rows, np.array([[7.0], [8.0]]))
        store.close()

    threading.Thread(target=drive).start()
    claimed.wait()
    with Evaluator(game, Options(store=path)) as evaluator:
        assert evaluator.measure(rows).worths.tolist() == [7.0, 8.0]
        assert evaluator.evaluations == 0


def test_a_lock_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(store_file, "WAIT", 0.05)
    path = tmp_path / "s.db"
    game = ff.FunctionGame(worth, 8, name="slow")
    ff.shapley(game, store=path, budget=256)
    with closing(sqlite3.connect(path, check_same_thread=False)) as base:
        base.execute("BEGIN EXCLUSIVE")
        threading.Timer(0.5, base.rollback).start()
        with pytest.warns(UserWarning, match="locked the store; waiting"):
            assert ff.banzhaf(game, store=path).evaluations == 4


@pytest.mark.parametrize("store", ["", ":memory:"])
def test_a_store_is_a_file(store):
    with pytest.raises(ff.StoreError, match="is no file; give the path"):
        ff.shapley(worth, players=8, store=store)


def test_an_address_of_sqlite_is_the_name_of_a_file(tmp_path, monkeypatch):
    """Builds of SQLite that read addresses kept such a store in memory, and lost it."""
    monkeypatch.chdir(tmp_path)
    name = "file:x?mode=memory"
    for evaluations in (256, 4):
        assert ff.shapley(worth, players=8, store=name).evaluations == evaluations
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_the_schema_of_a_store_is_not_trusted(tmp_path):
    """Views and triggers that someone has put into the file may call no function that does something."""
    ff.shapley(worth, players=8, store=tmp_path / "s.db")
    path = str(tmp_path / "s.db")
    for connection in (closing(store_file.connect(path)), store_file.opened(path)):
        with connection as base:
            assert base.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_a_check_sees_what_no_checksum_does(tmp_path):
    """The file says that five of its pages are free: whatever is written next would break it."""
    path = tmp_path / "s.db"
    ff.shapley(worth, players=8, store=path)
    raw = bytearray(path.read_bytes())
    raw[36:40] = (5).to_bytes(4, "big")
    path.write_bytes(raw)
    with pytest.raises(ff.StoreError, match="damaged"):
        ff.verify_store(path)


def test_a_store_of_the_first_format_is_upgraded(tmp_path):
    path = tmp_path / "s.db"
    ff.shapley(worth, players=8, store=path)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("UPDATE game SET format = 1, description = json_remove(description, '$.code')")
    assert ff.shapley(worth, players=8, store=path).evaluations == 4
    with closing(sqlite3.connect(path)) as base:
        assert base.execute("SELECT format FROM game").fetchone() == (2,)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("UPDATE game SET format = 3")
    with pytest.raises(ff.StoreError, match="format 3; this version reads up to 2"):
        ff.shapley(worth, players=8, store=path)


def test_an_old_store_is_not_made_that_of_a_function_which_it_refuses(tmp_path):
    """The code of the changed function was written into the file, and the right one shut out for good."""
    path = tmp_path / "s.db"

    def scaled(by):
        return lambda S: by * (S @ np.arange(1.0, 9.0))

    right = ff.shapley(scaled(2.0), players=8, store=path)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("UPDATE game SET format = 1, description = json_remove(description, '$.code')")
    with pytest.raises(ff.StoreError, match="had other worths"):
        ff.shapley(scaled(3.0), players=8, store=path)
    assert (ff.shapley(scaled(2.0), players=8, store=path).values == right.values).all()
    with pytest.raises(ff.StoreError, match="other code"):
        ff.shapley(scaled(3.0), players=8, store=path)


@pytest.mark.parametrize("size", [1, 2, 600])
def test_a_file_of_someone_else_is_left_alone(size, tmp_path):
    """SQLite takes a file of one byte for an empty one."""
    path = tmp_path / "s.db"
    path.write_bytes(b"7" * size)
    with pytest.raises(ff.StoreError, match="is not a store of fairfield"):
        ff.shapley(worth, players=8, store=path)
    assert path.read_bytes() == b"7" * size
    path.write_bytes(b"")
    assert ff.shapley(worth, players=8, store=path).evaluations == 256


def test_a_database_without_tables_is_someone_elses_too(tmp_path):
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE VIEW mine AS SELECT 1")
    with pytest.raises(ff.StoreError, match="is not a store of fairfield"):
        ff.shapley(worth, players=8, store=path)


ATTACKS = {
    "worths of text": "UPDATE rounds SET worths = 'text'",
    "no worths": "UPDATE rounds SET worths = NULL",
    "a number for coalitions": "UPDATE rounds SET coalitions = 3",
    "a game of no row": "DELETE FROM game",
    "a description that is no JSON": "UPDATE game SET description = '{'",
    "a description that is a number": "UPDATE game SET description = '3'",
    "versions that are none": "UPDATE game SET versions = NULL",
    "strange sizes": "UPDATE game SET players = 'many', games = -1",
    "a view for a table": "ALTER TABLE rounds RENAME TO r; CREATE VIEW rounds AS SELECT * FROM r",
    "a format of text": "UPDATE game SET format = 'new'",
    "drivers of text": "UPDATE drivers SET beat = 'x', ended = NULL, pid = 'y'",
}


@pytest.mark.parametrize("what", ATTACKS)
def test_strange_contents_are_refused_in_a_sentence(what, tmp_path):
    path = tmp_path / "s.db"
    ff.shapley(worth, players=8, store=path)
    with closing(sqlite3.connect(path)) as base:
        base.executescript(ATTACKS[what])
    sentences = []
    for read in (
        lambda: ff.shapley(worth, players=8, store=path),
        lambda: ff.describe_store(path),
        lambda: ff.verify_store(path),
    ):
        with contextlib.suppress(ff.StoreError):  # any other error is a failure
            sentences.append(read())
    assert len(sentences) < 3 or what == "a view for a table"
