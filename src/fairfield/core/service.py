"""Worths behind a service: what one answer says, and how the service may be called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray


@dataclass(frozen=True)
class Worth:
    """The worth of a coalition as a service answered it, with what the answer cost.

    - ``cost``: in the currency of ``spend`` and ``price``; None where it is not known.
    - ``tokens``: how many of the tokens that ``per_minute`` limits it took; None stands for 0.
    - ``record``: plain data (what JSON can hold) to keep in the store, as the text of the
      answer, for ``rescore``.

    >>> Worth(0.5, cost=0.002, record={"answer": "42"}).value
    0.5
    """

    value: float
    cost: float | None = None
    tokens: int = 0
    record: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        # Plain numbers, whatever a client reports: a store takes no others.
        for name, kind in (("cost", float), ("tokens", int)):
            given = getattr(self, name)
            if given is None:
                continue
            if isinstance(given, str | bytes) or not 0 <= given < inf:
                raise ValueError(f"Worth({name}={given!r}) was given; it must be 0 or more")
            object.__setattr__(self, name, kind(given))
        object.__setattr__(self, "tokens", self.tokens or 0)


@dataclass(frozen=True)
class Usage:
    """What calls of a service took: answers, attempts that were repeated, calls that failed.

    ``note`` is a sentence on a worth that was not asked for.
    """

    calls: int = 0
    retries: int = 0
    failures: int = 0
    cost: float = 0.0
    tokens: int = 0
    note: str = ""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.retries + other.retries,
            self.failures + other.failures,
            self.cost + other.cost,
            self.tokens + other.tokens,
            "; ".join(dict.fromkeys(each for each in (self.note, other.note) if each)),
        )

    def facts(self) -> dict[str, float]:
        """The numbers by name; none where no service was called."""
        return {} if self == NO_USAGE else self.numbers()

    def numbers(self) -> dict[str, float]:
        """The numbers by name."""
        facts = asdict(replace(self, cost=rounded(self.cost)))
        return {name: held for name, held in facts.items() if name != "note"}

    def sentences(self) -> list[str]:
        """What to say of the calls where a valuation says why it stopped."""
        return [] if self == NO_USAGE else [str(self), *([self.note] if self.note else [])]

    def __str__(self) -> str:
        """What was used, in words.

        >>> print(Usage(calls=1200, retries=24, cost=1.5))
        1,200 calls, 24 retries, cost 1.5
        """
        facts = {"retry": self.retries, "failure": self.failures, "token": self.tokens}
        counts = [_counted(count, name) for name, count in facts.items() if count]
        cost = [f"cost {self.cost:.6g}"] if self.cost else []
        return ", ".join([_counted(self.calls, "call"), *counts, *cost])


def _counted(count: int, name: str) -> str:
    several = "retries" if name == "retry" else f"{name}s"
    return f"{count:,} {name if count == 1 else several}"


NO_USAGE = Usage()


def rounded(cost: float) -> float:
    """A sum of prices without what binary fractions leave beyond the twelfth digit."""
    return float(f"{cost:.12g}")


def finite(given: Any) -> float:
    """The number that a worth function returned; text that reads like one is a mistake."""
    try:
        value = nan if isinstance(given, str | bytes) else float(given)
    except (TypeError, ValueError):
        value = nan
    if isfinite(value):
        return value
    if isinstance(given, float | np.floating):
        raise ValueError(f"its worth is {value}; every worth must be a finite number")
    seen = f"the text {str(given)!r}" if isinstance(given, str) else type(given).__name__
    raise TypeError(f"a worth must be a number or ff.Worth, {seen} was returned")


@dataclass(frozen=True, eq=False)
class Service:
    """How the worths of a game are asked for, one coalition a call.

    ``worth`` takes the names of the members, after those in ``always``, and may be async. It is
    called ``repeats`` times for each coalition, at most ``concurrency`` calls at a time, and so
    many requests and tokens a minute. ``passing(error)`` says whether to try again after an error.
    With ``auto`` further answers are asked for where they help most. A worth of ∅ that is ``empty``
    is not asked for.

    ``answers`` are known before the first call, by packed coalition, and took this ``usage``. Where
    ``worth`` is None they are all there are: ``wanted(coalitions, counts)`` hears of those that are
    missing, and may say why no more will come. ``leading`` are the worths by which coalitions were
    chosen, where answers were valued otherwise since.
    """

    worth: Callable[[tuple[Any, ...]], Any] | None
    passing: Callable[[BaseException], bool]
    concurrency: int = 8
    requests: float | None = None
    tokens: float | None = None
    timeout: float | None = None
    retries: int = 4
    price: float | None = None
    always: tuple[Any, ...] = ()
    repeats: int = 1
    auto: bool = False
    empty: float | None = None
    answers: Mapping[bytes, list[float]] = field(default_factory=dict)
    leading: Mapping[bytes, float] = field(default_factory=dict)
    usage: Usage = NO_USAGE
    wanted: Callable[[BoolArray, list[int]], str | None] | None = None

    @property
    def known_empty(self) -> bool:
        """Whether the worth of ∅ was given, and is not asked for."""
        return self.empty is not None and not self.always
