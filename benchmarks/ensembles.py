"""Ensembles: all 2^20 worths of 20 models, beside the additions that they need at least.

The floor is ``np.add(out=)`` of rows × classes float32 numbers, once per coalition, on arrays that
stay in cache; both are measured in CPU seconds of one process, in turns.
"""

import time

import numpy as np
from measure import machine, show

import fairfield as ff

MODELS, ROWS, CLASSES, TURNS = 20, 2000, 10, 4


def ensemble(vote: str) -> ff.EnsembleGame:
    """Models of different skill, as probabilities."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, CLASSES, ROWS)
    skill = rng.uniform(0.5, 2.5, (MODELS, 1, 1))
    logits = rng.standard_normal((MODELS, ROWS, CLASSES)) + skill * np.eye(CLASSES)[truth]
    chances = np.exp(logits)
    return ff.EnsembleGame(chances / chances.sum(axis=-1, keepdims=True), None, truth, vote=vote)


def additions(coalitions: int) -> float:
    """CPU seconds of so many additions of rows × classes numbers."""
    one, other, out = (np.ones(ROWS * CLASSES, dtype=np.float32) for _ in range(3))
    start = time.process_time()
    for _ in range(coalitions):
        np.add(one, other, out=out)
    return time.process_time() - start


def main() -> None:
    print(f"# Ensembles\n\n{machine()}")
    rows = []
    for vote in ("soft", "hard"):
        game = ensemble(vote)
        turns = []
        for _ in range(TURNS):
            floor = additions(2**MODELS)
            start = time.process_time()
            game.table()
            turns.append((time.process_time() - start, floor))
        took, floor = np.min(turns, axis=0)
        rows.append((vote, float(took), float(floor), float(took / floor), 5))
    show(
        f"All 2^{MODELS} worths, {ROWS} test rows × {CLASSES} classes, fastest of {TURNS} turns",
        ("vote", "table, CPU s", "np.add(out=), CPU s", "ratio", "bar"),
        rows,
    )


if __name__ == "__main__":
    main()
