"""Warnings that name the line of the user's code, however deep they are raised."""

from __future__ import annotations

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def warn(sentence: str, category: type[Warning] = UserWarning) -> None:
    """Warn of what the first caller outside of the package asked for."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        f"{PACKAGE}."
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, category, stacklevel=level)
