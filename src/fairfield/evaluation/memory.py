"""Whether a table of all worths is within budget and memory."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from fairfield.core.game import Game
from fairfield.evaluation.kept import numbers_kept
from fairfield.evaluation.options import Options

# Without a budget, tables have at most this many players.
MOST_PLAYERS = 25
# The criteria that can be estimated where there is no table.
ESTIMATED = "shapley, owen, banzhaf, semivalue, variational_index and variational_values"

# Where Linux says how much memory a container may use, by the second and the first kind of groups.
GROUPS = (
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"),
    (
        Path("/sys/fs/cgroup/memory"),
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
)
NO_LIMIT = 2**60


def check_table(game: Game, options: Options) -> None:
    """Refuse a table of more worths than the budget allows, or than fit into memory.

    The memory of a device is checked where the table is filled.
    """
    count = len(game.players)
    size = 8 * 2**count * numbers_kept(game)
    if options.budget is not None and 2**count > options.budget:
        raise out_of_reach(game, options)
    if game.traits.device is not None:
        return
    if not fits(size // 8) or (options.budget is None and count > MOST_PLAYERS):
        raise MemoryError(
            f"{game!r}: exact values need all 2^{count} worths, {_in_words(size)} of memory; group "
            f"{game.info.noun}s, {game.info.advice}, or give a budget= of worths to evaluate to what can be "
            f"estimated from it ({ESTIMATED})"
        )


def fits(numbers: int) -> bool:
    """Whether so many numbers take at most half of the free memory."""
    free = free_memory()
    return free is None or 8 * numbers <= free // 2


def out_of_reach(game: Game, options: Options) -> ValueError:
    """The error of what needs a table, where the options do not allow for one."""
    limit = "an estimate was asked for"
    if options.budget is not None:
        limit = f"the budget allows {options.budget:,}"
    count = len(game.players)
    needed = f"{2**count:,}" if count < 40 else f"2^{count}"
    advice = f"group {game.info.noun}s, or {game.info.advice}"
    # No budget would be enough for more players.
    advice = f"raise the budget, {advice}" if count <= MOST_PLAYERS else advice
    return ValueError(
        f"{game!r}: exact values need all {needed} worths, {limit}; {advice}; only "
        f"{ESTIMATED} are estimated from fewer"
    )


def _in_words(size: int) -> str:
    count = float(min(size, 10**300))
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.3g} PB"


def free_memory() -> int | None:
    """The bytes of memory that are available now, or None where the system does not say.

    In a container, what its limit leaves.
    """
    limited = memory_limit()
    left = [] if limited is None else [max(limited[0] - limited[1], 0)]
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
        left.append(1024 * free)
    except (OSError, StopIteration):
        with suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
            left.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(left, default=None)


def memory_limit() -> tuple[int, int] | None:
    """The limit of this process's control group and what is used of it; None without a limit.

    Files that the system keeps in memory, and drops where it needs room, do not count as used.
    """
    for place, limit, used, dropped in GROUPS:
        try:
            most, now = (int((place / name).read_text()) for name in (limit, used))
            stated = dict(line.split() for line in (place / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):  # no such group, or its limit is "max"
            continue
        if most < NO_LIMIT:
            return most, now - int(stated.get(dropped, 0))
    return None
