"""Verdicts on the figure of sample sizes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairfield.core.arrays import FloatArray
from paper.claims import Claim, holds

# A run has settled when a step is at most so many times what its last steps are.
FACTOR = 2.0


def fewer_epochs(epochs: Mapping[int, FloatArray], floors: Mapping[int, FloatArray]) -> Claim:
    """By the number m of samples, of every seed: steps until settled, and where steps settle."""
    few, *_, many = epochs
    apart = epochs[few] - epochs[many]
    error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.inf
    faster = bool(apart.mean() > 2 * error)
    # What is not told apart from 0 nor from a whole epoch is open.
    known = faster or apart.mean() + 2 * error < 1
    return Claim(
        "Fig. 11, number of samples",
        "with more samples Alg. 1 converges faster, in fewer epochs",
        "m = n, 5n, 10n: curves",
        "epochs until settled: "
        + ", ".join(f"m = {m}: {each.mean():.2f}" for m, each in epochs.items()),
        holds(faster if known else None),
        f"settled: within {FACTOR:g} times its own last steps; {len(apart)} seeds, the difference is {apart.mean():.2f} ± "
        f"{error:.2f}. Steps do not go to 0 but level off at the noise of the gradient, "
        + ", ".join(f"{each.mean():.2g} (m = {m})" for m, each in floors.items())
        + ": more samples lower this floor in proportion",
    )
