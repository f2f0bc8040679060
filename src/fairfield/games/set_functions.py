"""Set functions of machine learning as games: diversity, pairs, cuts, coverage."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike

from fairfield.coalitions import BoolArray
from fairfield.devices import beside, on_host
from fairfield.game import Game, Players
from fairfield.games.checks import flat_points, names, numbers, numbers_anywhere
from fairfield.games.digest import digest
from fairfield.games.maxima import MaximaExtension
from fairfield.games.products import ProductsExtension
from fairfield.multilinear import Extension, FloatArray, Update


class FLIDGame(Game):
    """The gains of a coalition's members, less what they repeat of each other.

        F(S) = Σ_{i∈S} u_i + Σ_d (max_{i∈S} W_id - Σ_{i∈S} W_id)

    ``gains`` u (n,) and ``weights`` W (n, D) may have any sign; the maximum over no
    player is 0. A gradient costs O(n · D) after one sort, Shapley values O(n · D).

    Source: Tschiatschek, Djolonga, Krause, Learning probabilistic submodular diversity
    models via noise contrastive estimation, AISTATS 2016.

    >>> game = FLIDGame([1, 1], weights=[[1], [1]])
    >>> game.worths(np.array([[True, False], [True, True]])).tolist()
    [1.0, 1.0]
    >>> game.extension().gradient([0.5, 0.25]).tolist()
    [0.75, 0.5]
    """

    def __init__(
        self, gains: ArrayLike, weights: ArrayLike, *, players: Players | None = None
    ) -> None:
        self.gains = numbers(on_host(gains), "gains")
        self.weights = numbers_anywhere(weights, "weights", axes=2)
        if len(self.gains) != self.weights.shape[0]:
            raise ValueError(
                f"{len(self.gains)} gains and weights of shape {tuple(self.weights.shape)} were "
                "given; weights need one row per player"
            )
        self.players = names(players, len(self.gains))

    def worths(self, coalitions: BoolArray) -> FloatArray:
        xp, best = array_api_compat.array_namespace(self.weights), self._extension
        inside = beside(self.weights, coalitions.astype(np.int8))
        firsts = (
            xp.argmax(xp.take(inside, best.order[d, :], axis=1), axis=1)
            for d in range(best.sizes.shape[0])
        )
        largest = sum(xp.take(best.sizes[d, :], first) for d, first in enumerate(firsts))
        some = coalitions.any(axis=1)
        return np.asarray(coalitions @ best.linear + np.where(some, on_host(largest), 0.0))

    def extension(self) -> Extension:
        return self._extension

    @cached_property
    def _extension(self) -> MaximaExtension:
        repeated = array_api_compat.array_namespace(self.weights).sum(self.weights, axis=1)
        return MaximaExtension(self.gains - on_host(repeated), self.weights)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "numbers": digest(self.gains, on_host(self.weights))}


class FacilityLocationGame(FLIDGame):
    """What the best member of a coalition offers to each customer, summed over customers.

        F(S) = Σ_d max_{i∈S} W_id

    with ``weights`` W (n, D); the maximum over no player is 0.

    >>> FacilityLocationGame([[3, 0], [1, 2]]).extension().shapley().tolist()
    [2.5, 2.5]
    """

    def __init__(self, weights: ArrayLike, *, players: Players | None = None) -> None:
        offers = numbers_anywhere(weights, "weights", axes=2)
        super().__init__(on_host(offers).sum(axis=1), offers, players=players)


class PairwiseGame(Game):
    """What members bring alone, and what each two of them bring together.

        F(S) = Σ_{i∈S} a_i + Σ_{i<j∈S} J_ij = aᵀz + ½ zᵀJz

    ``quadratic`` J is symmetric with a zero diagonal, dense or a SciPy sparse matrix. An
    Ising model is such a game. A gradient a + Jx costs one matrix-vector product.

    >>> PairwiseGame([1, 2], [[0, 3], [3, 0]]).extension().shapley().tolist()
    [2.5, 3.5]
    """

    def __init__(
        self, linear: ArrayLike, quadratic: Any, *, players: Players | None = None
    ) -> None:
        self.linear = numbers(on_host(linear), "linear")
        self.quadratic = _square(quadratic, "quadratic")
        if len(self.linear) != self.quadratic.shape[0]:
            raise ValueError(
                f"{len(self.linear)} linear terms and quadratic terms of shape "
                f"{self.quadratic.shape} were given; they must be of the same players"
            )
        odd = _largest(self.quadratic - self.quadratic.T)
        if odd > 1e-12 * _largest(self.quadratic):
            raise ValueError(
                f"quadratic[i, j] and quadratic[j, i] differ by up to {odd:.3g}; it must be "
                "symmetric; pass (J + J.T) / 2 if half of both is meant"
            )
        if _diagonal(self.quadratic).any():
            raise ValueError(
                "quadratic has entries on its diagonal; they must be 0; what a player brings "
                "alone belongs in linear"
            )
        self.players = names(players, len(self.linear))

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.extension().value(coalitions)

    def extension(self) -> Extension:
        return PairwiseExtension(self.linear, self.quadratic)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "numbers": digest(self.linear, *_parts(self.quadratic))}


class CutGame(PairwiseGame):
    """The weight of the arcs from a coalition's members to the others.

        F(S) = Σ_{i∈S, j∉S} W_ij

    with ``weights`` W (n, n), dense or a SciPy sparse matrix; loops W_ii are never cut.

    >>> CutGame([[0, 2], [1, 0]]).worths(np.array([[True, False], [True, True]])).tolist()
    [2.0, 0.0]
    """

    def __init__(self, weights: Any, *, players: Players | None = None) -> None:
        arcs = _square(weights, "weights")
        loops = _diagonal(arcs)
        if _is_sparse(arcs):
            from scipy.sparse import diags_array

            arcs = arcs - diags_array(loops, format="csr")
        else:
            arcs = arcs - beside(arcs, np.diag(loops))
        gains = arcs @ (
            np.ones(len(loops)) if _is_sparse(arcs) else beside(arcs, np.ones(len(loops)))
        )
        super().__init__(gains, -(arcs + arcs.T), players=players)


class PairwiseExtension(Extension):
    """aᵀx + ½ xᵀJx: the gradient is a + Jx, the Hessian J."""

    method = "closed form: pairwise"
    degree = 2

    def __init__(self, linear: FloatArray, quadratic: Any) -> None:
        self.linear, self.quadratic = linear, quadratic
        self.players = len(linear)

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        at, lead = flat_points(x, self.players)
        pull = self._times(at, self.quadratic)
        value = np.vecdot(at, self.linear + pull / 2)
        return value.reshape(lead), (self.linear + pull).reshape(*lead, self.players)

    def hessian(self, x: ArrayLike) -> FloatArray:
        _, lead = flat_points(x, self.players)
        dense = self.quadratic.toarray() if _is_sparse(self.quadratic) else on_host(self.quadratic)
        return np.broadcast_to(dense, (*lead, *dense.shape)).copy()

    def sweep(self, x: FloatArray, update: Update) -> FloatArray:
        x = x.copy()
        for i in range(self.players):
            row = self.quadratic[i : i + 1, :].T
            x[..., i] = update(i, self.linear[i] + self._times(x, row)[..., 0])
        return x

    @staticmethod
    def _times(points: FloatArray, matrix: Any) -> FloatArray:
        """The product where the matrix is: a sparse one has no device."""
        if _is_sparse(matrix):
            return np.asarray(points @ matrix)
        return np.asarray(on_host(beside(matrix, points) @ matrix))


class CoverageGame(Game):
    """The importance of what a coalition's members cover.

        F(S) = Σ_e μ_e (1 - Π_{i∈S} (1 - A_ei))

    ``cover`` A (elements, n), dense or a SciPy sparse matrix, holds the chance that player
    i covers element e, in [0, 1]; ``importance`` μ (elements,). A gradient costs
    O(non-zero entries of A).

    >>> game = CoverageGame([[1, 1], [0, 1]], importance=[2, 3])
    >>> game.extension().gradient([0.5, 0.5]).tolist()
    [1.0, 4.0]
    """

    def __init__(
        self, cover: Any, importance: ArrayLike, *, players: Players | None = None
    ) -> None:
        from scipy.sparse import csr_array

        self.cover = csr_array(cover if _is_sparse(cover) else numbers(cover, "cover", axes=2))
        self.cover.sum_duplicates()
        self.cover.eliminate_zeros()
        self.importance = numbers(importance, "importance")
        if not ((self.cover.data >= 0) & (self.cover.data <= 1)).all():
            raise ValueError(
                "cover has entries outside [0, 1]; each is the chance to cover an element"
            )
        if self.cover.shape[0] != len(self.importance):
            raise ValueError(
                f"cover of shape {self.cover.shape} and {len(self.importance)} importances were "
                "given; cover needs one row per element"
            )
        self.players = names(players, self.cover.shape[1])

    def worths(self, coalitions: BoolArray) -> FloatArray:
        # log 0 has no product with an absent player's 0: sure covers are counted apart.
        sure, logs = self.cover.copy(), self.cover.copy()
        sure.data = (sure.data == 1).astype(float)
        logs.data = np.log1p(-np.where(logs.data == 1, 0.0, logs.data))
        inside = coalitions.T.astype(float)
        covered = np.where(sure @ inside > 0, 1.0, -np.expm1(logs @ inside))
        return np.asarray(self.importance @ covered)

    def extension(self) -> Extension:
        return self._extension

    @cached_property
    def _extension(self) -> ProductsExtension:
        missed = 1 - self.cover.data
        return ProductsExtension(
            self.cover,
            np.ones_like(missed),
            missed,
            -self.importance,
            constant=float(self.importance.sum()),
            method="closed form: coverage",
        )

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "numbers": digest(self.importance, *_parts(self.cover))}


def _square(given: Any, what: str) -> Any:
    """A square matrix of finite numbers, dense or in CSR form."""
    if _is_sparse(given):
        from scipy.sparse import csr_array

        matrix: Any = csr_array(given, dtype=float)
        numbers(matrix.data if matrix.nnz else [0.0], f"{what}.data")
    else:
        matrix = numbers_anywhere(given, what, axes=2)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{what} of shape {tuple(matrix.shape)} were given; they must be a square matrix"
        )
    return matrix


def _largest(matrix: Any) -> float:
    if _is_sparse(matrix):
        return float(abs(matrix).max())
    xp = array_api_compat.array_namespace(matrix)
    return float(xp.max(xp.abs(matrix)))


def _diagonal(matrix: Any) -> FloatArray:
    if _is_sparse(matrix):
        return np.asarray(matrix.diagonal())
    return np.asarray(on_host(array_api_compat.array_namespace(matrix).linalg.diagonal(matrix)))


def _is_sparse(given: Any) -> bool:
    return hasattr(given, "tocsr")


def _parts(matrix: Any) -> tuple[Any, ...]:
    """The arrays that make up a dense or a CSR matrix."""
    if _is_sparse(matrix):
        return matrix.data, matrix.indices, matrix.indptr
    return (on_host(matrix),)
