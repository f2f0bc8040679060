"""Criteria as streams: valuations that sharpen while evaluations come in.

A criterion is written as the generator of its valuations: one where it is exact, one after
each round where it is estimated. Called as a function it is the last of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any, ParamSpec

from fairfield.results.valuation import Valuation

Given = ParamSpec("Given")


def streamed(rounds: Callable[Given, Iterator[Valuation]]) -> Callable[Given, Valuation]:
    """The criterion whose valuations these are: a function that returns the last of them."""

    @wraps(rounds)
    def criterion(*given: Given.args, **keywords: Given.kwargs) -> Valuation:
        for valuation in rounds(*given, **keywords):
            last = valuation
        return last

    criterion.__annotations__ = {**rounds.__annotations__, "return": "Valuation"}
    criterion.rounds = rounds  # type: ignore[attr-defined]  # where rounds_of finds them
    return criterion


def rounds_of(criterion: Callable[..., Valuation]) -> Callable[..., Iterator[Valuation]]:
    """The generator behind a criterion; of any other function, its one valuation."""
    if isinstance(criterion, partial):
        return partial(rounds_of(criterion.func), *criterion.args, **criterion.keywords)
    known: Callable[..., Iterator[Valuation]] | None = getattr(criterion, "rounds", None)
    if known is not None:
        return partial(known, each_round=True)

    def once(*given: Any, **keywords: Any) -> Iterator[Valuation]:
        yield criterion(*given, **keywords)

    return once
