"""All commands, in the order in which a newcomer may meet them."""

from __future__ import annotations

from typing import Annotated

import typer

from fairfield.cli import data, demo, ensemble, features, game, learn, store

EXAMPLES = """
**Examples**

`fairfield demo`

`fairfield data train.csv --target income --groups vendor --report vendors.html`

`fairfield features model.json people.csv --rows 0:20`

Every command has its own `--help`, with more of them.
"""

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="What is each player worth? Values of features, training data, models and any game.",
    epilog=EXAMPLES,
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
app.command(epilog=learn.EXAMPLES)(learn.learn)
app.add_typer(store.app, name="store")
