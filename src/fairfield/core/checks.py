"""Arguments, checked once where they are given: numbers, arrays, names of players, points."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray, check_double, on_host
from fairfield.core.game import Player, Players, name_players


def whole(name: str, given: Any, least: int | None = 1) -> int:
    """A whole number of at least ``least``, where that is not None.

    >>> whole("budget", 1e3)
    1000
    >>> whole("k", 0)
    Traceback (most recent call last):
    ValueError: k=0 was given; it must be a whole number, 1 or more
    """
    # 1e3 is a float, and as good a budget as 1000. Python counts True as 1; here it is a mistake.
    is_whole = isinstance(given, Integral) and not isinstance(given, bool)
    if isinstance(given, float | np.floating):
        is_whole = float(given).is_integer()
    if not is_whole or (least is not None and given < least):
        bound = "" if least is None else f", {least} or more"
        raise ValueError(f"{name}={given!r} was given; it must be a whole number{bound}")
    return int(given)


def meant(given: Any, known: Iterable[str]) -> str:
    """The known name that is nearest to an unknown one, as a question; nothing if none is near.

    >>> meant("buget", ["budget", "seed"]), meant("karma", ["budget", "seed"])
    (' (did you mean budget?)', '')
    """
    near = get_close_matches(str(given), list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def numbers(given: ArrayLike, what: str, axes: int = 1) -> FloatArray:
    """An array of finite numbers with so many axes.

    >>> numbers([1, float("nan")], "weights")
    Traceback (most recent call last):
    ValueError: weights[1] is nan; every one must be a finite number
    """
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as reason:
        raise ValueError(f"{what} must be an array of numbers: {reason}") from None
    if array.ndim != axes or not array.size:
        raise ValueError(
            f"{what} of shape {array.shape} were given; they must have "
            f"{axes} {'axis' if axes == 1 else 'axes'} and at least one entry"
        )
    if not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        spelled = ", ".join(map(str, place))
        raise ValueError(f"{what}[{spelled}] is {array[place]}; every one must be a finite number")
    return array


def numbers_anywhere(given: Any, what: str, axes: int = 1) -> Any:
    """As :func:`numbers`, but an array of another library stays where it is."""
    if isinstance(given, np.ndarray) or not array_api_compat.is_array_api_obj(given):
        return numbers(given, what, axes)
    xp = array_api_compat.array_namespace(given)
    check_double(given)
    if given.ndim != axes or not bool(xp.all(xp.isfinite(given))):
        numbers(on_host(given), what, axes)  # raises the error that any other array would
    return xp.astype(given, xp.float64)


def nonnegative(given: ArrayLike, what: str, axes: int = 1) -> FloatArray:
    """An array of finite numbers, none below 0."""
    array = numbers(given, what, axes)
    if (array < 0).any():
        raise ValueError(f"{what} hold {array.min()}; none may be negative")
    return array


def number(given: float, what: str) -> float:
    """One finite number.

    >>> number("a", "the quota")
    Traceback (most recent call last):
    ValueError: the quota is 'a'; it must be a finite number
    """
    try:
        # A text that reads like a number is a mistake.
        found = np.asarray(np.nan if isinstance(given, str | bytes) else given, dtype=float)
    except (TypeError, ValueError):
        found = np.asarray(np.nan)
    if found.ndim or not np.isfinite(found):
        raise ValueError(f"{what} is {given!r}; it must be a finite number")
    return float(found)


def listed(given: Any) -> list[Any]:
    """One name alone, or several, as a list.

    >>> listed("age"), listed(0), listed(("age", "sex"))
    (['age'], [0], ['age', 'sex'])
    """
    alone = isinstance(given, str) or not isinstance(given, Iterable)
    return [given] if alone else list(given)


def names(players: Players | None, count: int) -> tuple[Player, ...]:
    """The names given to ``count`` players, 0 … n-1 where none are."""
    named = name_players(count if players is None else players)
    if len(named) != count:
        raise ValueError(f"{len(named)} players were named for a game of {count}; name them all")
    return named


def flat_points(x: ArrayLike, players: int) -> tuple[FloatArray, tuple[int, ...]]:
    """Points (..., n) as rows (k, n), and the leading axes that answers must have."""
    at = np.asarray(x, dtype=float)
    if at.shape[-1:] != (players,):
        raise ValueError(
            f"a point of shape {at.shape} was given for {players} players; "
            "its last axis must hold one probability per player"
        )
    return at.reshape(-1, players), at.shape[:-1]


def points_of_games(
    x: ArrayLike, players: int, batch: tuple[int, ...]
) -> tuple[FloatArray, tuple[int, ...]]:
    """Points (..., *batch, n) as (k, games, n), one point serving all games, and the axes before."""
    flat, lead = flat_points(x, players)
    count = int(np.prod(batch, dtype=int))
    if not lead:
        return np.tile(flat, (1, count, 1)), ()
    own = len(lead) - len(batch)
    if own < 0 or lead[own:] != batch:
        raise ValueError(
            f"points of shape {np.shape(x)} do not match a batch of {batch} games; give one point, or "
            f"an array shaped (..., {', '.join(map(str, batch))}, n)"
        )
    return flat.reshape(-1, count, players), lead[:own]
