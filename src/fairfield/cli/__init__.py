"""The command ``fairfield``: values from tables and models, without writing a program."""

from __future__ import annotations

import sys
from io import TextIOWrapper


def main() -> None:
    """Run the command line; its exit code is 0, 2 for bad input, 130 when interrupted."""
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
