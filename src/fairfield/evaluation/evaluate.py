"""The one place where worths are computed and checked."""

from __future__ import annotations

import os

import numpy as np

from fairfield.coalitions import BoolArray, enumerate_coalitions, members, spell
from fairfield.evaluation.how import How
from fairfield.game import FloatArray, Game

# Coalitions reach a game in blocks of this many, whatever else is going on, so that
# results do not depend on how the work is shared out.
BLOCK = 1024
# Tables beyond this many players are asked for by a budget, not by default.
MOST_PLAYERS = 25


class WorthError(RuntimeError):
    """A game could not say what a coalition is worth."""


def evaluate_all(game: Game, how: How) -> FloatArray:
    """The table of all 2^n worths, evaluated block by block."""
    from tqdm.auto import tqdm

    count = len(game.players)
    _check_size(game, how)
    table = np.empty((*game.batch, 2**count))
    hidden = None if how.progress is None else not how.progress
    with tqdm(
        total=2**count, desc="worths", disable=hidden, delay=0 if how.progress else 1, leave=False
    ) as bar:
        for start in range(0, 2**count, BLOCK):
            stop = min(start + BLOCK, 2**count)
            table[..., start:stop] = _block(game, enumerate_coalitions(count, start, stop))
            bar.update(stop - start)
    return table


def _block(game: Game, coalitions: BoolArray) -> FloatArray:
    try:
        worths = np.asarray(game.worths(coalitions), dtype=float)
    except Exception as error:
        raise _named(game, coalitions, error) from error
    wanted = (*game.batch, len(coalitions))
    if worths.shape != wanted:
        raise WorthError(f"{game!r} returned worths of shape {worths.shape}; {wanted} is needed")
    bad = np.argwhere(~np.isfinite(worths))
    if len(bad):
        coalition = spell(members(coalitions[bad[0][-1]], game.players))
        raise WorthError(
            f"the worth of coalition {coalition} is {worths[tuple(bad[0])]}; "
            "every worth must be a finite number"
        )
    return worths


def _named(game: Game, coalitions: BoolArray, error: Exception) -> WorthError:
    """The error with the first coalition on which the game fails by itself."""
    for row in coalitions if len(coalitions) > 1 else ():
        try:
            game.worths(row[None])
        except Exception as own:
            if type(own) is type(error):
                name = spell(members(row, game.players))
                return WorthError(f"the game failed on coalition {name}: {_told(own)}")
    if len(coalitions) == 1:
        name = spell(members(coalitions[0], game.players))
        return WorthError(f"the game failed on coalition {name}: {_told(error)}")
    first, last = (spell(members(coalitions[i], game.players)) for i in (0, -1))
    return WorthError(
        f"the game failed on {len(coalitions)} coalitions at once, {first} to {last}, "
        f"though not on each alone: {_told(error)}"
    )


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _check_size(game: Game, how: How) -> None:
    """Refuse a table that is too long to evaluate or too large to hold."""
    count = len(game.players)
    worths = 2**count * int(np.prod(game.batch, dtype=int))
    size = _bytes_in_words(8 * worths)
    if how.budget is not None and 2**count > how.budget:
        raise ValueError(
            f"{game!r}: exact values need all {2**count:,} worths, the budget allows {how.budget:,}; "
            "raise the budget, group players, or use a game with a closed form"
        )
    free = free_memory()
    if (how.budget is None and count > MOST_PLAYERS) or (free and 8 * worths > free // 2):
        raise MemoryError(
            f"{game!r}: exact values need all 2^{count} worths, {size} of memory; group players, "
            "use a game with a closed form, or give a budget of worths to evaluate"
        )


def _bytes_in_words(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.3g} PB"


def free_memory() -> int | None:
    """The bytes of memory that could be had now, or None where that is not known."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
