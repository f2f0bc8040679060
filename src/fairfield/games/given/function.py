"""Games whose worths come from a function, here or on a device that has memory of its own."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal

import array_api_compat
import numpy as np

from fairfield.core.arrays import (
    BoolArray,
    FloatArray,
    device_named,
    free_bytes,
    on_host,
    real_numbers,
    written,
)
from fairfield.core.coalitions import coalitions_in, members
from fairfield.core.fingerprint import code_of
from fairfield.core.game import Game, Measured, Players, Traits, Worths, name_players
from fairfield.core.service import Service, Worth, finite
from fairfield.evaluation.options import Options
from fairfield.evaluation.progress import bar
from fairfield.evaluation.remote.attempts import is_async
from fairfield.evaluation.remote.calls import Calls
from fairfield.evaluation.remote.passing import is_passing

# Coalitions that are worked out at once: their booleans, and what a function makes of
# them, take a few GB.
CHUNK = 2**21
# The part of the free memory that a table may take; the rest is for work on it.
SHARE = 0.9

# How NumPy says that arrays do not fit: those of a function that expected other ones, or a set.
UNFIT = re.compile(
    r"shape|dimension|broadcast|\baxis\b|ambiguous|(length|size)-1 arrays|ndarray|'bool' and '\w*set'"
)
# What to do with a function of one coalition at a time.
SINGLE = (
    "a function f of one row is given as lambda S: [f(row) for row in S], one of the names of a "
    'coalition as FunctionGame(f, players, takes="names")'
)


class FunctionGame(Game):
    """A game whose worths come from a function ``bool[m, n] -> float[m]``.

    With ``takes="names"`` the function takes the names of one coalition's members, a tuple, and
    returns its worth; it may be ``async``, and is then called as a :class:`RemoteGame` is.

    A store knows the worths by the code of the function, with its constants, its defaults and the
    variables from around it; a ``name`` identifies them instead, whatever becomes of the code.
    Of stored worths, four are evaluated again before they are used, unless they are random.

    Of a function that is ``random`` every worth is the mean of two calls, and how far these differ
    is in the standard errors, those of exact values too.

    With a ``device`` ("cuda", or a device of PyTorch, CuPy or JAX) the function is given
    coalitions as an array there and returns worths there; the table of all worths is
    filled in place and stays on the device, in the precision of the worths.

    >>> game = FunctionGame(lambda S: S.sum(axis=1) ** 2, players=["ann", "bob"])
    >>> game.worths(np.array([[True, True]])).tolist()
    [4.0]
    >>> FunctionGame(len, players=["ann", "bob"], takes="names").worths(np.array([[True, False]]))
    array([1.])
    """

    def __init__(
        self,
        function: Worths | Callable[[tuple[Any, ...]], Any],
        players: Players,
        *,
        takes: Literal["coalitions", "names"] = "coalitions",
        name: str | None = None,
        device: Any = None,
        random: bool = False,
    ) -> None:
        if not callable(function):
            raise TypeError(f"a worth function was expected, {type(function).__name__} was given")
        if takes not in ("coalitions", "names"):
            raise ValueError(f"takes={takes!r} is not known; choose 'coalitions' or 'names'")
        by_name = takes == "names"
        if by_name and device is not None:
            raise ValueError("a function of names is not called with arrays; leave out device=")
        if is_async(function) and not by_name:
            raise ValueError("an async worth function is called by coalition; pass takes='names'")
        called: Callable[..., Any] = function
        self.function = called
        self.players, self.takes = name_players(players), takes
        self.name, self.named = name or name_of(function), name is not None
        # One coalition a call, so that one that fails does not repeat others.
        block = 1 if by_name else None
        self.traits = Traits(block, device, noisy=random, pairs=random, opaque=not random)
        if is_async(function):
            service = Service(called, is_passing, repeats=1 + random)
            self.traits = Traits(noisy=random, opaque=False, service=service)

    def measure(self, coalitions: BoolArray) -> Measured:
        """The worths, variances where they are random, what the calls took where they are async."""
        if self.traits.service is None:
            if not self.traits.noisy:
                return super().measure(coalitions)
            one, other = self.worths(coalitions), self.worths(coalitions)
            return Measured((one + other) / 2, ((one - other) / 2) ** 2)
        return Calls(self, self.traits.service, Options(), None).measure(coalitions)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        if self.traits.service is not None:
            return self.measure(coalitions).worths
        if self.takes == "names":
            # Each answer is read before the next call, which may use its array again.
            found = (self.function(tuple(members(row, self.players))) for row in coalitions)
            return np.array([_number(each) for each in found])
        # Copies both ways: a function may write into its argument, or answer in one buffer.
        lent = np.array(coalitions)
        if self.traits.device is None:
            return np.array(self._checked(self._numbers(self._called(lent)), len(coalitions)))
        xp, device = device_named(self.traits.device)
        # PyTorch on the host shares memory with NumPy, both ways.
        return np.array(on_host(self._on_device(xp.asarray(lent, device=device))))

    def table(self, progress: bool | None = None) -> Any:
        if self.traits.device is None or self.traits.noisy:
            return None
        return tabulate(self._on_device, len(self.players), self.traits.device, progress)

    def _on_device(self, coalitions: Any) -> Any:
        return self._checked(self._called(coalitions), coalitions.shape[0])

    def _called(self, coalitions: Any) -> Any:
        """What the function answers; where arrays do not fit, the error says which it was given."""
        try:
            return self.function(coalitions)
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            kind, known = type(error), (AttributeError, IndexError, TypeError, ValueError)
            if kind not in known or not UNFIT.search(str(error)):
                raise
            if isinstance(error, AttributeError) and error.name not in {
                *dir(frozenset),
                *dir(tuple),
            }:
                raise
            m, n = coalitions.shape
            raise kind(
                f"{str(error).strip()}; a worth function takes bool[m, n], here m = {m}, n = {n}, and "
                f"returns m worths; {SINGLE}"
            ) from error

    def _numbers(self, worths: Any) -> FloatArray:
        try:
            return real_numbers(worths)
        except TypeError as error:
            raise TypeError(f"the worth function {self.name}: {error}; make them numbers") from None

    def _checked(self, worths: Any, count: int) -> Any:
        xp = array_api_compat.array_namespace(worths)
        if xp.isdtype(worths.dtype, "complex floating"):
            raise ValueError(
                f"the worth function {self.name} returned complex worths; make them real"
            )
        if tuple(worths.shape) != (count,):
            raise ValueError(
                f"the worth function {self.name} returned shape {tuple(worths.shape)} for "
                f"{count} coalitions; it takes a bool array (m, n) and must return m worths; {SINGLE}"
            )
        return worths

    def describe(self) -> dict[str, Any]:
        random = {"random": True} if self.traits.noisy else {}
        return {**super().describe(), "function": self.name, **self._code, **random}

    @cached_property
    def _code(self) -> dict[str, str]:
        # Once, since the function may change what it holds while it is called.
        return {} if self.named else {"code": code_of(self.function)}


def _number(found: Any) -> float:
    """The worth that a function of names returned."""
    if inspect.iscoroutine(found):
        found.close()
        raise TypeError(
            "the worth function returned a coroutine; write it as async def, or pass it to "
            "RemoteGame, which awaits it"
        )
    return finite(found.value if isinstance(found, Worth) else found)


def name_of(function: Any) -> str:
    """The name by which a store knows a function."""
    return str(getattr(function, "__qualname__", type(function).__name__))


def tabulate(
    function: Callable[[Any], Any], players: int, device: Any, progress: bool | None
) -> Any:
    """The table of all 2^n worths, filled in chunks where it stays.

    ``function`` takes bool (m, n) and gives m worths, both on the device; the table has the
    precision of its answers. Cost: 2^n worths, and no copy of the table.
    """
    xp, device = device_named(device)
    count, size = 2**players, min(CHUNK, 2**players)

    def worths(start: int) -> Any:
        rows = xp.arange(start, start + size, dtype=xp.int64, device=device)
        try:
            return function(coalitions_in(rows, players))
        except Exception as error:
            error.add_note(
                f"at rows {start:,} to {start + size - 1:,} of the {count:,} coalitions, where bit i "
                "of a row is player i"
            )
            raise

    first = worths(0)
    dtype = first.dtype if first.dtype in (xp.float32, xp.float64) else xp.float64
    needed, free = count * (4 if dtype == xp.float32 else 8), free_bytes(device)
    if free is not None and needed > SHARE * free:
        raise MemoryError(
            f"the table of all 2^{players} worths takes {needed / 1e9:.3g} GB, and {device} has "
            f"{free / 1e9:.3g} GB free; return worths in float32, which takes half of it, or "
            "group players"
        )
    # NaN, so that a worth that never came is not taken for one.
    table = xp.full(count, xp.nan, dtype=dtype, device=device)
    table = written(table, 0, xp.astype(first, dtype))
    starts = range(size, count, size)
    with bar(len(starts), "worths", progress) as shown:
        for start in starts:
            table = written(table, start, xp.astype(worths(start), dtype))
            shown.update()
    return table
