"""A command is one file: it registers itself, takes the shared options and reports its errors."""

import subprocess
import sys

import pytest

typer = pytest.importorskip("typer")
pytest.importorskip("pandas")

COMMAND = '''
from pathlib import Path
from typing import Annotated

import typer

from fairfield.cli.options import ValuationOptions
from fairfield.cli.registry import command
from fairfield.cli.show import value
from fairfield.games.set_functions.pairwise import PairwiseGame


@command("**Example** `fairfield pair 1 2`")
def pair(
    first: Annotated[float, typer.Argument(help="The worth of one.")],
    second: Annotated[float, typer.Argument(help="The worth of two.")],
    options: ValuationOptions,
) -> None:
    """Two players who do not interact."""
    if first == second:
        raise ValueError("the two are equal; give two numbers")
    value(PairwiseGame([first, second], [[0, 0], [0, 0]]), options)
'''


def test_a_new_file_is_a_new_command(tmp_path):
    """In a process of its own, whose folder of commands has one file more."""
    (tmp_path / "pair.py").write_text(COMMAND)
    code = (
        f"import sys; from fairfield.cli import commands; commands.__path__.append({str(tmp_path)!r})\n"
        "from fairfield.cli import main; main()"
    )

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path,
            check=False,
        )  # fmt: skip

    assert "Two players who do not interact." in run("--help").stdout
    about = run("pair", "--help").stdout
    assert "--criterion" in about
    assert "fairfield pair 1 2" in about
    found = run("pair", "1", "2", "--criterion", "shapley", "--csv", "v.csv")
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "v.csv").read_text().splitlines()[1].startswith("0,1.0")
    equal = run("pair", "1", "1")
    assert equal.returncode == 2
    assert equal.stderr == "error: the two are equal; give two numbers\n"
    unknown = run("pair", "1", "2", "--criterion", "karma")
    assert "there is no criterion 'karma'" in unknown.stderr


def test_every_file_has_registered_a_command():
    from pkgutil import iter_modules

    from fairfield.cli import commands
    from fairfield.cli.app import app

    names = {each.name or each.callback.__name__ for each in app.registered_commands}
    names |= {each.name for each in app.registered_groups}
    assert {module.name for module in iter_modules(commands.__path__)} <= names


def test_a_name_is_of_one_command_which_may_be_run_again(monkeypatch):
    from fairfield.cli.app import app
    from fairfield.cli.registry import command

    monkeypatch.setattr(app, "registered_commands", list(app.registered_commands))
    before = len(app.registered_commands)

    def pair() -> None:
        """Two players."""

    for _ in range(2):
        command("**Example**")(pair)
        assert len(app.registered_commands) == before + 1

    def demo() -> None:
        """Another one."""

    with pytest.raises(ValueError, match="there is a command 'demo' already, demo; choose another"):
        command("**Example**")(demo)
