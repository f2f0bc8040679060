"""How many samples the paper's Monte Carlo estimate needs."""

from __future__ import annotations

from math import ceil, log

from fairfield.core.checks import number, whole


def samples_needed(epsilon: float, delta: float, players: int = 1) -> int:
    """Samples per player so that all gradients are ε-close with probability 1 - δ.

    m ≥ (2/ε²) ln(2n/δ), ε relative to max_S |F(S+i) - F(S)|: Hoeffding's inequality for
    both sides (the paper's statement lacks its factor 2) and n players at once.

    >>> samples_needed(0.1, 0.05, players=20)
    1337
    """
    count = whole("players", players)
    if not (number(epsilon, "epsilon") > 0 and 0 < number(delta, "delta") < 1):
        raise ValueError(
            f"samples_needed({epsilon}, {delta}): epsilon must be above 0, delta between 0 and 1"
        )
    return ceil(2 / epsilon**2 * log(2 * count / delta))
