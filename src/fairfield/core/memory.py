"""How much memory there is, in a container or a job too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# What limits the memory of a control group, what it uses, and what of that can be given up at once:
# of the second version, and of the first.
FILES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def fits(numbers: int) -> bool:
    """Whether so many numbers take at most half of the free memory."""
    free = free_memory()
    return free is None or 8 * numbers <= free // 2


def free_memory() -> int | None:
    """The bytes of memory that are available now, or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return min(int(line.split()[1]) * 1024, *left_in_groups(Path("/")))
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def left_in_groups(root: Path) -> Iterator[int]:
    """The bytes that each control group of this process may still take."""
    yield 2**63
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kind, path = line.split(":", 2)
        if kind not in FILES:
            continue
        limit, usage, given_up = FILES[kind]
        top = root / "sys/fs/cgroup" / kind
        # In a container the path may be that outside, and its group the top.
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            try:
                most, used = ((folder / name).read_text().strip() for name in (limit, usage))
                stat = dict(
                    each.split() for each in (folder / "memory.stat").read_text().splitlines()
                )
                if most != "max":
                    yield max(0, int(most) - int(used) + int(stat.get(given_up, 0)))
            except (OSError, ValueError):
                continue
