"""Learning a neural set function from observed coalitions."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.checks import numbers
from fairfield.core.game import Player, Players
from fairfield.evaluation.progress import bar
from fairfield.learning.deep_sets import DeepSetsGame, deep_sets, import_torch
from fairfield.learning.learn import check_counts
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

    ``features`` v (n, d) describe the players, who are told apart by name alone without
    them; (m, n, d) gives each of m coalitions, then rows of a matrix of 0 and 1, a ground
    set of its own, and the answer is a batch of m games. ``game.on(features)`` plays the
    function on new players. ``objective``: those of ``learn`` ("nce" on one ground set only),
    or "mean-field": the cross-entropy of each coalition under ``inference`` differentiable
    mean-field steps, for coalitions that are the right answer on their ground set.

    Adam with steps of ``rate`` ends when a share ``held_out`` of the data has fitted no
    better for ``patience`` epochs; the best network is kept. Needs the extra ``learning``.
    """
    torch = import_torch()
    if objective not in OBJECTIVES:
        raise ValueError(
            f"there is no objective {objective!r}; choose from {', '.join(OBJECTIVES)}"
        )
    check_counts(width=width, inference=inference, noise=noise, epochs=epochs, patience=patience)
    if not 0 < held_out < 1:
        raise ValueError(f"held_out={held_out} was given; it must lie between 0 and 1")
    given, own, named = _data(coalitions, features, players)
    if objective == "nce" and own.ndim == 3:
        raise ValueError(
            "noise contrast estimates one log Z, and every ground set has its own; use "
            "objective='pseudolikelihood' or 'ratio-matching'"
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = deep_sets(own.shape[-1], width)
        chances = torch.as_tensor((given.sum(axis=0) + 0.5) / (len(given) + 1))
        loss = NeuralLoss(network, chances, noise, inference)
        z, v = torch.as_tensor(given), torch.as_tensor(own)
        order = np.random.default_rng(seed).permutation(len(given))
        away = max(1, round(held_out * len(given)))
        if away >= len(given):
            raise ValueError(f"{len(given)} observations leave none to learn from; more are needed")
        train, held = (torch.as_tensor(part) for part in (order[away:], order[:away]))
        task = _Training(loss, objective, z, v, train, held, rate)
        note = task.run(epochs, patience, progress)
    return DeepSetsGame(network, own, players=named, note=f"by {objective}, {note}")


class _Training:
    """Adam over a network, watched by held-out data."""

    def __init__(
        self, loss: NeuralLoss, objective: str, z: Any, v: Any, train: Any, held: Any, rate: float
    ) -> None:
        self.loss, self.objective = loss, OBJECTIVES[objective]
        self.z, self.v, self.train, self.held = z, v, train, held
        self.adam = import_torch().optim.Adam(loss.network.parameters(), lr=rate)

    def run(self, epochs: int, patience: int, progress: bool | None) -> str:
        """Train, put the best network in place, and say how it ended."""
        best, kept, since, epoch = np.inf, {}, 0, 0
        with bar(epochs, "epochs", progress) as shown:
            while epoch < epochs and since < patience:
                self._epoch()
                now = self._held_out()
                since += 1
                if now < best:
                    best, since = now, 0
                    kept = deepcopy(self.loss.network.state_dict())
                epoch += 1
                shown.update()
        if not np.isfinite(best):
            raise FloatingPointError("training diverged; lower rate=, or scale the features")
        self.loss.network.load_state_dict(kept)
        how = "stopped early" if since == patience else "took all epochs"
        return f"{how} ({epoch} epochs), held-out loss {best:.4g}"

    def _epoch(self) -> None:
        torch = import_torch()
        for some in self._batches(self.train[torch.randperm(len(self.train))]):
            self.adam.zero_grad()
            self._mean(some).backward()
            self.adam.step()

    def _held_out(self) -> float:
        with import_torch().no_grad():
            sums = [len(some) * float(self._mean(some)) for some in self._batches(self.held)]
        return sum(sums) / len(self.held)

    def _mean(self, some: Any) -> Any:
        v = self.v[some] if self.v.ndim == 3 else self.v.expand(len(some), -1, -1)
        return self.objective(self.loss, self.z[some], v)

    def _batches(self, rows: Any) -> Iterator[Any]:
        return iter(rows.split(TOGETHER))


def _data(
    coalitions: Any, features: ArrayLike | None, players: Players | None
) -> tuple[Any, Any, tuple[Player, ...]]:
    """Coalitions (m, n), features (n, d) or (m, n, d), and names."""
    if features is None or np.ndim(features) == 2:
        seen = observe(coalitions, players)
        rows = np.repeat(seen.coalitions, seen.counts.astype(int), axis=0).astype(float)
        named = seen.players
        own = np.eye(len(named)) if features is None else numbers(features, "features", axes=2)
    else:
        # Each row belongs to its own ground set, so equal rows are not put together.
        rows, own = np.asarray(coalitions), numbers(features, "features", axes=3)
        named = observe(rows, players).players
        rows = rows.astype(float)
        if len(own) != len(rows):
            raise ValueError(
                f"{len(rows)} coalitions and {len(own)} ground sets were given; each coalition "
                "needs one"
            )
    if own.shape[-2] != rows.shape[1]:
        raise ValueError(
            f"features of {own.shape[-2]} players were given for coalitions of {rows.shape[1]}"
        )
    return rows, own, named
