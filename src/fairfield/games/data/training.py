"""What the rows of a training run did for the validation loss, recorded while a network trains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray, on_host
from fairfield.core.checks import number, whole
from fairfield.core.game import GameInfo, Players, name_players
from fairfield.games.data.ghosts import Call, Ghosts, Tensors
from fairfield.games.set_functions.pairwise import PairwiseGame

# Pairs are added up when so many are held.
HELD = 2**21


@contextmanager
def record_training(
    model: Any,
    loss: Callable[[Any, Any], Any],
    X_val: Any,
    y_val: Any,
    players: Players,
    *,
    order: int = 1,
    every: int = 1,
    val_rows: int | None = None,
    seed: int = 0,
) -> Iterator[TrainingRecord]:
    """A record of one training run of a PyTorch model, which becomes a game of its training rows.

    The worth of a coalition S is by how much its rows lowered the validation loss L, step by step
    along the run that was made: with g_i what player i adds to the gradient of the batch,

        F(S) = Σ_steps  lr Σ_{i∈S} ⟨∇L, g_i⟩ - ½ lr² Σ_{i,j∈S} ⟨g_i, ∇²L g_j⟩

    This is Taylor's series of L(w) - L(w - lr Σ_{i∈S} g_i), for steps of gradient descent; other
    optimisers are taken as such steps with the same ``lr``. ``order=1`` leaves the second sum out,
    so that every criterion gives the same values. With ``order=2`` the game is a
    :class:`PairwiseGame`, whose pairs are those that met in a batch.

    Around the loop, and around each step with its backward pass::

        with ff.record_training(model, loss, X_val, y_val, players=len(X)) as record:
            for rows in batches:
                with record.step(rows, lr=0.1):
                    optimizer.zero_grad()
                    loss(model(X[rows]), y[rows]).backward()
                    optimizer.step()
        values = ff.shapley(record.game())

    Gradients of single rows are not made: inner products with them come from applying each layer
    once more. So parameters must belong to linear, convolution, embedding or norm layers, with rows
    as the first axis. The run itself is the same as without a record, bit by bit.

    Parameters
    ----------
    model, loss
        The network and a function of its outputs and labels that gives their mean loss.
    X_val, y_val
        Validation rows, where the model is; it is put into eval mode for them.
    players
        How many training rows there are, or names of players. A step says which player each row
        of the batch belongs to: numbers of rows, or of groups such as vendors.
    order
        1 costs each recorded step the validation gradient and one more forward pass, 2 also a
        product with the Hessian and a forward pass for each player in the batch: few groups are
        cheap, single rows are not.
    every
        One in so many steps, drawn at random, is recorded and counts for all of them: worths are
        then estimates without bias, at that part of the cost.
    val_rows
        How many validation rows are drawn for a recorded step, all by default; without bias too.
    seed
        Of these draws; PyTorch's own are left alone.
    """
    yield TrainingRecord(model, loss, X_val, y_val, players, order, every, val_rows, seed)


class TrainingRecord:
    """What :func:`record_training` gives: ``step`` during the run, ``game`` at any time."""

    def __init__(
        self,
        model: Any,
        loss: Callable[[Any, Any], Any],
        X_val: Any,
        y_val: Any,
        players: Players,
        order: int,
        every: int,
        val_rows: int | None,
        seed: int,
    ) -> None:
        if order not in (1, 2):
            raise ValueError(f"order={order!r} was given; it must be 1 or 2")
        if len(X_val) != len(y_val):
            raise ValueError(
                f"{len(X_val)} validation rows and {len(y_val)} labels were given; each row needs one"
            )
        self.players = name_players(players)
        self.order, self.every = order, whole("every", every)
        self.val_rows = None if val_rows is None else min(whole("val_rows", val_rows), len(X_val))
        self.ghosts = Ghosts(model)
        self.steps = self.recorded = 0
        self._loss, self._validation = loss, (X_val, y_val)
        self._rng = np.random.default_rng(seed)
        self._chosen = 0
        self._linear: Any = None
        self._pairs: Any = None
        self._held: list[tuple[IntArray, FloatArray]] = []

    @contextmanager
    def step(self, indices: Any, lr: float) -> Iterator[None]:
        """Around one step: forward and backward pass, and the move of the weights.

        ``indices`` are the numbers 0 … n-1 of the players whom the rows of the batch belong to, in
        the order of the rows; they may occur more than once.
        """
        owners, rate = self._owners(indices), number(lr, "lr")
        place = self.steps % self.every
        if place == 0:
            self._chosen = int(self._rng.integers(self.every))
        self.steps += 1
        if place != self._chosen:
            yield
            return
        ghosts, twice, calls = self.ghosts, self.order == 2, list[Call]()
        weights, slope = ghosts.slope(self._loss, *self._drawn(), twice=twice)
        steep: Any = 0.0

        def at_once(call: Call) -> None:
            nonlocal steep
            steep = steep + ghosts.products(call, slope)

        first = not self.recorded
        with (
            ghosts.checked(calls, weights) if first else nullcontext(),
            ghosts.listening(len(owners), calls.append if first or twice else at_once),
        ):
            yield
        for call in calls:
            at_once(call)
        self.recorded += 1
        self._add(owners, self.every * rate * steep)
        if twice:
            self._add_pairs(owners, -self.every * rate**2, calls, weights, slope)

    def game(self) -> PairwiseGame:
        """The game of what was recorded so far."""
        if self._linear is None:
            raise ValueError("no step was recorded; put record.step(indices, lr) around each step")
        self._merge()
        game = PairwiseGame(on_host(self._linear), self._pairs, players=self.players)
        game.info = GameInfo(worth_name="fall of the validation loss", unit="loss")
        return game

    def _owners(self, indices: Any) -> IntArray:
        owners: IntArray = on_host(indices, dtype=None)
        count = len(self.players)
        if owners.ndim != 1 or not len(owners) or not np.issubdtype(owners.dtype, np.integer):
            raise ValueError(
                f"indices of shape {owners.shape} and type {owners.dtype} were given; give a list of "
                "whole numbers, the player of each row of the batch"
            )
        if owners.min() < 0 or owners.max() >= count:
            raise ValueError(
                f"indices from {owners.min()} to {owners.max()} were given for {count} players; they "
                f"must be 0 to {count - 1}"
            )
        return owners.astype(np.int64)

    def _drawn(self) -> tuple[Any, Any]:
        X, y = self._validation
        if self.val_rows is None:
            return X, y
        some = self._rng.choice(len(X), self.val_rows, replace=False)
        return X[some], y[some]

    def _add(self, owners: IntArray, gains: Any) -> None:
        if self._linear is None:
            self._linear = gains.new_zeros(len(self.players))
        self._linear.index_add_(0, gains.new_tensor(owners, dtype=int), gains)

    def _add_pairs(
        self, owners: IntArray, factor: float, calls: list[Call], weights: Tensors, slope: Tensors
    ) -> None:
        """Adds factor·⟨g_i, ∇²L g_j⟩ of the players of a batch, half of it on the diagonal."""
        ghosts = self.ghosts
        present, place = np.unique(owners, return_inverse=True)
        count = len(present)
        block = np.empty((count, count))
        for player in range(count):
            direction = ghosts.gradient(calls, weights, np.flatnonzero(place == player))
            bent = ghosts.curved(weights, slope, direction)
            by_row = on_host(sum(ghosts.products(call, bent) for call in calls))
            block[player] = factor * np.bincount(place, by_row, minlength=count)
        block = (block + block.T) / 2
        self._add(present, self._linear.new_tensor(block.diagonal() / 2))
        np.fill_diagonal(block, 0)
        self._held.append((present, block))
        if sum(each.size for _, each in self._held) > HELD:
            self._merge()

    def _merge(self) -> None:
        """Adds the pairs that are held to those that were before."""
        from scipy.sparse import coo_array, csr_array

        shape = (len(self.players),) * 2
        if self._pairs is None:
            self._pairs = csr_array(shape)
        if self._held:
            rows = np.concatenate([np.repeat(who, len(who)) for who, _ in self._held])
            columns = np.concatenate([np.tile(who, len(who)) for who, _ in self._held])
            worths = np.concatenate([block.ravel() for _, block in self._held])
            self._pairs = self._pairs + coo_array((worths, (rows, columns)), shape).tocsr()
            self._pairs.eliminate_zeros()
            self._held.clear()
