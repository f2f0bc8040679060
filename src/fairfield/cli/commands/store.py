"""``fairfield store``: what a file of kept worths holds, and whether it is intact."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairfield.cli.registry import app, command
from fairfield.core.writing.terminal import shown
from fairfield.evaluation.store import StoreSummary, describe_store, verify_store

store = typer.Typer(no_args_is_help=True, help="Files of kept worths, as --store writes them.")
app.add_typer(store, name="store")
File = Annotated[Path, typer.Argument(help="A store of worths.", metavar="STORE.db")]


@command("**Example** `fairfield store show worths.db`", store)
def show(
    path: File,
    full: Annotated[
        bool, typer.Option("--full", help="With all that identifies the game.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="All of it as JSON.")] = False,
) -> None:
    """What a store holds: the game, its players, how many worths."""
    held = describe_store(path)
    if as_json:
        typer.echo(json.dumps(asdict(held), indent=2))
        return
    facts = _facts(held)
    if full:
        facts |= {k: v for k, v in held.description.items() if k not in ("game", "players")}
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, fact in facts.items():
        table.add_row(Text(name, style="dim"), Text(shown(fact), overflow="fold"))
    Console(highlight=False).print(table)


def _facts(held: StoreSummary) -> dict[str, Any]:
    every = f" of {2**held.players:,}" if held.players <= 40 else ""
    states = [each.state for each in held.drivers if each.state != "ended"]
    runs = ", ".join(f"{states.count(each)} {each}" for each in dict.fromkeys(states))
    return {
        "game": held.description.get("game", ""),
        "players": held.players,
        "worths": f"{held.worths:,}{every}",
        **({"answers": f"{held.answers:,}"} if held.answers else {"rounds": held.rounds}),
        **({"drivers": runs} if runs else {}),
        "versions": ", ".join(f"{k} {v}" for k, v in held.versions.items() if k != "python"),
    }


@command("**Example** `fairfield store check worths.db`", store)
def check(path: File) -> None:
    """Verify every checksum of a store."""
    typer.echo(f"{shown(path)} is intact: {verify_store(path):,} worths")
