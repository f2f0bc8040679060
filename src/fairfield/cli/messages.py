"""Messages of the command line: errors as one sentence and an exit code."""

from __future__ import annotations

import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from fairfield.cli import stop_at_once
from fairfield.core.writing.terminal import shown
from fairfield.evaluation.outcomes import WorthError
from fairfield.evaluation.storage.errors import StoreError
from fairfield.evaluation.store import describe_store

BAD_INPUT, INTERRUPTED = 2, 130
# Errors that input or surroundings may cause; any other is a bug, with its traceback.
REPORTED = (ValueError, TypeError, OSError, MemoryError, ImportError, StoreError, WorthError)
# Keywords of the library, as its messages write them, that are options of the same name.
KEYWORDS = re.compile(
    r"\b(budget|columns|layout|output|seconds|seed|store|strength|temperature|tolerance)=(?=(.?))"
)
# How the library says that a model has no closed form: by the names of its classes.
FALLBACK = re.compile(r"FeatureGame explains the (.*) \(.*\), which .*, since \w+ refused: ")


class InputError(ValueError):
    """Input that cannot be used, and why."""


@contextmanager
def reported(interrupted: Callable[[], str] = lambda: "stopped") -> Iterator[None]:
    """A block whose errors are one sentence and exit code 2; 130 after Ctrl-C, with a message."""
    try:
        if signal.getsignal(signal.SIGINT) is stop_at_once:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            yield
    except BrokenPipeError:  # whoever read the output has gone; files are written before
        raise
    except KeyboardInterrupt:
        say(interrupted())
        raise typer.Exit(INTERRUPTED) from None
    except REPORTED as error:
        say(f"error: {sentence(error)}")
        raise typer.Exit(BAD_INPUT) from None


def sentence(error: BaseException) -> str:
    """The first line of an error, its keywords written as options of the command line.

    >>> sentence(ValueError("Input X contains NaN.\\nSome estimators …"))
    'Input X contains NaN.'
    >>> sentence(ValueError("budget=0 allows no evaluation; give at least 1"))
    '--budget 0 allows no evaluation; give at least 1'
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename} could not be used: {error.strerror}"
    return _as_options(str(error).strip().split("\n")[0]) or type(error).__name__


def _as_options(text: str) -> str:
    """Keywords as the options they are: ``budget=3`` is ``--budget 3``, ``budget=`` ``--budget``."""
    text = FALLBACK.sub(
        r"the \1 is explained by calling the model, maybe in another unit than that of its closed form, "
        "which was refused: ",
        text,
    )
    return KEYWORDS.sub(lambda found: f"--{found[1]}{' ' if found[2].strip(' ,;.)') else ''}", text)


def _print_warning(message: Warning | str, *place: Any, **more: Any) -> None:
    """A warning as a sentence, without the line of code that gave it."""
    say(f"warning: {_as_options(str(message).strip().splitlines()[0])}")


def say(text: str) -> None:
    """Print a line to the error stream, where progress goes too."""
    print(shown(text), file=sys.stderr)


def worths_kept(store: Path | None) -> str:
    """The message of an interrupted command: what its store keeps, and how to resume."""
    if store is None:
        return (
            "stopped; nothing was kept. With --store FILE worths are kept as they are found, and "
            "the same command resumes from them"
        )
    try:
        count = describe_store(store).worths
    except StoreError:  # it was not created yet
        count = 0
    if not count:
        return f"stopped before a worth was kept in {store}; the same command starts over"
    return (
        f"stopped; {store} keeps {count:,} worths. Run the same command with --store {store} to "
        "resume"
    )
