"""Engines that are started here are open to nobody else."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conftest import draws, needs

SOCKETS = """
import os, sys
from pathlib import Path
from fairfield.cli.engines import Backend, engine

def addresses():
    \"\"\"The addresses at which processes of this session listen.\"\"\"
    mine = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(place.name)) == os.getsid(0):
                mine |= {os.readlink(each) for each in (place / "fd").iterdir()}
        except OSError:
            pass
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in mine:
                yield cells[1].split(":")[0]

if __name__ == "__main__":
    with engine(Backend(sys.argv[1]), None, 1):
        print(*set(addresses()))
"""
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "0" * 24 + "01000000"}


@pytest.mark.parametrize(("name", "library"), [("dask", "distributed"), ("ray", "ray")])
def test_they_listen_at_the_loopback_alone_and_leave_nothing(name, library):
    needs(library, name)
    with TemporaryDirectory() as folder:  # a short name: ray has sockets in it
        done = subprocess.run(
            [sys.executable, "-c", SOCKETS, name], env={**os.environ, "TMPDIR": folder},
            capture_output=True, text=True, check=True, start_new_session=True,
        )  # fmt: skip
        found = set(done.stdout.split("\n")[-2].split())
        assert found
        assert found <= LOOPBACK, found
        assert not list(Path(folder).glob("fairfield-*"))


LOST = """
import os, signal, sys, threading, time
import fairfield as ff
from fairfield.cli.engines import Backend, engine
from fairfield.evaluation import heads

def worth(names):
    open(begun, "w").close()
    time.sleep(0.05)
    return float(len(names))

def strike():
    import ray
    while when == "worths" and not os.path.exists(begun):
        time.sleep(0.1)
    time.sleep(1.0 if when == "worths" else 0.0)
    (found,) = ray._private.worker._global_node.all_processes[sys.argv[1]]
    os.kill(found.process.pid, signal.SIGKILL)

if __name__ == "__main__":
    when, begun = sys.argv[2:]
    heads.POLL, heads.LOST = 0.1, 1.0  # the round that was begun ends before it is TOO_LONG
    with engine(Backend.ray, None, 2):
        striking = threading.Thread(target=strike, daemon=True)
        striking.start()
        if when == "pool":  # which waits for its head then
            striking.join()
        try:
            ff.shapley(ff.FunctionGame(worth, 10, takes="names"))
        except ff.WorthError as error:
            print("lost:", len(error.worths), error)
"""


LOSSES = [
    ("gcs_server", "worths"),
    ("gcs_server", "pool"),
    ("raylet", "worths"),
    ("raylet", "pool"),
]


@pytest.mark.parametrize(("part", "when"), LOSSES[: draws(2, 4)])
def test_a_ray_cluster_that_is_lost_is_reported_in_a_sentence(part, when, tmp_path):
    """Ray ended the process of its driver without a word, or a coalition was blamed."""
    needs("ray", "ray")
    done = subprocess.run(
        [sys.executable, "-c", LOST, part, when, tmp_path / "begun"],
        capture_output=True, text=True, check=True, start_new_session=True, timeout=60,
    )  # fmt: skip
    said = [line for line in done.stdout.splitlines() if line.startswith("lost:")]
    assert said, done
    assert "ray's cluster was lost (" in said[0]
    assert (int(said[0].split()[1]) > 0) == (when == "worths")
    assert "Traceback" not in done.stderr
