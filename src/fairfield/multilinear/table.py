"""The exact multilinear extension of a table of 2^n worths.

The table is a matrix M (high players × low players). One pass over it gives the two
products w_hᵀ M and M w_l, two tables of about 2^(n/2) entries, which are folded on the
host. So every reading below costs one pass, O(2^n), for all players together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import BoolArray, FloatArray, on_host
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.core.extension import Extension, Update
from fairfield.core.special import log_sum_exp
from fairfield.evaluation.by_row import Coefficients, RowScores
from fairfield.games.given.table import TableGame
from fairfield.multilinear import folding, probes
from fairfield.multilinear import size_weights as by_size
from fairfield.multilinear.row_errors import gradient_coefficients
from fairfield.multilinear.worth_matrix import ON_DEVICE, Lift, WorthMatrix, namespace_of

# From so many players on ∇²f at one point takes less time than sums by size do.
ONE_POINT = 16


@dataclass(frozen=True)
class TableExtension(Extension):
    """f, ∇f, ∇²f of a batch of tables, exactly.

    ``lowest`` and ``highest`` are the extreme worths per game.
    """

    matrix: WorthMatrix
    lowest: FloatArray
    highest: FloatArray
    batch: tuple[int, ...] = ()
    # The variances of worths that are estimates, as a table of their own.
    noise: TableExtension | None = None
    # What single test rows say of the worths, where these are means over them.
    by_row: RowScores | None = None
    quick_sweep = True

    @classmethod
    def of(cls, game: TableGame) -> TableExtension:
        """The extension of a table game."""
        count = len(game.players)
        # Half and half; but matrix-vector products are slow on rows of 64 to 256 entries.
        low = max(1, count // 2 if count >= 18 else min(5, count // 2))
        if count - low == 16:
            # cuBLAS is half as fast on matrices of 2^16 rows.
            low -= 1
        xp, shape = namespace_of(game.worth_table), (-1, 2 ** (count - low), 2**low)
        matrix = WorthMatrix(xp.reshape(game.worth_table, shape))
        # An offset many times the range costs digits in every sum: take it out on the way.
        lowest, highest = game.lowest.reshape(-1), game.highest.reshape(-1)
        middle = lowest / 2 + highest / 2
        far = np.abs(middle) > 16 * (highest / 2 - lowest / 2)
        if far.any():
            matrix = matrix.shifted(np.where(far, middle, 0.0))
        noise = None
        if game.variances is not None:
            noise = cls.of(TableGame(game.variances))
            # Their sums are not differences: nothing may be subtracted on the way.
            noise = replace(noise, matrix=noise.matrix.shifted(None))
        return cls(matrix, lowest, highest, game.batch, noise, game.by_row)

    @property
    def method(self) -> str:  # type: ignore[override]  # derived here, a field elsewhere
        found = "exact table" if self.noise is None else "table of estimated worths"
        return found if self.by_row is None else f"{found}, ± over {self.by_row.rows:,} test rows"

    @property
    def low(self) -> int:
        """The number of low players."""
        return self.matrix.low

    @cached_property
    def players(self) -> int:  # type: ignore[override]  # derived here, a field elsewhere
        return self.matrix.low + self.matrix.high

    @property
    def degree(self) -> int:  # type: ignore[override]  # derived here, a field elsewhere
        return self.players

    @property
    def together(self) -> int:  # type: ignore[override]  # derived here, a field elsewhere
        # 8 MB stay in cache between steps.
        return max(1, (2**20 if self.matrix.in_numpy else ON_DEVICE) >> self.players)

    @property
    def offset(self) -> FloatArray:
        shift = self.matrix.shift
        return (np.zeros(len(self.lowest)) if shift is None else shift).reshape(self.batch)

    @property
    def rounding(self) -> float:
        """The rounding error of a difference of four worths, as they are stored."""
        size = np.maximum(np.abs(self.lowest), np.abs(self.highest)).max()
        return 8 * float(np.finfo(self.matrix.dtype).eps * size)

    def rows(self, chosen: slice | NDArray[np.int64]) -> TableExtension:
        lowest, highest = self.lowest[chosen], self.highest[chosen]
        return replace(
            self,
            matrix=self.matrix.games(chosen),
            lowest=lowest,
            highest=highest,
            batch=(len(lowest),),
            noise=None if self.noise is None else self.noise.rows(chosen),
            by_row=None,
        )

    def lifted(self, shift: ArrayLike, rate: ArrayLike, lift: Lift) -> TableExtension:
        """The extension of lift(rate · (F - shift)), one shift and rate per game."""
        shifts, rates = (np.broadcast_to(each, self.batch).reshape(-1) for each in (shift, rate))
        return replace(
            self, matrix=self.matrix.lifted(shifts, rates, lift), noise=None, by_row=None
        )

    # ------------------------------------------------------------------ readings

    def value(self, x: ArrayLike) -> FloatArray:
        return self.derivative((), x)

    def gradient(self, x: ArrayLike) -> FloatArray:
        return self.centred(x)[1]

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        points, lead = self._points(x)
        value, slopes = self.probed(folding.probabilities(points), folding.DERIVATIVE)
        return self.shaped(value, lead), self.shaped(slopes, lead)

    def ends(self) -> tuple[FloatArray, FloatArray]:
        entries = self.matrix.entries
        empty, grand = (on_host(entries[:, at, at]).reshape(self.batch) for at in (0, -1))
        return empty, grand

    def hessian(self, x: ArrayLike) -> FloatArray:
        points, lead = self._points(x)
        return self.shaped(self.pairs(folding.probabilities(points), folding.DERIVATIVE), lead)

    def gradient_covariance(self, x: ArrayLike) -> FloatArray | None:
        """Σ_S V(S) c_i(S) c_j(S), with c_i(S) the weight of F(S) in ∂_i f(x).

        Where worths are means over test rows, their covariance over these is added.
        """
        points, lead = self._points(x)
        single = points.shape[1] == 1
        over_rows = self.over_rows(gradient_coefficients(points[:, 0])) if single else None
        if self.noise is None:
            return over_rows
        weights = folding.probabilities(points)
        joint = self.noise.pairs(weights**2, weights * folding.DERIVATIVE)
        own = np.arange(self.players)
        joint[..., own, own] = self.noise.faces(weights**2).sum(axis=-1)
        found = self.shaped(joint, lead)
        return found if over_rows is None else found + over_rows

    def over_rows(self, coefficients: Coefficients) -> FloatArray | None:
        """The covariance of Σ_S c_i(S) F(S) over the test rows of worths that are means over them."""
        if self.by_row is None:
            return None
        found = self.by_row.covariance(coefficients, self.players)
        return found.reshape((*self.batch, self.players, self.players))

    def derivative(self, coalition: Sequence[int], x: ArrayLike) -> FloatArray:
        points, lead = self._points(x)
        factors = folding.probabilities(points)
        factors[..., list(coalition), :] = folding.DERIVATIVE
        derivative = self.shaped(self.total(factors), lead)
        return derivative if len(coalition) or self.matrix.lift else derivative + self.offset

    def sweep(self, x: FloatArray, update: Update) -> FloatArray:
        points, lead = self._points(np.broadcast_to(x, (*self.batch, self.players)))

        def per_game(player: int, slope: FloatArray) -> FloatArray:
            return update(player, slope.reshape(self.batch)).reshape(slope.shape)

        points = points.copy()
        below, above = points[..., : self.low], points[..., self.low :]
        of_low, _ = self.matrix.fold(folding.Factors(folding.probabilities(above)).product, None)
        folding.sweep(of_low, below, per_game, first=0)
        _, of_high = self.matrix.fold(None, folding.Factors(folding.probabilities(below)).product)
        folding.sweep(of_high, above, per_game, first=self.low)
        return self.shaped(points, lead)

    def total(self, factors: FloatArray) -> FloatArray:
        """The table folded by the factors of all players: (games, k)."""
        halves = folding.Halves(factors, self.low)
        _, of_high = self.matrix.fold(None, halves.low)
        return np.asarray(np.vecdot(of_high, halves.high))

    def faces(self, factors: FloatArray) -> FloatArray:
        """The table folded by the factors of all players but one: (games, k, n, 2)."""
        halves = folding.Halves(factors, self.low)
        return halves.faces(*self.matrix.fold(halves.high, halves.low))

    def probed(self, factors: FloatArray, probe: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The total, (games, k), and with ``probe`` in place of each player in turn, (games, k, n).

        The probe is (out, in), one for all players or one for each.
        """
        if self.matrix.read_once:
            found = probes.probed(self.matrix, factors, probe)
            return found[..., 0], found[..., 1:]
        sides = self.faces(factors)
        total = np.vecdot(sides[..., 0, :], factors[..., 0, :])
        return np.asarray(total), np.asarray(np.vecdot(sides, probe))

    def pairs(self, factors: FloatArray, probe: FloatArray) -> FloatArray:
        """The table folded with ``probe`` in place of two players: (games, k, n, n)."""
        probe, halves = np.broadcast_to(probe, factors.shape), folding.Halves(factors, self.low)
        if self.matrix.read_once:
            return halves.pairs(*probes.pairs(self.matrix, factors, probe), probe)
        columns = folding.probed(halves.below, probe[..., : self.low, :])
        games, k, each, width = columns.shape
        of_low, of_high = self.matrix.fold(halves.high, columns.reshape(games, k * each, width))
        of_high = of_high.reshape(of_high.shape[0], k, each, -1)
        across = halves.across(of_high[..., 1:, :], probe)
        return halves.pairs(of_low, of_high[..., 0, :], across, probe)

    def derivatives_along_diagonal(
        self, at: FloatArray, shares: FloatArray, size: int
    ) -> FloatArray:
        if size <= 2 and len(at) == 1 and self.players >= ONE_POINT:
            return super().derivatives_along_diagonal(at, shares, size)
        weights = by_size.diagonal_weights(self.players, at, shares, size)
        return by_size.interactions(self, weights, size)

    def shapley(self) -> FloatArray:
        return by_size.semivalue(self, by_size.shapley_weights(self.players))

    def shapley_covariance(self) -> FloatArray | None:
        return by_size.semivalue_covariance(self, by_size.shapley_weights(self.players))

    def log_sums(self, rate: FloatArray, bias: FloatArray | None = None) -> FloatArray:
        """log Σ exp(rate · (F - shift) + bias · z) over the coalitions without and with player i.

        Shaped (*batch, n, 2); nothing underflows however large the rate.
        """
        speed = np.broadcast_to(rate, self.batch).reshape(-1)
        bias = np.zeros(self.players) if bias is None else bias
        tables = self.matrix.log_sums(speed, bias)
        halves = [
            np.stack([log_sum_exp(table[:, ~inside]), log_sum_exp(table[:, inside])], axis=-1)
            for table, count in zip(tables, (self.low, self.matrix.high), strict=True)
            for inside in enumerate_coalitions(count).T
        ]
        return self.shaped(np.stack(halves, axis=1)[:, None], self.batch)

    def highest_among(self, may_join: BoolArray, may_stay: BoolArray) -> FloatArray:
        """The largest worth of coalitions that respect who may join and who may stay out."""

        def allowed(some: slice) -> BoolArray:
            z = enumerate_coalitions(len(may_join[some]))
            return np.asarray((np.where(z, may_join[some], may_stay[some])).all(axis=1))

        columns, rows = allowed(slice(0, self.low)), allowed(slice(self.low, None))
        return self.matrix.highest_among(rows, columns).reshape(self.batch)

    def second_differences(self) -> tuple[FloatArray, FloatArray]:
        """The least and the largest Δ_ij F(S) over all S ∌ i, j: two (*batch, n, n) arrays.

        One pass of a quarter of the table per pair, O(n² 2^n).
        """
        found = np.zeros((2, len(self.lowest), self.players, self.players))
        for i, j in combinations(range(self.players), 2):
            found[:, :, i, j] = found[:, :, j, i] = self.matrix.second_differences(i, j)
        least, largest = found.reshape(2, *self.batch, self.players, self.players)
        return least, largest

    # ------------------------------------------------------------------ shapes

    def _points(self, x: ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
        """Points as (1 or games, k, n), and the leading axes of the answer."""
        points = np.asarray(x, dtype=float)
        lead, depth = points.shape[:-1], len(self.batch)
        if points.shape[-1:] != (self.players,):
            raise ValueError(
                f"a point of shape {points.shape} was given for {self.players} players; "
                "its last axis must hold one probability per player"
            )
        if not self.batch or not lead:
            return points.reshape(1, -1, self.players), lead or self.batch
        if lead[-depth:] != self.batch:
            raise ValueError(
                f"points of shape {points.shape} do not match a batch of {self.batch} games; "
                f"give one point, or an array shaped (..., {', '.join(map(str, self.batch))}, n)"
            )
        return points.reshape(-1, len(self.lowest), self.players).swapaxes(0, 1), lead

    def shaped(self, answer: FloatArray, lead: tuple[int, ...]) -> FloatArray:
        """An answer (games, k, ...) with the leading axes that were asked for."""
        tail = answer.shape[2:]
        return np.asarray(answer.swapaxes(0, 1)).reshape(lead + tail)
