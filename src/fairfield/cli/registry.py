"""The registry of commands: a function becomes a command of ``fairfield`` by a decorator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from fairfield.cli.messages import reported
from fairfield.cli.options import ValuationOptions

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


def _print_version(wanted: bool) -> None:
    if wanted:
        import fairfield

        typer.echo(fairfield.__version__)
        raise typer.Exit


@app.callback()
def _about(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Every command has this option."""


def command(
    examples: str, group: typer.Typer = app
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command; its errors become one sentence and an exit code.

    Where it has a parameter ``options``, of a class of :mod:`fairfield.cli.options`, the
    fields of that class are options of the command, checked before it runs.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        run = _with_options(function) if "options" in _parameters(function) else _plain(function)
        return group.command(epilog=examples)(run)

    return register


def _parameters(function: Callable[..., None]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function, eval_str=True).parameters)


def _plain(function: Callable[..., None]) -> Callable[..., None]:
    @wraps(function)
    def run(**given: Any) -> None:
        with reported():
            function(**given)

    return run


def _with_options(function: Callable[..., None]) -> Callable[..., None]:
    """The function with a parameter for each field of its options."""
    own = _parameters(function)
    kind: type[ValuationOptions] = own.pop("options").annotation
    hints = get_type_hints(kind, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [each.replace(kind=keyword) for each in own.values()] + [
        inspect.Parameter(each.name, keyword, default=each.default, annotation=hints[each.name])
        for each in fields(kind)
    ]

    @wraps(function)
    def run(**given: Any) -> None:
        options = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
        with reported(options.interrupted):
            options.check()
            function(options=options, **given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by typer
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run
