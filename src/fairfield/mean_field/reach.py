"""Reading an extension where only some players are within reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from fairfield.core.arrays import IntArray
from fairfield.core.extension import Extension, OutOfReachError

Answer = TypeVar("Answer")


def within_reach(extension: Extension, read: Callable[[Extension, IntArray], Answer]) -> Answer:
    """``read(smaller extension, its players)``, of all players where there is no smaller one.

    An answer that needs further players is read again, with these.
    """
    players = np.empty(0, dtype=np.int64)
    while (part := extension.reachable()) is not None and len(part[0]) > len(players):
        players, smaller = part
        try:
            return read(smaller, players)
        except OutOfReachError:
            pass
    return read(extension, np.arange(extension.players))
