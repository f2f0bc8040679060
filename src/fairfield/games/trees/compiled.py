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
    "5 to 30 seconds, and later calls start at once"
)


def compiled(function: Function) -> Function:
    """The function as machine code, kept on disk between processes.

    A division by zero is not looked for: that would keep loops from being vectorised.
    """
    loop = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    _LOOPS.add(function.__qualname__)
    return cast(Function, loop)


class _Notice(event.Listener):
    """Says so before the first of our functions is compiled; what is on disk is not."""

    said = False

    def on_start(self, happening: Any) -> None:
        if not self.said and happening.data["dispatcher"].__name__ in _LOOPS:
            _Notice.said = True
            print(NOTICE, file=sys.stderr, flush=True)

    def on_end(self, happening: Any) -> None:
        """Nothing is left to say."""


_LOOPS: set[str] = set()
event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]  # not annotated in numba
