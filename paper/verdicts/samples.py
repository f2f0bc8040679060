"""Verdicts on the figure of sample sizes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairfield.core.arrays import FloatArray
from paper.claims import Claim, holds

# A run has converged when a step is at most so much, whatever the number of samples.
TOLERANCES = (1e-5, 3e-5)
# Most runs are below this after one or two steps.
COARSE = 1e-4
# By another reading it has when a step is at most so many times what its own last steps are.
FACTOR = 2.0

# By the number m of samples: the epochs of every seed.
Epochs = Mapping[int, FloatArray]


def fewer_epochs(
    fixed: Mapping[float, Epochs], coarse: Epochs, own: Epochs, floors: Mapping[int, FloatArray]
) -> Claim:
    """Epochs until a step is at most each tolerance, the coarse one, about the run's last steps.

    ``floors`` are these last steps. The fixed tolerances decide; the rest is shown beside them.
    """
    apart = [_apart(each) for each in fixed.values()]
    faster = [mean > 2 * error for mean, error in apart]
    # What is not told apart from 0 nor from a whole epoch is open.
    refuted = [not f and mean + 2 * error < 1 for f, (mean, error) in zip(faster, apart, strict=True)]  # fmt: skip
    return Claim(
        "Fig. 11, number of samples",
        "with more samples Alg. 1 converges faster, in fewer epochs",
        "m = n, 5n, 10n: curves",
        f"epochs for m = {', '.join(map(str, own))}: "
        + "".join(f"{_means(each)} until a step is at most {t:.0e}; " for t, each in fixed.items())
        + f"{_means(own)} until at its own noise",
        holds(True if all(faster) else False if any(refuted) else None),
        f"{len(next(iter(own.values())))} seeds; a run that never gets there counts as one epoch more than it has. "
        "Fewest samples less most: "
        + ", ".join(f"{mean:.2f} ± {error:.2f} ({t:.0e})" for t, (mean, error) in zip(fixed, apart, strict=True))
        + f". At {COARSE:.0e}, which one or two steps reach with any m: {_means(coarse)}. Steps do not go to 0 but "
        "level off at the noise of the gradient, "
        + ", ".join(f"{each.mean():.2g} (m = {m})" for m, each in floors.items())
        + ". To within {:g} times its own floor, fewest less most: {:.2f} ± {:.2f} epochs".format(FACTOR, *_apart(own)),
    )  # fmt: skip


def _apart(epochs: Epochs) -> tuple[float, float]:
    """How many epochs more the fewest samples take than the most, and the error of that mean."""
    few, *_, many = epochs.values()
    apart = few - many
    error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.inf
    return float(apart.mean()), float(error)


def _means(epochs: Epochs) -> str:
    return ", ".join(f"{each.mean():.2f}" for each in epochs.values())
