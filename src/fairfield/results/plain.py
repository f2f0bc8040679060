"""Names and cells as JSON that keeps what they are: tuples, dates, sets, bytes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from math import isfinite
from typing import Any

_DATES: dict[str, Any] = {
    "datetime": datetime.datetime,  # before date, which it is too
    "date": datetime.date,
    "time": datetime.time,
}
_READ: dict[str, Callable[[str], Any]] = {
    **{kind: own.fromisoformat for kind, own in _DATES.items()},
    "bytes": bytes.fromhex,
    "float": float,
}


def encoded(given: Any) -> Any:
    """A name as JSON: text, numbers and None as they are, else a dict of its kind; at last its text.

    >>> encoded(("a", datetime.date(2024, 2, 29)))
    {'tuple': ['a', {'date': '2024-02-29'}]}
    """
    given = given.item() if hasattr(given, "item") and hasattr(given, "dtype") else given
    if type(given) is float and not isfinite(given):
        return {"float": str(given)}  # JSON has no such numbers
    if given is None or type(given) in (bool, int, float, str):
        return given
    for kind, own in _DATES.items():
        if isinstance(given, own) and given == given:  # not NaT
            return {kind: given.isoformat()}
    if isinstance(given, tuple | frozenset | list):
        kind = next(k.__name__ for k in (tuple, frozenset, list) if isinstance(given, k))
        return {kind: [encoded(each) for each in given]}
    return {"bytes": given.hex()} if isinstance(given, bytes) else str(given)


def decoded(held: Any) -> Any:
    """The name that :func:`encoded` was given; anything else is a ValueError.

    >>> decoded({"tuple": ["a", {"date": "2024-02-29"}]})
    ('a', datetime.date(2024, 2, 29))
    """
    if held is None or isinstance(held, bool | int | float | str):
        return held
    if not isinstance(held, dict) or len(held) != 1:
        raise ValueError(f"{held!r} is no name")
    ((kind, inside),) = held.items()
    if kind in ("tuple", "frozenset", "list") and isinstance(inside, list):
        make = {"tuple": tuple, "frozenset": frozenset, "list": list}[kind]
        return make([decoded(each) for each in inside])
    if isinstance(inside, str) and kind in _READ:
        return _READ[kind](inside)
    raise ValueError(f"{held!r} is no name")


def nested(change: Callable[[Any], Any], held: Any) -> Any:
    """Lists of lists with every entry changed.

    >>> nested(encoded, [[1.0], [float("inf")]])
    [[1.0], [{'float': 'inf'}]]
    """
    return [nested(change, each) for each in held] if isinstance(held, list) else change(held)
