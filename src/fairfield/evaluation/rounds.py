"""How coalitions are shared out: in blocks, which make tasks, which make rounds."""

from __future__ import annotations

from math import ceil

from fairfield.core.game import Game

# A task should outlast the cost of sending it. More tasks than these per worker and round would not
# share it out better, only cost more.
TASK_SECONDS, MOST_TASKS = 0.1, 40


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
