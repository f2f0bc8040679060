"""The registry of commands: a function becomes a command of ``fairfield`` by a decorator."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from fairfield.cli.messages import reported
from fairfield.cli.options import ValuationOptions
from fairfield.core.registry import refuse_taken

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


def _paths(arguments: Iterable[Any]) -> Iterator[Path]:
    """The files among the arguments of a command; those that are given as text are looked up."""
    for each in arguments:
        if isinstance(each, Path):
            yield each
        elif isinstance(each, list):
            yield from _paths(each)
        elif isinstance(each, str) and os.path.isfile(each):
            yield Path(each)


def command(
    examples: str, group: typer.Typer = app
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command; its errors become one sentence and an exit code.

    Where it has a parameter ``options``, of a class of :mod:`fairfield.cli.options`, the
    fields of that class are options of the command, checked before it runs.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        for taken in list(group.registered_commands):
            if taken.callback is not None and taken.callback.__name__ == function.__name__:
                refuse_taken(f"a command {function.__name__!r}", taken.callback, function)
                group.registered_commands.remove(taken)
        keyword = inspect.Parameter.KEYWORD_ONLY
        own = dict(inspect.signature(function, eval_str=True).parameters)
        shared = own.pop("options", None)
        kind: type[ValuationOptions] | None = None if shared is None else shared.annotation
        parameters = [each.replace(kind=keyword) for each in own.values()]
        if kind is not None:
            hints = get_type_hints(kind, include_extras=True)
            parameters += [
                inspect.Parameter(name, keyword, default=each.default, annotation=hints[name])
                for name, each in inspect.signature(kind).parameters.items()
            ]

        @wraps(function)
        def run(**given: Any) -> None:
            if kind is None:
                with reported():
                    function(**given)
                return
            arguments = {name: given.pop(name) for name in own}
            options = kind(**given)
            with reported(options.interrupted):
                options.check(_paths(arguments.values()))
                function(options=options, **arguments)

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by typer
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return group.command(epilog=examples)(run)

    return register
