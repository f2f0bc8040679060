"""``fairfield doctor``: what is installed, and what this machine has."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairfield.cli.registry import command
from fairfield.system import Package, machine, packages


@command("**Example** `fairfield doctor --json`")
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="All of it as JSON.")] = False,
) -> None:
    """Which extras are installed and in order, and what this machine has; 1 where one is too old."""
    system, extras = machine(), packages()
    if as_json:
        held = {name: [each._asdict() for each in found] for name, found in extras.items()}
        typer.echo(json.dumps({"machine": system, "packages": held}, indent=2))
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, fact in [
            *_facts(system),
            *((e or "always", _state(e, p)) for e, p in extras.items()),
        ]:
            table.add_row(Text(name, style="dim"), Text(fact, overflow="fold"))
        Console(highlight=False).print(table)
    if any(each.state == "too old" for found in extras.values() for each in found):
        raise typer.Exit(1)


def _facts(system: dict[str, Any]) -> list[tuple[str, str]]:
    free, limit = system["free_memory"], system["memory_limit"]
    memory = "not known" if free is None else f"{free / 1e9:.3g} GB free"
    own, installed = system["fairfield"], system["installed"]
    if installed not in (own, None):
        own += f" (the installed package says {installed}: install it again)"
    return [
        ("fairfield", f"{own}, Python {system['python']}, {system['system']}"),
        ("cores", str(system["cores"])),
        ("memory", memory if limit is None else f"{memory}, limit {limit / 1e9:.3g} GB"),
        ("GPU", "; ".join(system["gpus"]) or "none"),
    ]


def _state(extra: str, found: list[Package]) -> str:
    """The versions of an extra's packages, and what to do where it is not in order."""
    shown = ", ".join(f"{each.name} {each.installed}" for each in found if each.installed)
    wrong = [
        f"{each.name} is {each.state}"
        + (f" ({each.needed} or newer)" if each.state == "too old" else "")
        for each in found
        if each.state != "in order"
    ]
    if not wrong:
        return shown
    source = f"fairfield[{extra}]" if extra else "fairfield"
    advice = f"{', '.join(wrong)}: pip install --upgrade '{source}'"
    return f"{shown}; {advice}" if shown else advice
