"""Work on many rows, block by block, in one thread or several."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

from fairfield.core.extension import Extension
from fairfield.evaluation.progress import bar
from fairfield.evaluation.threads import threads_of

# Rows of a block. It is the same for any number of threads, and so is every bit of the answer.
BLOCK = 1024


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
