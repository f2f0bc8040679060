"""Workers on real engines, really started: the same bits everywhere, and workers may die."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

import fairfield as ff
from fairfield.core.game import Traits
from fairfield.evaluation import workers

PLAYERS = 8


class Fits(ff.Game):
    """A small model fit per worth; one coalition may kill its worker, once or always."""

    traits = Traits(block=1)

    def __init__(self, killer=None, flag=None, seconds=0.0):
        self.players = tuple(range(PLAYERS))
        rng = np.random.default_rng(0)
        self.X, self.y = rng.standard_normal((200, PLAYERS)), rng.standard_normal(200)
        self.killer, self.flag, self.seconds = killer, flag, seconds

    def worths(self, coalitions):
        return np.array([self.worth(row) for row in coalitions])

    def worth(self, row):
        time.sleep(self.seconds)
        if self.killer is not None and (row == self.killer).all() and self.may_kill():
            os.kill(os.getpid(), signal.SIGKILL)
        columns = self.X[:, row]
        return -float(np.sum((self.y - columns @ np.linalg.lstsq(columns, self.y)[0]) ** 2))

    def may_kill(self):
        """Once per flag file; always without one."""
        if self.flag is None:
            return True
        with contextlib.suppress(FileExistsError), open(self.flag, "x"):
            return True
        return False


# Workers cannot import this file; its classes travel whole.
cloudpickle.register_pickle_by_value(sys.modules[Fits.__module__])


BACKENDS = ["loky", "threading", "dask", "ray"]


@contextlib.contextmanager
def backend(name, request):
    if name in ("dask", "ray"):
        request.getfixturevalue(f"{name}_cluster")
    with joblib.parallel_config(backend=name, **({} if name == "dask" else {"n_jobs": 2})):
        yield


@pytest.mark.parametrize("name", BACKENDS)
def test_every_engine_gives_the_same_bits(name, request):
    alone = ff.shapley(Fits())
    with backend(name, request):
        shared = ff.shapley(Fits())
    assert_array_equal(shared.values, alone.values)
    assert shared.evaluations == 2**PLAYERS


@pytest.mark.parametrize("name", BACKENDS)
def test_data_is_worth_the_same_bits_on_every_engine(name, request, tmp_path):
    """Models with chance in them, repeated: worths, and the errors of values."""
    rng = np.random.default_rng(1)
    X, X_test = rng.standard_normal((30, 3)), rng.standard_normal((40, 3))
    y, y_test = (Z @ [1, -1, 0.5] > 0 for Z in (X, X_test))
    game = ff.DataGame(
        make_pipeline(StandardScaler(), SGDClassifier(max_iter=2, tol=None)),
        X, y, X_test, y_test, groups=np.arange(30) % 5, repeats=2,
    )  # fmt: skip
    alone = ff.shapley(game)
    with backend(name, request):
        shared = ff.shapley(game, store=tmp_path / "worths.db")
    assert_array_equal(shared.values, alone.values)
    assert_array_equal(shared.stderr, alone.stderr)
    assert (alone.stderr > 0).all()
    assert ff.shapley(game, store=tmp_path / "worths.db").evaluations == 0


ESTIMATES = {
    "shapley": ff.shapley,
    "banzhaf": ff.banzhaf,
    "index": partial(ff.variational_index, temperature=20.0),
    "steps": partial(ff.variational_values, steps=2, temperature=20.0),
}


def estimated(criterion, **options):
    return ESTIMATES[criterion](Fits(), budget=100, seed=2, **options)


@pytest.fixture(scope="module")
def alone():
    """The estimates without workers."""
    return {criterion: estimated(criterion, n_jobs=1) for criterion in ESTIMATES}


@pytest.mark.parametrize("criterion", ESTIMATES)
@pytest.mark.parametrize("name", [*BACKENDS, "n_jobs=2"])
def test_every_engine_gives_the_same_estimate(name, criterion, alone, request):
    if name == "n_jobs=2":
        shared = estimated(criterion, n_jobs=2)
    else:
        with backend(name, request):
            shared = estimated(criterion)
    assert shared.evaluations == alone[criterion].evaluations > 60
    assert_array_equal(shared.values, alone[criterion].values)
    assert_array_equal(shared.stderr, alone[criterion].stderr)


@pytest.mark.parametrize("name", ["loky", "dask", "ray"])
def test_a_killed_worker_is_survived(name, request, tmp_path):
    killer = np.arange(PLAYERS) % 2 == 0
    with backend(name, request):
        found = ff.shapley(Fits(killer, str(tmp_path / "killed")))
    assert (tmp_path / "killed").exists()
    assert_array_equal(found.values, ff.shapley(Fits()).values)


def test_a_coalition_that_always_kills_is_named(tmp_path):
    killer = np.arange(PLAYERS) == 0  # {0}, in the first round
    with pytest.raises(ff.WorthError, match=r"failed 4 times .*\{0\}"):
        ff.shapley(Fits(killer), n_jobs=2)


def test_a_failure_in_a_worker_names_its_coalition_and_shows_where():
    def worth(S):
        if S.all(axis=1).any():
            raise ValueError("too many cooks")
        return S.sum(axis=1)

    with pytest.raises(
        ff.WorthError, match=r"coalition \{a, b, c\}: ValueError: too many"
    ) as caught:
        ff.shapley(worth, players=["a", "b", "c"], n_jobs=2)
    assert any("too many cooks" in note for note in caught.value.__notes__)


def test_a_game_travels_once_to_a_worker(tmp_path):
    """Not once per task: unpickling leaves a mark per process."""

    class Mark:
        def __init__(self, folder):
            self.folder = folder

        def __setstate__(self, state):
            (Path(state["folder"]) / f"{os.getpid()}-{time.monotonic_ns()}").touch()

    game = Fits(seconds=0.005)
    game.data_of_its_own = Mark(str(tmp_path))
    ff.shapley(game, n_jobs=2)
    processes = [mark.name.split("-")[0] for mark in tmp_path.iterdir()]
    assert len(processes) == len(set(processes)) <= 2


DRIVER = """
import sys
sys.path.insert(0, sys.argv[2])
import fairfield as ff
from test_workers import Fits
ff.shapley(Fits(seconds=0.02), store=sys.argv[1], n_jobs=int(sys.argv[3]))
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_killed_driver_resumes_from_its_store(n_jobs, tmp_path):
    path = tmp_path / "worths.db"
    folders = [str(p) for p in (Path(__file__).parent, Path(__file__).parents[1])]
    places = os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", DRIVER, str(path), str(Path(__file__).parent), str(n_jobs)]
    driver = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": places}, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(ff.StoreError):
            if path.exists() and ff.describe_store(path).worths > 8:
                break
        time.sleep(0.02)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    kept = ff.verify_store(path)
    assert 8 < kept < 2**PLAYERS
    resumed = ff.shapley(Fits(seconds=0.02), store=path)
    assert resumed.evaluations == 2**PLAYERS - kept + 4  # which are checked again
    assert_array_equal(resumed.values, ff.shapley(Fits()).values)


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


