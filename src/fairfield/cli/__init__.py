"""The command ``fairfield``: values from tables and models, without writing a program."""

from __future__ import annotations

import os
import signal
import sys
from io import TextIOWrapper
from typing import Any


def main() -> None:
    """Run the command line; its exit code is 0, 2 for bad input, 130 when interrupted."""
    # Imports and parsing have nothing to keep, and libraries turn an interrupt there into errors of
    # their own; a command that runs takes it as any program does.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop_at_once)
    # Not by needed_for, which would name the extra of the first missing one: cli brings them all.
    try:
        import pandas  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as missing:
        print(f"fairfield: {missing}; run: pip install 'fairfield[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    from fairfield.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what a terminal cannot show must not end a command
            stream.reconfigure(errors="replace")
    app(prog_name="fairfield")


def stop_at_once(*given: Any) -> None:
    """End the command with a line, whatever is under way."""
    os.write(2, b"stopped\n")
    os._exit(130)
