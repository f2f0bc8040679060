"""Twenty random SIGKILLs of drivers and workers, and the answer is that of a quiet run.

    python release/kill_marathon.py [kills]

Each run is a driver with two workers on one store. After a random while one of the three is
killed; a driver that lost a worker must go on by itself and commit more. Every evaluation
leaves a line in a file, so that the lines of each run tell: what was committed before is not
evaluated again, except the few that are checked when a store is opened. A store that is
complete is compared with a quiet run, and a new one is begun.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from fairfield.evaluation.known import unpack

import fairfield as ff
from fairfield.core.coalitions import rows_of
from fairfield.evaluation.store import Store

KILLS, PLAYERS = 20, 12
# How many stored worths are evaluated again whenever a store is opened.
CHECKED = 4
PATIENCE = 60.0
DRIVER = """
import sys
sys.path.insert(0, sys.argv[2])
from kill_marathon import Slow
import fairfield as ff
ff.shapley(Slow(sys.argv[3]), store=sys.argv[1], n_jobs=2)
"""


class Slow(ff.Game):
    """20 ms a worth, 4096 of them; each evaluation leaves its row number in a file."""

    block, players = 1, tuple(range(PLAYERS))

    def __init__(self, lines: str) -> None:
        self.lines = lines

    def worths(self, coalitions):
        time.sleep(0.02 * len(coalitions))
        with open(self.lines, "a", encoding="ascii") as file:  # short appends are whole
            file.write("".join(f"{row}\n" for row in rows_of(coalitions)))
        return np.sin(coalitions @ np.arange(1.0, PLAYERS + 1))


def kept(path: Path, game: ff.Game) -> set[int]:
    """The row numbers of the worths in a store, every checksum verified."""
    if not path.exists():
        return set()
    store = Store(path, game, {})
    keys, _ = store.load()
    store.close()
    return set(rows_of(unpack(keys, PLAYERS)).tolist())


def workers_of(pid: int) -> list[int]:
    """The processes that evaluate for a driver, told by what they run."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rsplit(")", 1)[1].split()[1])
            command = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == pid and b"popen_loky" in command:
            found.append(int(place.name))
    return found


class Marathon:
    """The runs on one store after another, and what they did."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.rng = folder, random.Random(0)
        self.killed: Counter[str] = Counter()
        self.stores, self.again = 0, 0
        self.begin()

    def begin(self) -> None:
        self.stores += 1
        self.store = self.folder / f"worths-{self.stores}.db"
        self.lines = self.folder / f"lines-{self.stores}"

    def run(self, kill: bool) -> None:
        """One driver, killed or not, and the account of what it evaluated."""
        game = Slow(str(self.lines))
        before = kept(self.store, game)
        self.lines.write_text("")
        here = str(Path(__file__).parent)
        command = [sys.executable, "-c", DRIVER, str(self.store), here, str(self.lines)]
        driver = subprocess.Popen(command, start_new_session=True)
        target = self.strike(driver, len(before)) if kill else "nobody"
        if driver.poll() is None and kill:
            os.killpg(driver.pid, signal.SIGKILL)
        driver.wait(PATIENCE * 10)
        after = kept(self.store, game)
        evaluated = Counter(int(line) for line in self.lines.read_text().split())
        again = sum(count for row, count in evaluated.items() if row in before)
        self.again += again
        print(
            f"kill {self.killed.total():2} ({target}), store {self.stores}: {len(before)} worths "
            f"kept before, {len(after)} after, {again} evaluated again",
            flush=True,
        )
        assert before <= after, "a committed worth was lost"
        assert again <= CHECKED, "a committed worth was evaluated again"
        if len(after) == 2**PLAYERS:
            self.compare(game)
            self.begin()

    def strike(self, driver: subprocess.Popen, known: int) -> str:
        """Kill the driver, or a worker and then the driver once it has gone on without him."""
        deadline = time.monotonic() + PATIENCE
        while not (workers := workers_of(driver.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(self.rng.uniform(0.0, 4.0))
        if driver.poll() is not None:
            return "nobody, it was done"
        target = self.rng.choice(["driver", "worker"])
        self.killed[target] += 1
        if target == "driver":
            driver.kill()
        else:
            os.kill(self.rng.choice(workers), signal.SIGKILL)
            held = self.held()
            while driver.poll() is None and self.held() == held:
                assert time.monotonic() < deadline, "the driver did not survive its worker"
                time.sleep(0.05)
            assert driver.returncode in (None, 0), "the driver failed with its worker"
        return target

    def held(self) -> int:
        try:
            return ff.describe_store(self.store).worths
        except ff.StoreError:
            return 0

    def compare(self, game: Slow) -> None:
        quiet = ff.shapley(lambda S: np.sin(S @ np.arange(1.0, PLAYERS + 1)), players=PLAYERS)
        assert (ff.shapley(game, store=self.store).values == quiet.values).all(), "other values"


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    with tempfile.TemporaryDirectory() as folder:
        marathon = Marathon(Path(folder))
        while marathon.killed.total() < wanted:
            marathon.run(kill=True)
        done = marathon.stores
        while marathon.stores == done:
            marathon.run(kill=False)
    print(
        f"survived: {marathon.killed['driver']} drivers and {marathon.killed['worker']} workers "
        f"killed over {done} stores; no worth lost, {marathon.again} evaluated again when a store "
        "was opened, all values those of a quiet run"
    )


if __name__ == "__main__":
    main()
