"""``fairfield store``: what a file of kept worths holds, and whether it is whole."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairfield.cli.sentences import told
from fairfield.evaluation.store import StoreSummary, describe_store, verify_store

app = typer.Typer(no_args_is_help=True, help="Files of kept worths, as --store writes them.")
File = Annotated[Path, typer.Argument(help="A store of worths.", metavar="STORE.db")]


@app.command(epilog="**Example** `fairfield store show worths.db`")
def show(
    path: File,
    full: Annotated[
        bool, typer.Option("--full", help="With all that tells the game from others.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="All of it as JSON.")] = False,
) -> None:
    """What a store holds: the game, its players, how many worths."""
    with told():
        held = describe_store(path)
        if as_json:
            typer.echo(json.dumps(asdict(held), indent=2, ensure_ascii=False))
            return
        facts = _facts(held)
        if full:
            facts |= {k: v for k, v in held.description.items() if k not in ("game", "players")}
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, fact in facts.items():
            table.add_row(Text(name, style="dim"), Text(str(fact), overflow="fold"))
        Console(highlight=False).print(table)


def _facts(held: StoreSummary) -> dict[str, Any]:
    every = f" of {2**held.players:,}" if held.players <= 40 else ""
    return {
        "game": held.description.get("game", ""),
        "players": held.players,
        "worths": f"{held.worths:,}{every}",
        "rounds": held.rounds,
        "versions": ", ".join(f"{name} {version}" for name, version in held.versions.items()),
    }


@app.command(epilog="**Example** `fairfield store check worths.db`")
def check(path: File) -> None:
    """Verify every checksum of a store."""
    with told():
        typer.echo(f"{path} is whole: {verify_store(path):,} worths")
