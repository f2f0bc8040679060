"""Games whose worths come from a service: slow, limited, failing at times, noisy, metered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Literal

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import number, whole
from fairfield.core.coalitions import members, spell
from fairfield.core.game import Game, GameInfo, Measured, Player, Players, Traits, name_players
from fairfield.core.service import Service, Worth, finite
from fairfield.evaluation.options import Options
from fairfield.evaluation.outcomes import WorthError
from fairfield.evaluation.remote.calls import Calls
from fairfield.evaluation.remote.known import unpacked
from fairfield.evaluation.remote.passing import is_passing
from fairfield.evaluation.remote.secrets import without_keys
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
      its share is in every standard error. "auto" shares a budget of answers out between new
      coalitions and repeats, so that standard errors fall fastest.
    - ``empty``: the worth of ∅, where asking makes no sense; the valuation says so.
    - ``name``: identifies the worths in a store, together with players and ``always``; by default
      that of the function, so a lambda needs one. A store is never asked again what it holds.

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
        repeats: int | Literal["auto"] = 1,
        empty: float | None = None,
        name: str | None = None,
    ) -> None:
        if not callable(worth):
            raise TypeError(f"a worth function was expected, {type(worth).__name__} was given")
        limits = per_minute if isinstance(per_minute, Mapping) else {"requests": per_minute}
        for unit, limit in limits.items():
            if unit not in ("requests", "tokens"):
                raise ValueError(f"per_minute has {unit!r}; it limits 'requests' and 'tokens'")
            _positive(f"per_minute[{unit!r}]" if limits is per_minute else "per_minute", limit)
        self.players = name_players(players)
        first = always if isinstance(always, str) else tuple(always)
        if isinstance(first, str) or set(first) & set(self.players):
            raise ValueError(
                f"always={first!r} was given; it lists names that are in every coalition and are no "
                "players, as ['question']"
            )
        if not callable(passing):
            raise TypeError(
                f"passing={passing!r} was given; give a function of an error, as ff.is_passing"
            )
        if not (name is None or (isinstance(name, str) and name)):
            raise TypeError(f"name={name!r} was given; give a text that identifies the worths")
        auto = isinstance(repeats, str) and repeats == "auto"
        service = Service(
            worth,
            passing,
            concurrency=whole("concurrency", concurrency),
            requests=limits.get("requests"),
            tokens=limits.get("tokens"),
            timeout=_positive("timeout", timeout),
            retries=whole("retries", retries, 0),
            price=_positive("price", price, least=0.0),
            always=first,
            repeats=1 if auto else whole("repeats", repeats),
            auto=auto,
            empty=None if empty is None else number(empty, "empty"),
        )
        self._set(service, name or name_of(worth), noisy=auto or service.repeats > 1)

    @classmethod
    def _of(
        cls, service: Service, players: tuple[Player, ...], name: str, noisy: bool
    ) -> RemoteGame:
        """The game of such a service."""
        game = cls.__new__(cls)
        game.players = players
        game._set(service, name, noisy)
        return game

    def _set(self, service: Service, name: str, noisy: bool) -> None:
        self.service, self.name = service, name
        # Asking again what a store holds would cost money, and differ where answers are noisy.
        self.traits = Traits(noisy=noisy, opaque=False, service=service)
        self.info = GameInfo(advice="ask for fewer players")

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.measure(coalitions).worths

    def measure(self, coalitions: BoolArray) -> Measured:
        """The worths, their variances where there are repeats, and what the calls took."""
        return Calls(self, self.service, Options(), None).measure(coalitions)

    def describe(self) -> dict[str, Any]:
        if "<lambda>" in self.name:
            raise ValueError(
                "the worth function is a lambda, which a store cannot tell from another one; pass "
                "name= to RemoteGame, a new one whenever the worths change"
            )
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
    names = tuple(summary.description.get("players", ()))
    answers: dict[bytes, list[float]] = {}
    leading: dict[bytes, list[float]] = {}
    for each in found:
        if each.worth.record is None:
            raise ValueError(
                f"{summary.path} holds an answer without a record; a worth function returns one as "
                "ff.Worth(value, record={…})"
            )
        try:
            judged = judge(each.worth.record)
            worth = finite(judged.value if isinstance(judged, Worth) else judged)
        except Exception as error:
            coalition = spell(members(unpacked([each.coalition], len(names))[0], names))
            text, cause = without_keys(error)
            raise WorthError(
                f"the judge failed on the record of coalition {coalition}: {text}"
            ) from cause
        answers.setdefault(each.coalition, []).append(worth)
        leading.setdefault(each.coalition, []).append(each.worth.value)
    if not answers:
        raise ValueError(
            f"{summary.path} holds no answers of a service; give the store of a RemoteGame"
        )
    counts = Counter(map(len, answers.values()))
    # Coalitions were chosen by the first answers, which most of them have; the last may have fewer.
    chosen = counts.most_common(1)[0][0]
    service = Service(
        None,
        is_passing,
        repeats=min(counts),
        always=tuple(summary.description.get("always", ())),
        empty=summary.description.get("empty"),
        answers=answers,
        leading={key: float(np.mean(each[:chosen])) for key, each in leading.items()},
    )
    return RemoteGame._of(service, names, name_of(judge), noisy=max(counts) > 1)
