"""Games whose worths come from a service: slow, limited, failing at times, noisy, metered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import number, whole
from fairfield.core.coalitions import spell
from fairfield.core.game import Game, GameInfo, Measured, Player, Players, Traits, name_players
from fairfield.core.service import NotStoredError, Service, Worth
from fairfield.evaluation.options import Options
from fairfield.evaluation.remote.attempts import is_passing
from fairfield.evaluation.remote.calls import Calls
from fairfield.evaluation.store import read_answers_of
from fairfield.games.given.function import name_of


class RemoteGame(Game):
    """A game whose worths are answers of a service, one call a coalition.

    ``worth(names)`` takes the names of the members, a tuple, and returns a number or
    :class:`Worth`, which adds cost, tokens and a record. It may be ``async``; other functions run
    in threads. It is called in this process, whatever ``n_jobs`` says.

    - ``concurrency``: the most calls at a time.
    - ``per_minute``: the most requests a minute, or ``{"requests": 500, "tokens": 90_000}``.
    - ``timeout``: the seconds that one attempt may take.
    - ``retries``: how often a call that failed is tried again: after 0.1 s, then twice as long each
      time, and never before a ``Retry-After`` of the service allows it.
    - ``passing(error)``: whether such an error may pass, :func:`is_passing` by default; another
      one is final.
    - ``price``: the cost of a call that does not report it, for ``quote`` and ``spend``.
    - ``always``: names that come before the members in every call, as a question or an
      instruction that is no player.
    - ``repeats``: how many answers a worth is the mean of; from 2 on, their spread is measured and
      its share is in every standard error.
    - ``empty``: the worth of ∅, where asking makes no sense; the valuation says so.
    - ``name``: identifies the worths in a store, together with players and ``always``. A store is
      never asked again what it holds.

    >>> game = RemoteGame(lambda names: len(names) ** 2, ["ann", "bob"], empty=0)
    >>> game
    RemoteGame: 2 players
    """

    def __init__(
        self,
        worth: Callable[[tuple[Any, ...]], Any],
        players: Players,
        *,
        concurrency: int = 8,
        per_minute: float | Mapping[str, float] | None = None,
        timeout: float | None = None,
        retries: int = 4,
        passing: Callable[[BaseException], bool] = is_passing,
        price: float | None = None,
        always: Iterable[Player] = (),
        repeats: int = 1,
        empty: float | None = None,
        name: str | None = None,
    ) -> None:
        if not callable(worth):
            raise TypeError(f"a worth function was expected, {type(worth).__name__} was given")
        limits = per_minute if isinstance(per_minute, Mapping) else {"requests": per_minute}
        for unit, limit in limits.items():
            if unit not in ("requests", "tokens"):
                raise ValueError(f"per_minute has {unit!r}; it limits 'requests' and 'tokens'")
            _positive(f"per_minute[{unit!r}]", limit)
        self.players = name_players(players)
        if isinstance(always, str) or set(always) & set(self.players):
            raise ValueError(
                f"always={always!r} was given; it lists names that are in every coalition and are no "
                "players, as ['question']"
            )
        self.name = name or name_of(worth)
        self.service = Service(
            worth,
            passing,
            concurrency=whole("concurrency", concurrency),
            requests=limits.get("requests"),
            tokens=limits.get("tokens"),
            timeout=_positive("timeout", timeout),
            retries=whole("retries", retries, 0),
            price=_positive("price", price, least=0.0),
            always=tuple(always),
            repeats=whole("repeats", repeats),
            empty=None if empty is None else number(empty, "empty"),
        )
        # Asking again what a store holds would cost money, and differ where answers are noisy.
        self.traits = Traits(noisy=self.service.repeats > 1, opaque=False, service=self.service)
        self.info = GameInfo(advice="ask for fewer players")

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.measure(coalitions).worths

    def measure(self, coalitions: BoolArray) -> Measured:
        """The worths, their variances where there are repeats, and what the calls took."""
        return Calls(self, self.service, Options(), None).measure(coalitions)

    def describe(self) -> dict[str, Any]:
        # Not the repeats: more of them go on from the same answers.
        always = [str(each) for each in self.service.always]
        own = {"worth": self.name, "always": always, "empty": self.service.empty}
        return {**super().describe(), **own}


def _positive(what: str, given: float | None, least: float | None = None) -> float | None:
    """A number above 0, or at least ``least``; None stays."""
    if given is None:
        return None
    found = number(given, what)
    if found < (least or 0.0) or (least is None and found == 0):
        bound = "above 0" if least is None else f"{least:g} or more"
        raise ValueError(f"{what}={given!r} was given; it must be {bound}")
    return found


def rescore(store: str | PathLike[str], judge: Callable[[Any], float | Worth]) -> RemoteGame:
    """The game of the answers in a store, valued by another judge without a single call.

    ``judge(record)`` takes the record that the worth function returned with its answer, and
    returns the worth. Exact values need the answers of all coalitions; an estimate with the
    options of the first run uses the coalitions that it finds, and says where it found no more.
    Players are named by text.
    """
    summary, found = read_answers_of(store)
    answers: dict[bytes, list[float]] = {}
    for each in found:
        if each.worth.record is None:
            raise ValueError(
                f"{summary.path} holds an answer without a record; a worth function returns one as "
                "ff.Worth(value, record={…})"
            )
        judged = judge(each.worth.record)
        worth = judged.value if isinstance(judged, Worth) else judged
        answers.setdefault(each.coalition, []).append(number(worth, "the judge's worth"))
    if not answers:
        raise ValueError(
            f"{summary.path} holds no answers of a service; give the store of a RemoteGame"
        )
    counts = Counter(len(each) for each in answers.values())
    repeats, name = counts.most_common(1)[0][0], name_of(judge)
    game = RemoteGame(_not_stored, summary.description["players"], repeats=repeats, name=name)
    game.service = replace(game.service, answers=answers)
    game.traits = replace(game.traits, service=game.service)
    return game


def _not_stored(names: tuple[Any, ...]) -> float:
    raise NotStoredError(f"no answer for coalition {spell(names)} is stored")
