"""All worths of a function on a device that has memory of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairfield.core.arrays import device_named, free_bytes, written
from fairfield.core.coalitions import coalitions_in
from fairfield.evaluation.progress import bar

# Coalitions that are worked out at once: their booleans, and what a function makes of
# them, take a few GB.
CHUNK = 2**21
# The part of the free memory that a table may take; the rest is for work on it.
SHARE = 0.9


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
    _check_memory(count * (4 if dtype == xp.float32 else 8), players, device)
    # NaN, so that a worth that never came is not taken for one.
    table = xp.full(count, xp.nan, dtype=dtype, device=device)
    table = written(table, 0, xp.astype(first, dtype))
    starts = range(size, count, size)
    with bar(len(starts), "worths", progress) as shown:
        for start in starts:
            table = written(table, start, xp.astype(worths(start), dtype))
            shown.update()
    return table


def _check_memory(size: int, players: int, device: Any) -> None:
    free = free_bytes(device)
    if free is not None and size > SHARE * free:
        raise MemoryError(
            f"the table of all 2^{players} worths takes {size / 1e9:.3g} GB, and {device} has "
            f"{free / 1e9:.3g} GB free; return worths in float32, which takes half of it, or "
            "group players"
        )
