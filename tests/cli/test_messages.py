"""Errors and interruptions are one sentence and an exit code."""

import json
import signal
import subprocess
import sys
import time

import pytest

import fairfield as ff

pytest.importorskip("pandas")
pytest.importorskip("typer")

# Slow enough to be stopped on a busy machine, until there is a file named hurry.
SLOW = """
import os
import time
from sklearn.dummy import DummyClassifier

class Slow(DummyClassifier):
    def fit(self, X, y):
        if not os.path.exists("hurry"):
            time.sleep(0.1)
        return super().fit(X, y)
"""


def kept(store):
    try:
        return ff.describe_store(store).worths
    except ff.StoreError:
        return 0


def test_ctrl_c_keeps_the_store_and_says_how_to_resume(tmp_path, people):
    """A real SIGINT to a real process."""
    (tmp_path / "slow.py").write_text(SLOW)
    store = tmp_path / "worths.db"
    command = [
        sys.executable, "-m", "fairfield", "data", str(people), "--target", "label",
        "--clusters", "8", "--model", "slow:Slow", "--store", "worths.db",
    ]  # fmt: skip
    started = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that run in the background of a shell inherit a SIGINT that is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not store.exists() or kept(store) < 20):
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    _, message = started.communicate(timeout=60)
    assert started.returncode == 130
    count = kept(store)
    assert 20 <= count < 256
    assert (
        f"stopped; worths.db keeps {count} worths. Run the same command with --store worths.db"
        in message
    )
    assert "Traceback" not in message
    (tmp_path / "hurry").touch()
    resumed = subprocess.run(
        [*command, "--json", "v.json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    evaluations = json.loads((tmp_path / "v.json").read_text())["about"]["evaluations"]
    # Of a model that is not scikit-learn's own, four kept worths are tried again.
    assert evaluations == 256 - count + 4
    assert resumed.returncode == 0


def test_ctrl_c_without_a_store_says_how_to_keep_worths(run, tmp_path, people):
    (tmp_path / "interrupted.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "class Stop(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        raise KeyboardInterrupt\n"
    )
    command = [
        "data",
        people,
        "--target",
        "label",
        "--clusters",
        "3",
        "--model",
        "interrupted:Stop",
    ]
    result = run(*command)
    assert result.exit_code == 130
    assert "nothing was kept. With --store FILE worths are kept" in result.stderr
    result = run(*command, "--store", "w.db")
    assert result.exit_code == 130
    assert "w.db" in result.stderr


def test_ctrl_c_in_an_estimate_shows_what_was_found_and_ends_with_130(run, tmp_path, people):
    (tmp_path / "halfway.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "fits = []\n"
        "class Stop(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        fits.append(1)\n"
        "        if len(fits) == 150:\n"
        "            raise KeyboardInterrupt\n"
        "        return super().fit(X, y)\n"
    )
    command = ["data", people, "--target", "label", "--clusters", "12", "--model", "halfway:Stop"]
    result = run(*command, "--budget", "300", "--criterion", "shapley", "--csv", "v.csv")
    assert result.exit_code == 130
    assert "interrupted; these values rest on the worths" in result.stderr
    assert "Shapley: interrupted" in result.stdout
    assert (tmp_path / "v.csv").exists()


def test_an_error_shows_what_was_found_before_it(run, tmp_path, people):
    (tmp_path / "broken.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "fits = []\n"
        "class Stop(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        fits.append(1)\n"
        "        if len(fits) > 150:\n"
        "            raise ValueError('no more')\n"
        "        return super().fit(X, y)\n"
    )
    command = ["data", people, "--target", "label", "--clusters", "12", "--model", "broken:Stop"]
    result = run(*command, "--budget", "300", "--criterion", "shapley")
    assert result.exit_code == 2
    assert "Shapley: ended by an error" in result.stdout
    assert "no more" in result.stderr
