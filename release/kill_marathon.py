"""Random SIGKILLs of drivers and workers, and the answer is that of a quiet run.

    python release/kill_marathon.py [kills] [engine ...]

The engines are loky, dask and ray, of those that are installed. Each run is a driver with two
workers on one store. After a random while one of the three is killed; a driver that lost a
worker must go on by itself and commit more. Every evaluation leaves a line in a file, so that
the lines of each run tell: what was committed before is not evaluated again, except the few that
are checked when a store is opened. A store that is complete is compared with a quiet run, and a
new one is begun.
"""

import importlib.util
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

import fairfield as ff
from fairfield.core.coalitions import rows_of
from fairfield.core.game import Traits
from fairfield.evaluation.kept import unpack
from fairfield.evaluation.store import Store

KILLS, PLAYERS = 100, 11
# How many stored worths are evaluated again whenever a store is opened.
CHECKED = 4
PATIENCE = 120.0
# What the processes that evaluate for a driver are called.
WORKERS = {"loky": b"popen_loky", "dask": b"multiprocessing.spawn", "ray": b"ray::PoolActor"}
LIBRARIES = {"loky": "joblib", "dask": "distributed", "ray": "ray"}
DRIVER = """
import sys
from kill_marathon import drive
if __name__ == "__main__":
    drive(*sys.argv[1:])
"""


class Slow(ff.Game):
    """20 ms a worth, 2048 of them; each evaluation leaves its row number in a file."""

    traits, players = Traits(block=1), tuple(range(PLAYERS))

    def __init__(self, lines: str) -> None:
        self.lines = lines

    def worths(self, coalitions):
        time.sleep(0.02 * len(coalitions))
        with open(self.lines, "a", encoding="ascii") as file:  # short appends are whole
            file.write("".join(f"{row}\n" for row in rows_of(coalitions)))
        return np.sin(coalitions @ np.arange(1.0, PLAYERS + 1))


def drive(store: str, lines: str, name: str) -> None:
    """What a driver does, on its engine."""
    from fairfield.cli.engines import Backend, engine

    with engine(Backend(name), None, 2):
        ff.shapley(Slow(lines), store=store, n_jobs=2 if name == "loky" else None)


def kept(path: Path, game: ff.Game) -> set[int]:
    """The row numbers of the worths in a store, every checksum verified."""
    if not path.exists():
        return set()
    store = Store(path, game, {})
    keys, _ = store.load()
    store.close()
    return set(rows_of(unpack(keys, PLAYERS)).tolist())


def workers_of(pid: int, called: bytes) -> list[int]:
    """The processes below a driver that evaluate for it, told by what they are called."""
    parents, names = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            stat = (place / "stat").read_text()
            parents[int(place.name)] = int(stat.rsplit(")", 1)[1].split()[1])
            names[int(place.name)] = (place / "cmdline").read_bytes()
        except OSError:
            continue
    found = [
        each for each, name in names.items() if called in name and b"resource_tracker" not in name
    ]
    return [each for each in found if pid in _above(each, parents)]


def _above(pid: int, parents: dict[int, int]) -> set[int]:
    above = set()
    while (pid := parents.get(pid, 0)) > 1:
        above.add(pid)
    return above


class Marathon:
    """The runs on one store after another, and what they did."""

    def __init__(self, folder: Path, engine: str) -> None:
        self.folder, self.engine, self.rng = folder, engine, random.Random(engine)
        self.killed: Counter[str] = Counter()
        self.stores, self.again, self.losses = 0, 0, []
        self.begin()

    def begin(self) -> None:
        self.stores += 1
        self.store = self.folder / f"{self.engine}-{self.stores}.db"
        self.lines = self.folder / f"{self.engine}-{self.stores}"

    def run(self, kill: bool) -> None:
        """One driver, killed or not, and the account of what it evaluated."""
        game = Slow(str(self.lines))
        before = kept(self.store, game)
        self.lines.write_text("")
        here = str(Path(__file__).parent)
        script = self.folder / "driver.py"
        script.write_text(DRIVER)
        command = [sys.executable, script, self.store, self.lines, self.engine]
        # The workers of ray are not children of the driver, and import the game by its module.
        places = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
        driver = subprocess.Popen(
            list(map(str, command)),
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": places},
        )
        target = self.strike(driver) if kill else "nobody"
        if driver.poll() is None and kill:
            os.killpg(driver.pid, signal.SIGKILL)
        driver.wait(PATIENCE * 10)
        after = kept(self.store, game)
        evaluated = Counter(int(line) for line in self.lines.read_text().split())
        again = sum(count for row, count in evaluated.items() if row in before)
        self.again += again
        print(
            f"{self.engine} kill {self.killed.total():2} ({target}), store {self.stores}: "
            f"{len(before)} worths kept before, {len(after)} after, {again} evaluated again",
            flush=True,
        )
        if not before <= after:
            self.losses.append("a committed worth was lost")
        if again > CHECKED:
            self.losses.append("a committed worth was evaluated again")
        if len(after) == 2**PLAYERS:
            self.compare(game)
            self.begin()

    def strike(self, driver: subprocess.Popen) -> str:
        """Kill the driver, or a worker and then the driver once it has gone on without it."""
        deadline = time.monotonic() + PATIENCE
        first = self.held()
        while self.held() == first and driver.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(self.rng.uniform(0.0, 2.0))
        workers = workers_of(driver.pid, WORKERS[self.engine])
        if driver.poll() is not None:
            return "nobody, it was done"
        target = self.rng.choice(["driver", "worker"]) if workers else "driver"
        self.killed[target] += 1
        if target == "driver":
            driver.kill()
            return target
        os.kill(self.rng.choice(workers), signal.SIGKILL)
        held, deadline = self.held(), time.monotonic() + PATIENCE
        while driver.poll() is None and self.held() == held:
            if time.monotonic() > deadline:
                self.losses.append("a driver did not go on without its worker")
                break
            time.sleep(0.05)
        if driver.poll() not in (None, 0):
            self.losses.append("a driver failed with its worker")
        return target

    def held(self) -> int:
        try:
            return ff.describe_store(self.store).worths
        except ff.StoreError:
            return 0

    def compare(self, game: Slow) -> None:
        quiet = ff.shapley(lambda S: np.sin(S @ np.arange(1.0, PLAYERS + 1)), players=PLAYERS)
        if not (ff.shapley(game, store=self.store).values == quiet.values).all():
            self.losses.append("other values than those of a quiet run")


def main() -> None:
    given = sys.argv[1:]
    wanted = int(given.pop(0)) if given and given[0].isdigit() else KILLS
    names = given or [n for n, lib in LIBRARIES.items() if importlib.util.find_spec(lib)]
    losses = []
    for at, name in enumerate(names):
        share = wanted // len(names) + (at < wanted % len(names))
        with tempfile.TemporaryDirectory() as folder:
            marathon = Marathon(Path(folder), name)
            while marathon.killed.total() < share:
                marathon.run(kill=True)
            done = marathon.stores
            while marathon.stores == done:
                marathon.run(kill=False)
        losses += marathon.losses
        print(
            f"{name}: {marathon.killed['driver']} drivers and {marathon.killed['worker']} workers "
            f"killed over {done} stores, {len(marathon.losses)} losses; {marathon.again} worths "
            "evaluated again when a store was opened"
        )
    print(*losses, sep="\n")
    print(f"kills: {wanted} attempts, {len(losses)} losses")
    raise SystemExit(bool(losses))


if __name__ == "__main__":
    main()
