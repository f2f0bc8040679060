"""What several tests share."""

import importlib
import os
from pathlib import Path

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import settings

# Reference results of others may lie beside the project; they are not part of it.
REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "reference"
# Engines whose absence is a failure rather than a skip, as in continuous integration.
REQUIRED = os.environ.get("FAIRFIELD_REQUIRE", "").split(",")


# The nightly run draws more examples and seeds than every change can wait for.
NIGHTLY = bool(os.environ.get("FAIRFIELD_NIGHTLY"))


def draws(usual, nightly):
    """How many examples or seeds a test takes."""
    return nightly if NIGHTLY else usual


# The same examples on every run of continuous integration: a failure is a change's fault.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture
def rng():
    return np.random.default_rng(20220425)


@pytest.fixture
def noisy_game(rng):
    """A game whose worths are means of noisy fits."""
    from noisy import data_game

    return data_game(rng)


@pytest.fixture
def reference():
    """Loads a file of reference results, or skips the test where there are none."""

    def load(name):
        path = REFERENCE / name
        if not path.exists():
            pytest.skip(f"reference results are not beside the project: shared/reference/{name}")
        return np.load(path, allow_pickle=False)

    return load


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command in an empty folder and gives its result; bugs are raised, not hidden."""
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from fairfield.cli.app import app

    monkeypatch.chdir(tmp_path)

    def go(*arguments):
        result = CliRunner().invoke(app, [str(each) for each in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return go


def needs(module, engine):
    """The module, or a skip where it is not installed and not required."""
    try:
        return importlib.import_module(module)
    except ImportError:
        if engine in REQUIRED:
            raise
        pytest.skip(f"{engine} is not installed")


@pytest.fixture(scope="module")
def dask_cluster():
    """A real dask cluster of two workers; its address."""
    distributed = needs("distributed", "dask")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def ray_cluster():
    """A real ray cluster with two cores; its address."""
    ray = needs("ray", "ray")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
    register_ray()
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


@pytest.fixture(params=["strict", "torch"])
def xp(request):
    """A library other than NumPy, whose arrays no NumPy function takes by accident."""
    return strict if request.param == "strict" else needs("torch", "torch")
