"""The command line on real engines, started here or somewhere else."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import needs
from fairfield.cli.engines import _check_reachable

pytest.importorskip("pandas")
pytest.importorskip("typer")

COMMAND = [
    "data", "people.csv", "--target", "label", "--groups", "vendor", "--criterion", "shapley",
    "--quiet",
]  # fmt: skip


@pytest.fixture
def alone(run, people):
    """The values that one process finds."""
    assert run(*COMMAND, "--csv", "alone.csv").exit_code == 0
    return Path("alone.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_an_engine_at_an_address_is_used_and_left_running(name, alone, request, tmp_path):
    """The command is another process than the one that started the engine."""
    address = request.getfixturevalue(f"{name}_cluster")
    found = subprocess.run(
        [sys.executable, "-m", "fairfield", *COMMAND, "--csv", "there.csv",
         "--backend", name, "--address", address],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "there.csv").read_text(encoding="utf-8") == alone
    _check_reachable(address)


def test_an_engine_is_started_for_the_command(run, alone):
    needs("distributed", "dask")
    assert run(*COMMAND, "--csv", "own.csv", "--backend", "dask", "--jobs", "1").exit_code == 0
    assert Path("own.csv").read_text(encoding="utf-8") == alone


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_an_address_without_an_answer(name, run, people):
    refused = run(*COMMAND, "--backend", name, "--address", "tcp://127.0.0.1:9")
    assert refused.exit_code == 2
    assert "there is no answer at --address tcp://127.0.0.1:9" in refused.stderr


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_an_engine_that_is_not_installed(name, run, people, monkeypatch):
    package = {"dask": "distributed"}.get(name, name)
    for each in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, each)
    monkeypatch.setitem(sys.modules, package, None)
    refused = run(*COMMAND, "--backend", name)
    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"error: --backend {name} needs {package}: pip install")


def test_jobs_and_backends_give_the_same_values(run, people):
    arguments = [
        "data",
        people,
        "--target",
        "label",
        "--groups",
        "vendor",
        "--criterion",
        "shapley",
        "--quiet",
    ]
    for name, more in {"one": [], "two": ["--jobs", "2", "--backend", "loky"]}.items():
        assert run(*arguments, "--csv", f"{name}.csv", *more).exit_code == 0
    assert Path("one.csv").read_text() == Path("two.csv").read_text()
