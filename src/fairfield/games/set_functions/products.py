"""Games that are sums of products over players, F(S) = Σ_e c_e Π_i (in_ei if i ∈ S else out_ei).

In the multilinear extension each factor is (1 - x_i) out + x_i in. Gradients need the
products without one player and Hessians those without two; they are built from the
products of the factors before, between and after, never by dividing a factor out, so
factors may be 0. A gradient costs O(factors), a Hessian O(Σ_e factors of e squared).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray, IntArray, slabs
from fairfield.core.checks import flat_points
from fairfield.core.extension import Extension


@dataclass(frozen=True)
class Products:
    """Products of about as many factors, padded to the same number of them."""

    coefficients: FloatArray  # (products,)
    players: IntArray  # (products, factors): whose factor it is
    out: FloatArray  # (products, factors)
    change: FloatArray  # (products, factors): in - out; 0 where padded
    collect: Any  # sparse (products · factors, n): adds up c_e · change per player


class ProductsExtension(Extension):
    """constant + Σ_e c_e Π_{i∈e} (out_ei + (in_ei - out_ei) x_i).

    ``members`` is a sparse matrix (products, n) in CSR form whose pattern says which
    players have a factor; ``out`` and ``inside`` are those factors, in its order.
    """

    def __init__(
        self,
        members: Any,
        out: FloatArray,
        inside: FloatArray,
        coefficients: FloatArray,
        *,
        method: str,
        constant: float = 0.0,
    ) -> None:
        self.method = method
        self.constant = constant
        self.players = members.shape[1]
        counts = np.diff(members.indptr)
        self.degree = int(counts.max(initial=1))
        # Products share a block with those of up to twice as many factors, so padding at most doubles.
        kinds = np.ceil(np.log2(np.maximum(counts, 1)))
        self.blocks = tuple(
            _padded(members, out, inside, coefficients, np.flatnonzero(kinds == kind))
            for kind in np.unique(kinds)
        )

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        at, lead = flat_points(x, self.players)
        value, gradient = np.full(len(at), self.constant), np.zeros(at.shape)
        for block, some, factors in self._parts(at):
            before, after = _around(factors)
            value[some] += (before[..., -1] * factors[..., -1]) @ block.coefficients
            gradient[some] += (before * after).reshape(len(factors), -1) @ block.collect
        return value.reshape(lead), gradient.reshape(*lead, self.players)

    def hessian(self, x: ArrayLike) -> FloatArray:
        at, lead = flat_points(x, self.players)
        hessian = np.zeros((len(at), self.players**2))
        for block, some, factors in self._parts(at):
            before, after = _around(factors)
            for i in range(factors.shape[-1] - 1):
                between, _ = _around(factors[..., i + 1 :])
                own = before[..., i, None] * between * after[..., i + 1 :]
                own *= (block.coefficients * block.change[:, i])[:, None] * block.change[:, i + 1 :]
                pairs = block.players[:, i, None] * self.players + block.players[:, i + 1 :]
                for row, terms in zip(hessian[some], own, strict=True):
                    np.add.at(row, pairs.ravel(), terms.ravel())
        hessian = hessian.reshape(*lead, self.players, self.players)
        return np.asarray(hessian + hessian.swapaxes(-1, -2))

    def _parts(self, at: FloatArray) -> Iterator[tuple[Products, slice, FloatArray]]:
        """Blocks of products, some points, and the factors there."""
        for block in self.blocks:
            for some in slabs(len(at), block.out.size):
                yield block, some, block.out + block.change * at[some][:, block.players]


def _around(factors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The products of the factors before, and after, each one."""
    before, after = np.ones_like(factors), np.ones_like(factors)
    np.cumprod(factors[..., :-1], axis=-1, out=before[..., 1:])
    np.cumprod(factors[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return before, after


def _padded(
    members: Any, out: FloatArray, inside: FloatArray, coefficients: FloatArray, chosen: IntArray
) -> Products:
    """Some products as arrays; factors that pad them are 1, in and out."""
    from scipy.sparse import csr_array

    counts = np.diff(members.indptr)[chosen]
    slots = np.arange(max(1, counts.max()))
    real = slots < counts[:, None]
    place = np.where(real, members.indptr[chosen, None] + slots, -1)
    players = np.where(real, np.append(members.indices, 0)[place], 0).astype(np.int64)
    outside = np.append(out, 1.0)[place]
    change = np.append(inside - out, 0.0)[place]
    own = coefficients[chosen]
    collect = csr_array(
        ((own[:, None] * change).ravel(), players.ravel(), np.arange(players.size + 1)),
        shape=(players.size, members.shape[1]),
    )
    return Products(own, players, outside, change, collect)
