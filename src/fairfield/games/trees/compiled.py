"""Loops as machine code, made once on each machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

NOTICE = (
    "fairfield: compiling loops over trees for this machine, once for each kind of call; this takes "
    "5 to 20 seconds, and later calls start at once"
)


def compiled(function: Function) -> Function:
    """The function as machine code, kept on disk between processes.

    A division by zero is not looked for: that would keep loops from being vectorised.
    """
    loop = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    _LOOPS.add(function.__qualname__)
    return cast(Function, loop)


class _Notice(event.Listener):
    """Says so before the first of our functions is compiled; what is on disk is not.

    A terminal also shows which function it is, and how many were compiled before.
    """

    said, inside, done = False, 0, 0

    def on_start(self, happening: Any) -> None:
        name = happening.data["dispatcher"].__name__
        if name not in _LOOPS:
            return
        if not self.said:
            print(NOTICE, file=sys.stderr, flush=True)
        self.said, self.inside = True, self.inside + 1
        self._show(f"  {self.done} compiled, now {name.strip('_')} …")

    def on_end(self, happening: Any) -> None:
        if happening.data["dispatcher"].__name__ in _LOOPS:
            self.inside, self.done = self.inside - 1, self.done + 1
            self._show("")

    def _show(self, line: str) -> None:
        """Replace the last line of a terminal, unless a function within another is compiled."""
        if self.inside <= 1 and sys.stderr.isatty():
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


_LOOPS: set[str] = set()
event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]  # not annotated in numba
