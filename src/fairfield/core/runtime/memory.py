"""How much memory there is, in a container or a job too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# What limits the memory of a control group, what it uses, and what of that can be given up at once:
# of the second version, and of the first.
FILES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
# The first version has a number for no limit.
NO_LIMIT = 2**60


def fits(numbers: int) -> bool:
    """Whether so many numbers take at most half of the free memory."""
    free = free_memory()
    return free is None or 8 * numbers <= free // 2


def free_memory() -> int | None:
    """The bytes of memory that are available now, or None where the system does not say.

    In a container, what its limit leaves.
    """
    left = [left for _, left in group_limits()]
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
        left.append(1024 * free)
    except (OSError, StopIteration):
        with suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
            left.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(left, default=None)


def memory_limit() -> int | None:
    """The bytes that this process may take in its container or job, or None."""
    return min((limit for limit, _ in group_limits()), default=None)


def group_limits(root: Path = Path("/")) -> Iterator[tuple[int, int]]:
    """The limit of each control group that this process is in, and what is left of it."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, path = [*line.split(":", 2), "", ""][:3]
        # The first version may have several controllers in one group.
        kind = "memory" if "memory" in kinds.split(",") else kinds
        if kind not in FILES or not path:
            continue
        limit, usage, given_up = FILES[kind]
        # In a container the path may be that outside, and its group the top.
        group = root / "sys/fs/cgroup" / kind / path.lstrip("/")
        for folder in (group, *group.parents):
            try:
                most, used = (int((folder / name).read_text()) for name in (limit, usage))
            except (OSError, ValueError):  # no such group, or its limit is "max"
                continue
            if most < NO_LIMIT:
                yield most, min(most, max(0, most - used + _cached(folder, given_up)))


def _cached(folder: Path, name: str) -> int:
    """The bytes that a control group uses and can give up at once; 0 where it does not say."""
    try:
        lines = (folder / "memory.stat").read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.split()[:1] == [name]), 0)
    except (OSError, ValueError, IndexError):
        return 0
