import os
import sqlite3
import subprocess
import sys
import time

import pytest

from fairfield.evaluation.storage import drivers
from fairfield.evaluation.storage.drivers import Heartbeat, claim, drivers_of


@pytest.fixture
def base(tmp_path):
    with sqlite3.connect(tmp_path / "s.db") as connected:
        yield connected
    connected.close()


def states(base):
    return [each.state for each in drivers_of(base).values()]


def test_a_run_is_alive_until_it_ends(base, tmp_path):
    assert drivers_of(base) == {}
    heart = Heartbeat(str(tmp_path / "s.db"), base)
    assert states(base) == ["alive"]
    heart.close(base)
    assert states(base) == ["ended"]


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_killed_driver_is_known_by_its_process_or_its_silence(base, tmp_path):
    heart = Heartbeat(str(tmp_path / "s.db"), base)
    base.execute("UPDATE drivers SET pid = ?", (dead_process(),))
    assert states(base) == ["died"]
    killed = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    base.execute("UPDATE drivers SET pid = ?", (killed.pid,))
    assert states(base) == ["alive"]
    killed.kill()
    while states(base) == ["alive"]:  # nobody has waited for it yet
        time.sleep(0.01)
    killed.wait()
    base.execute("UPDATE drivers SET pid = ?, id = 'of an earlier process'", (os.getpid(),))
    assert states(base) == ["died"]
    base.execute("UPDATE drivers SET pid = ?, host = 'elsewhere'", (os.getpid(),))
    assert states(base) == ["alive"]
    base.execute("UPDATE drivers SET beat = ?", (time.time() - 2 * drivers.DEAD,))
    assert states(base) == ["died"]
    heart.close(base)


def test_the_heart_beats(base, tmp_path, monkeypatch):
    monkeypatch.setattr(drivers, "BEAT", 0.01)
    heart = Heartbeat(str(tmp_path / "s.db"), base)
    (first,) = base.execute("SELECT beat FROM drivers").fetchone()
    while base.execute("SELECT beat FROM drivers").fetchone()[0] == first:
        time.sleep(0.01)
    heart.close(base)


def test_coalitions_are_claimed_once_among_the_living(base, tmp_path):
    one, two = (Heartbeat(str(tmp_path / "s.db"), base) for _ in range(2))
    assert claim(base, one.id, [b"a", b"b"]) == {b"a", b"b"}
    assert claim(base, two.id, [b"b", b"c"]) == {b"c"}
    assert claim(base, one.id, [b"a"]) == {b"a"}
    base.execute("UPDATE drivers SET pid = ? WHERE id = ?", (dead_process(), one.id))
    base.commit()
    assert claim(base, two.id, [b"a", b"b"]) == {b"a", b"b"}
    two.close(base)
    assert base.execute("SELECT COUNT(*) FROM claims").fetchone() == (0,)
    one.close(base)


def test_a_file_that_may_only_be_read_needs_no_heart(base, tmp_path):
    base.execute("CREATE TABLE t (x)")
    base.commit()
    uri = (tmp_path / "s.db").as_uri() + "?mode=ro"
    reading = sqlite3.connect(uri, uri=True)
    heart = Heartbeat(str(tmp_path / "s.db"), reading)
    assert not heart.writes
    heart.close(reading)
    reading.close()
