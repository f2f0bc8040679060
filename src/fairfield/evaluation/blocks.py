"""Blocks: of coalitions, which make tasks and rounds, and of rows, in one thread or several."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from math import ceil
from typing import Any

from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.evaluation.progress import bar
from fairfield.evaluation.threads import threads_of

# Rows of a block. It is the same for any number of threads, and so is every bit of the answer.
BLOCK = 1024
# A task should outlast the cost of sending it. More tasks than these per worker and round would not
# share it out better, only cost more.
TASK_SECONDS, MOST_TASKS = 0.1, 40


def over_rows(work: Callable[[slice], None], rows: int, whose: Extension) -> None:
    """Call ``work`` for each block of rows, in the threads that the extension may use.

    It must release the interpreter's lock to gain by them.
    """
    progress = whose.progress
    blocks = [slice(low, min(low + BLOCK, rows)) for low in range(0, rows, BLOCK)]
    jobs = threads_of(whose.jobs) if len(blocks) > 1 else 1
    quiet = progress is False or len(blocks) == 1
    shown: Any = nullcontext() if quiet else bar(rows, "rows", progress, "row")
    with shown as moved, ThreadPoolExecutor(jobs) if jobs > 1 else nullcontext() as pool:
        for block, _ in zip(blocks, (pool.map if pool else map)(work, blocks), strict=True):
            if moved is not None:
                moved.update(block.stop - block.start)


def block_size(game: Game) -> int:
    """How many coalitions reach a game at once.

    The game may say (1 where a worth is a model fit); else blocks are small for small games,
    whose worths may be expensive, and at most 4096 for a table.
    """
    count = len(game.players)
    return game.traits.block or (max(16, 2 ** (count - 12)) if count <= 25 else 64)


def plan(cost: float, length: float, jobs: int, most: int) -> tuple[int, int]:
    """Blocks per task and tasks per round, for a round of this length in seconds."""
    if cost <= 0:
        return 1, jobs
    share = min(length / cost, most / jobs)
    wanted = max(ceil(TASK_SECONDS / cost), ceil(share / MOST_TASKS))
    per_task = max(1, min(wanted, int(share)))
    return per_task, jobs * max(1, int(share / per_task))
