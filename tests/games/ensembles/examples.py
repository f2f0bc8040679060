"""Votes of models that favour the truth."""

from __future__ import annotations

import numpy as np

rng = np.random.default_rng(11)


def votes(models: int, rows: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities (models, rows, classes) that lean to the truth, and the truth."""
    truth = rng.integers(0, classes, rows)
    logits = rng.normal(size=(models, rows, classes)) + np.eye(classes)[truth]
    chances = np.exp(logits)
    return chances / chances.sum(axis=-1, keepdims=True), truth
