"""Sums over patterns are spread over all coalitions."""

from numpy.testing import assert_allclose

from fairfield.games.features.subcubes import spread


def test_spread_is_a_sum_over_patterns(rng):
    sums = {pattern: rng.standard_normal(2 ** pattern.bit_count()) for pattern in range(0, 64, 3)}
    found = spread({p: t.copy() for p, t in sums.items()}, 6)
    for row in range(64):
        total = 0.0
        for pattern, table in sums.items():
            bits = [row >> i & 1 for i in range(6) if pattern >> i & 1]
            total += table[sum(bit << k for k, bit in enumerate(bits))]
        assert_allclose(found[row], total)
