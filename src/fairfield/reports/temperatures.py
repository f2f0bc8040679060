"""The stops of the temperature slider: an annealing path with the report's own temperature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairfield.criteria.annealing import Annealing
from fairfield.reports.layout import Layout
from fairfield.results.comparison import Comparison
from fairfield.results.valuation import Valuation

# Temperatures whose relative difference is smaller are one stop.
SAME = 1e-6
# Digits of numbers that are only drawn.
DIGITS = 7


def path_of(
    comparison: Comparison, annealing: Annealing | None, layout: Layout
) -> dict[str, Any] | None:
    """Stops from cold to hot, and which of them is the comparison's own.

    A stop holds, by criterion, what differs from the comparison: values (left out where the
    temperature does not matter to them), standard errors, marginals, decoupling error.
    """
    if annealing is None:
        return None
    own = next((v.temperature for v in comparison.values() if v.temperature is not None), None)
    rungs: list[tuple[Any, Mapping[str, Valuation]]] = [
        (temperature, found)
        for temperature, found in zip(annealing.temperatures, annealing.comparisons, strict=True)
        if own is None or not np.allclose(temperature, own, rtol=SAME, atol=0)
    ]
    if own is not None:
        rungs.append((own, {}))  # nothing differs from the comparison
    rungs.sort(key=lambda rung: float(np.mean(rung[0])))
    stops = [
        {
            "temperature": layout.per_game(temperature),
            "criteria": {
                name: _changed(found[name], v, layout)
                for name, v in comparison.items()
                if name in found
            },
        }
        for temperature, found in rungs
    ]
    return {
        "stops": stops,
        "own": next((k for k, (_, found) in enumerate(rungs) if not found), None),
    }


def _changed(v: Valuation, base: Valuation, layout: Layout) -> dict[str, Any]:
    scale = float(np.abs(base.values).max())
    moved = not np.allclose(v.values, base.values, rtol=0, atol=1e-9 * scale)
    return {
        "values": layout.per_player(v.values, digits=DIGITS) if moved else None,
        "stderr": layout.per_player(v.stderr, digits=DIGITS) if moved else None,
        "marginals": layout.per_player(v.marginals, digits=DIGITS),
        "decoupling_error": layout.per_game(v.decoupling_error),
    }
