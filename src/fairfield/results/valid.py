"""Whether the fields of a result that was read from a file fit together."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

_TEXTS = ("criterion", "method", "game")
_NUMBERS: dict[str, Any] = {"evaluations": int, "seed": int, "seconds": (int, float)}


def check_fields(held: dict[str, Any], per_game: Mapping[str, int], count: int) -> None:
    """Refuse fields of the wrong type or shape, of a result with ``count`` values a game."""
    players, values = held["players"], held["values"]
    _need(len(players) > 0 and len(set(players)) == len(players), "players")
    _need(_kind(values) == "f" and values.shape[-1:] == (count,), "values")
    batch = values.shape[:-1]
    for name in _TEXTS:
        _need(isinstance(held[name], str), name)
    _need(isinstance(held.get("stop", ""), str), "stop")
    for name, kinds in _NUMBERS.items():
        given = held.get(name)
        _need(given is None or (isinstance(given, kinds) and not isinstance(given, bool)), name)
    for name, axes in per_game.items():
        if (given := held.get(name)) is not None:
            kinds = {"stops": "U", "data": "fiubUSMmO"}.get(name, "fiu")
            _need(_kind(given) in kinds and np.shape(given) == batch + (count,) * axes, name)
    for name in ("trajectory", "prior"):
        if (given := held.get(name)) is not None:
            _need(_kind(given) == "f" and np.shape(given)[-1:] in ((count,), ()), name)
    if held.get("trajectory") is not None:
        _need(held["trajectory"].shape[1:] == values.shape, "trajectory")
    outputs, labels = held.get("outputs"), held.get("labels")
    lead = batch if outputs is None else batch[:-1]
    _need(outputs is None or batch[-1:] == (len(outputs),), "outputs")
    _need(labels is None or len(labels) == prod(lead), "labels")
    for name, kind in (("versions", str), ("usage", (int, float))):
        given = held.get(name, {})
        fits = isinstance(given, dict) and all(isinstance(each, kind) for each in given.values())
        _need(fits, name)


def _kind(given: Any) -> str:
    """The kind of an array or a number, as NumPy's letters have it; "?" of anything else."""
    if isinstance(given, np.ndarray):
        return str(given.dtype.kind)
    number = isinstance(given, int | float) and not isinstance(given, bool)
    return "f" if number else "?"


def _need(fits: bool, name: str) -> None:
    if not fits:
        raise ValueError(f"its {name} do not fit")
