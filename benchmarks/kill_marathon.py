"""Twenty random SIGKILLs of drivers and workers, and the answer is that of a quiet run.

    python benchmarks/kill_marathon.py

Each round starts a driver with two workers on one store, waits a random while, and kills
the driver or one of its workers. Nothing that was committed may be lost or evaluated
again.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import fairfield as ff

KILLS = 20
DRIVER = """
import sys
sys.path.insert(0, sys.argv[2])
import fairfield as ff
from kill_marathon import Slow
print(ff.shapley(Slow(), store=sys.argv[1], n_jobs=2).evaluations)
"""


class Slow(ff.Game):
    """10 ms a worth, 4096 of them."""

    block, players = 1, tuple(range(12))

    def worths(self, coalitions):
        time.sleep(0.01 * len(coalitions))
        return np.sin(coalitions @ np.arange(1.0, 13.0))


def children(pid: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(status.parent.name))
    return found


def main() -> None:
    rng = random.Random(0)
    quiet = ff.shapley(lambda S: np.sin(S @ np.arange(1.0, 13.0)), players=12).values
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "worths.db"
        command = [sys.executable, "-c", DRIVER, str(store), str(Path(__file__).parent)]
        kept = kills = 0
        while kills < KILLS:
            driver = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(2.0, 5.0))
            workers = children(driver.pid)
            target = rng.choice(["driver", "worker"]) if workers else "driver"
            if target == "worker":
                os.kill(rng.choice(workers), signal.SIGKILL)
                time.sleep(rng.uniform(0.5, 1.5))
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()
            kills += 1
            before, kept = kept, ff.verify_store(store) if store.exists() else 0
            assert kept >= before, "a committed worth was lost"
            print(f"kill {kills:2} ({target}): {kept} of 4096 worths kept", flush=True)
        finish = subprocess.run(command, check=True, capture_output=True, text=True)
        assert int(finish.stdout) == 4096 - kept, "a committed worth was evaluated again"
        values = ff.shapley(Slow(), store=store).values
    assert (values == quiet).all(), "the answer differs from that of a quiet run"
    print(f"{KILLS} kills survived; {finish.stdout.strip()} worths were left for the last run")


if __name__ == "__main__":
    main()
