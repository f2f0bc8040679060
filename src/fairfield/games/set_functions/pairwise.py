"""Games whose worth is a sum over players and pairs of players."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray, beside, is_sparse, on_host, parts_of
from fairfield.core.checks import flat_points, names, numbers, numbers_anywhere
from fairfield.core.extension import Extension, Update
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, Players


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
        odd, largest = (
            float(abs(_on_host(each)).max())
            for each in (self.quadratic - self.quadratic.T, self.quadratic)
        )
        if odd > 1e-12 * largest:
            raise ValueError(
                f"quadratic[i, j] and quadratic[j, i] differ by up to {odd:.3g}; it must be "
                "symmetric; pass (J + J.T) / 2 if half of both is meant"
            )
        if _on_host(self.quadratic).diagonal().any():
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
        return {**super().describe(), "numbers": digest(self.linear, *parts_of(self.quadratic))}


class CutGame(PairwiseGame):
    """The weight of the arcs from a coalition's members to the others.

        F(S) = Σ_{i∈S, j∉S} W_ij

    with ``weights`` W (n, n), dense or a SciPy sparse matrix; loops W_ii are never cut.

    >>> CutGame([[0, 2], [1, 0]]).worths(np.array([[True, False], [True, True]])).tolist()
    [2.0, 0.0]
    """

    def __init__(self, weights: Any, *, players: Players | None = None) -> None:
        arcs = _square(weights, "weights")
        loops = _on_host(arcs).diagonal()
        ones = np.ones(len(loops))
        if is_sparse(arcs):
            from scipy.sparse import diags_array

            arcs = arcs - diags_array(loops, format="csr")
        else:
            arcs, ones = arcs - beside(arcs, np.diag(loops)), beside(arcs, ones)
        super().__init__(arcs @ ones, -(arcs + arcs.T), players=players)


class PairwiseExtension(Extension):
    """aᵀx + ½ xᵀJx: the gradient is a + Jx, the Hessian J."""

    method = "closed form: pairwise"

    def __init__(self, linear: FloatArray, quadratic: Any) -> None:
        self.linear, self.quadratic = linear, quadratic
        self.players = len(linear)
        self.degree = 2 if parts_of(quadratic)[0].any() else 1

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        at, lead = flat_points(x, self.players)
        slopes = self._times(at, self.quadratic)
        value = np.vecdot(at, self.linear + slopes / 2)
        return value.reshape(lead), (self.linear + slopes).reshape(*lead, self.players)

    def hessian(self, x: ArrayLike) -> FloatArray:
        _, lead = flat_points(x, self.players)
        dense = self.quadratic.toarray() if is_sparse(self.quadratic) else on_host(self.quadratic)
        return np.broadcast_to(dense, (*lead, *dense.shape)).copy()

    def sweep(self, x: FloatArray, update: Update) -> FloatArray:
        x = x.copy()
        for i in range(self.players):
            row = self.quadratic[i : i + 1, :].T
            x[..., i] = update(i, self.linear[i] + self._times(x, row)[..., 0])
        return x

    @staticmethod
    def _times(points: FloatArray, matrix: Any) -> FloatArray:
        """The product, on the device of a dense matrix."""
        if is_sparse(matrix):
            return np.asarray(points @ matrix)
        return np.asarray(on_host(beside(matrix, points) @ matrix))


def _square(given: Any, what: str) -> Any:
    """A square matrix of finite numbers, dense or in CSR form."""
    if is_sparse(given):
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


def _on_host(matrix: Any) -> Any:
    return matrix if is_sparse(matrix) else on_host(matrix)