class Watching(ff.Game):
    """Worths that are right only where BLAS has one thread."""

    players, traits = tuple(range(6)), Traits(block=1)

    def worths(self, coalitions):
        return coalitions.sum(axis=1) * float(blas_threads() == {1})


def test_threads_put_everything_back():
    with threadpool_limits(limits=2), joblib.parallel_config(backend="threading", n_jobs=4):
        found = ff.shapley(Watching())
        assert blas_threads() == {2}
    np.testing.assert_allclose(found.values, 1)
    assert workers._games == {}


def test_a_game_that_cannot_travel_is_refused_at_once():
    class Rooted(Watching):
        tries = 0

        def __getstate__(self):
            Rooted.tries += 1
            return {"lock": threading.Lock()}

    with pytest.raises(ff.WorthError, match=r"cannot be pickled \(TypeError.*use n_jobs=1"):
        ff.shapley(Rooted(), n_jobs=2)
    assert Rooted.tries == 1


def hanging(seconds, *, lock):
    """Worths of two players that hang on {0, 1}, with the interpreter's lock or without."""

    def worth(names):
        import re
        import time

        if len(names) == 2:
            if lock:
                re.match(r"(a+)+$", "a" * 60 + "b")  # years, and no other thread may run
            time.sleep(seconds)
        return float(len(names))

    return ff.FunctionGame(worth, 2, takes="names")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_hanging_worth_is_named_and_its_worker_replaced(n_jobs, tmp_path):
    game, store = hanging(3600, lock=False), tmp_path / "w.db"
    with pytest.raises(ff.WorthError, match=r"\{0, 1\}: TimeoutError: no worth within 3 seconds"):
        ff.shapley(game, n_jobs=n_jobs, timeout=3, store=store)
    assert ff.verify_store(store) == 3
    found = ff.shapley(game, n_jobs=n_jobs, timeout=3, on_error=2.0)
    assert found.values == pytest.approx(1)


def test_a_worth_that_stops_the_interpreter_is_named(monkeypatch):
    monkeypatch.setattr(workers, "RETRIES", 0)
    with pytest.raises(ff.WorthError, match=r"on coalition \{0, 1\} alone"):
        ff.shapley(hanging(0, lock=True), n_jobs=2, timeout=2)


def test_of_a_deadly_coalition_the_others_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "RETRIES", 1)
    killer = np.arange(PLAYERS) == 1
    with pytest.raises(ff.WorthError, match=r"failed 2 times on coalition \{1\} alone"):
        ff.shapley(Fits(killer), n_jobs=2, store=tmp_path / "w.db")
    assert ff.verify_store(tmp_path / "w.db") >= 2
    found = ff.shapley(Fits(killer), n_jobs=2, on_error=0.0)
    assert "that of {1}" in found.stop


@pytest.mark.parametrize("block", [1, 16])
def test_of_a_deadly_coalition_all_of_its_round_are_kept(block, tmp_path, monkeypatch):
    """Those that came after it in its round, or were asked for with it at once, were given up."""
    monkeypatch.setattr(workers, "RETRIES", 0)
    monkeypatch.setattr(Fits, "traits", Traits(block=block))
    killer = np.arange(PLAYERS) == 1  # the third coalition: others follow in its round
    ran = []
    run = workers.Workers.run
    monkeypatch.setattr(
        workers.Workers, "run", lambda own, tasks: ran.extend(tasks) or run(own, tasks)
    )
    with pytest.raises(ff.WorthError, match=r"on coalition \{1\} alone") as failed:
        ff.shapley(Fits(killer), n_jobs=2, store=tmp_path / "w.db")
    asked = sum(len(rows) for task in ran for rows in task)
    assert ff.verify_store(tmp_path / "w.db", Fits()) == len(failed.value.worths) == asked - 1


def test_of_a_block_the_coalition_that_hangs_is_named():
    """A first answer was late for what was imported to read it, and ∅ was named instead."""

    def worth(S):
        if (S == [False, True, True, False]).all(axis=1).any():
            time.sleep(3600)
        return S @ np.arange(4.0)

    with pytest.raises(ff.WorthError, match=r"\{1, 2\}: TimeoutError: no worth within 0.1 sec"):
        ff.shapley(worth, players=4, timeout=0.1)
