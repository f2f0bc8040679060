"""All commands, in the order in which a newcomer may meet them."""

from __future__ import annotations

from typing import Annotated

import typer

from fairfield.cli import data, demo, ensemble, features, game, paper, store

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="What is each player worth? Values of features, training data, models and any game.",
    epilog="Start with `fairfield demo`. Every command has its own `--help`, with examples.",
)


def _version(wanted: bool) -> None:
    if wanted:
        import fairfield

        typer.echo(fairfield.__version__)
        raise typer.Exit


@app.callback()
def _about(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Every command has this option."""


app.command(epilog=demo.EXAMPLES)(demo.demo)
app.command(epilog=data.EXAMPLES)(data.data)
app.command(epilog=features.EXAMPLES)(features.features)
app.command(epilog=ensemble.EXAMPLES)(ensemble.ensemble)
app.command(epilog=game.EXAMPLES)(game.game)
app.add_typer(store.app, name="store")
app.command(epilog=paper.EXAMPLES)(paper.paper)
