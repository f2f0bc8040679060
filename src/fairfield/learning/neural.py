"""Learning a neural set function from observed coalitions."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.core.checks import numbers, whole
from fairfield.core.game import Player, Players
from fairfield.evaluation.progress import bar
from fairfield.learning.deep_sets import DeepSetsGame, deep_sets, import_torch
from fairfield.learning.neural_losses import OBJECTIVES, NeuralLoss
from fairfield.learning.observed import observe

# Observations in one step of Adam.
TOGETHER = 64


def learn_deep_sets(
    coalitions: Any,
    objective: str = "pseudolikelihood",
    *,
    features: ArrayLike | None = None,
    players: Players | None = None,
    width: int = 32,
    inference: int = 4,
    noise: int = 10,
    held_out: float = 0.2,
    epochs: int = 200,
    patience: int = 10,
    rate: float = 3e-3,
    seed: int = 0,
    progress: bool | None = None,
) -> DeepSetsGame:
    """The game of a neural set function ρ(Σ_{i∈S} φ(v_i)) that explains the coalitions.

    ``features`` v (n, d) describe the players, which without them differ by name alone;
    (m, n, d) gives each of m coalitions, then rows of a matrix of 0 and 1, a ground set of
    its own, and the result is a batch of m games. ``game.on(features)`` is the same function
    on new players. ``objective``: those of ``learn`` ("nce" on one ground set only), or
    "mean-field": the cross-entropy of each coalition under ``inference`` differentiable
    mean-field steps, for coalitions that are the optimal ones on their ground sets.

    Adam with steps of ``rate`` ends when a share ``held_out`` of the data has fitted no
    better for ``patience`` epochs; the best network is kept. Needs the extra ``learning``.
    """
    torch = import_torch()
    if objective not in OBJECTIVES:
        raise ValueError(
            f"there is no objective {objective!r}; choose from {', '.join(OBJECTIVES)}"
        )
    counts = {"width": width, "inference": inference, "noise": noise}
    for name, count in {**counts, "epochs": epochs, "patience": patience}.items():
        whole(name, count)
    if not 0 < held_out < 1:
        raise ValueError(f"held_out={held_out} was given; it must lie between 0 and 1")
    rows, own, named = _data(coalitions, features, players)
    if objective == "nce" and own.ndim == 3:
        raise ValueError(
            "noise contrast estimates one log Z, and every ground set has its own; use "
            "objective='pseudolikelihood' or 'ratio-matching'"
        )
    away = max(1, round(held_out * len(rows)))
    if away >= len(rows):
        raise ValueError(f"{len(rows)} observations leave none to learn from; more are needed")
    order = torch.as_tensor(np.random.default_rng(seed).permutation(len(rows)))
    z, v = torch.as_tensor(rows), torch.as_tensor(own)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = deep_sets(own.shape[-1], width)
        frequencies = torch.as_tensor((rows.sum(axis=0) + 0.5) / (len(rows) + 1))
        loss = NeuralLoss(network, frequencies, noise, inference)

        def mean_loss(some: Any) -> Any:
            ground = v[some] if v.ndim == 3 else v.expand(len(some), -1, -1)
            return OBJECTIVES[objective](loss, z[some], ground)

        with bar(epochs, "epochs", progress) as shown:
            note = _train(network, mean_loss, order, away, rate, epochs, patience, shown.update)
    return DeepSetsGame(network, own, players=named, note=f"by {objective}, {note}")


def _train(
    network: Any,
    mean_loss: Callable[[Any], Any],
    order: Any,
    away: int,
    rate: float,
    epochs: int,
    patience: int,
    tick: Callable[[], object],
) -> str:
    """Fit the network by Adam, keep what serves the first ``away`` rows best, say how it ended."""
    torch = import_torch()
    held_out, train = order[:away], order[away:]
    adam = torch.optim.Adam(network.parameters(), lr=rate)
    best, kept, since, epoch = np.inf, {}, 0, 0
    while epoch < epochs and since < patience:
        for some in train[torch.randperm(len(train))].split(TOGETHER):
            adam.zero_grad()
            mean_loss(some).backward()
            adam.step()
        with torch.no_grad():
            sums = [len(some) * float(mean_loss(some)) for some in held_out.split(TOGETHER)]
        epoch, since = epoch + 1, since + 1
        if (now := sum(sums) / away) < best:
            best, since, kept = now, 0, deepcopy(network.state_dict())
        tick()
    if not np.isfinite(best):
        raise FloatingPointError("training diverged; lower rate=, or scale the features")
    network.load_state_dict(kept)
    how = "stopped early" if since == patience else "took all epochs"
    return f"{how} ({epoch} epochs), held-out loss {best:.4g}"


def _data(
    coalitions: Any, features: ArrayLike | None, players: Players | None
) -> tuple[FloatArray, FloatArray, tuple[Player, ...]]:
    """Coalitions (m, n), features (n, d) or (m, n, d), and names."""
    if features is not None and np.ndim(features) == 3:
        # Each row has its own ground set, so equal rows are not counted together.
        rows, own = np.asarray(coalitions), numbers(features, "features", axes=3)
        named = observe(rows, players).players
        if len(own) != len(rows):
            raise ValueError(
                f"{len(rows)} coalitions and {len(own)} ground sets were given; each coalition "
                "needs one"
            )
    else:
        seen = observe(coalitions, players)
        rows, named = np.repeat(seen.coalitions, seen.counts.astype(int), axis=0), seen.players
        own = np.eye(len(named)) if features is None else numbers(features, "features", axes=2)
    if own.shape[-2] != rows.shape[1]:
        raise ValueError(
            f"features of {own.shape[-2]} players were given for coalitions of {rows.shape[1]}"
        )
    return rows.astype(float), own, named
