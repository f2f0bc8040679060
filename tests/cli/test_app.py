"""The application: help, version and completion."""

import subprocess
import sys

import pytest

import fairfield as ff

pytest.importorskip("typer")


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["data"],
        ["features"],
        ["ensemble"],
        ["game"],
        ["learn"],
        ["demo"],
        ["store"],
        ["store", "show"],
    ],
    ids=" ".join,
)
def test_help_is_there_with_an_example(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    if command != ["store"]:
        assert "Example" in result.output
        assert f"fairfield {' '.join(command or ['data'])}" in result.output


def test_the_version_is_printed(run):
    assert run("--version").stdout.strip() == ff.__version__


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("fairfield da", "data"),
        ("fairfield data --tol", "--tolerance"),
        ("fairfield data --backend r", "ray"),
        ("fairfield game --criterion sh", "shapley"),
        ("fairfield data --model kn", "knn"),
    ],
)
def test_the_shell_completes(typed, offered):
    from typer.testing import CliRunner

    from fairfield.cli.app import app

    about = {
        "_FAIRFIELD_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
    }
    result = CliRunner().invoke(app, [], prog_name="fairfield", env=about)
    assert result.stdout.split() == [offered]


def test_completion_is_shown_and_installed(tmp_path, monkeypatch):
    """In a home of its own, for the shell it is asked for."""
    from typer.testing import CliRunner

    from fairfield.cli.app import app

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    shown = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="fairfield")
    assert "complete -o default -F _fairfield_completion fairfield" in shown.stdout
    installed = CliRunner().invoke(app, ["--install-completion", "bash"], prog_name="fairfield")
    assert installed.exit_code == 0, installed.output
    assert "_fairfield_completion" in (tmp_path / ".bash_completions" / "fairfield.sh").read_text()


def test_without_the_extra_it_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['typer'] = None; from fairfield.cli import main; main()"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert "pip install 'fairfield[cli]'" in answer.stderr
    assert "Traceback" not in answer.stderr
