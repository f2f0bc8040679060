"""What a valuation would take, before its first worth."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from sys import maxsize
from typing import Any, Unpack

import numpy as np

from fairfield.boltzmann.temperature import Temperature
from fairfield.core.copies import measured
from fairfield.core.game import Game, Players
from fairfield.core.service import Service, rounded
from fairfield.criteria.criterion import Call, Given, call_of
from fairfield.estimation.loop import check_run
from fairfield.evaluation.local import block_size
from fairfield.evaluation.options import Keywords
from fairfield.evaluation.remote.answers import Answer
from fairfield.evaluation.remote.purse import Purse
from fairfield.evaluation.store import evaluated, read_answers_of
from fairfield.evaluation.threads import threads_of
from fairfield.games.given.function import FunctionGame
from fairfield.games.given.table import TableGame
from fairfield.problem import Problem, resolve

# So many worths are timed, or one block; fewer where they take longer than so many seconds.
FEW, LONG = 4, 10.0


@dataclass(frozen=True)
class Quote:
    """What a valuation would take: worths to evaluate, calls, seconds, cost.

    ``evaluations`` leaves out what the store holds; ``calls`` are those of a service, without
    repeated attempts. ``seconds`` and ``cost`` are None where nothing tells them yet. ``least`` is the
    fewest worths that give any answer, an estimate where the criterion has one, and
    ``least_seconds`` what they take: a smaller budget is refused, here too, and so is a smaller time.
    """

    evaluations: int
    calls: int
    seconds: float | None
    cost: float | None
    least: int = field(default=0, compare=False)
    least_seconds: float | None = field(default=None, compare=False)


def quote(
    game: Any,
    criterion: Given = "shapley",
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Quote:
    """What ``criterion(game, **options)`` would take, as far as it can be known before.

    A service is never called: seconds follow from its rate and from answers in the store, the
    cost from those or from the game's ``price``. Of other games a few worths are timed, in which a
    model is fitted; with ``seconds=`` it is said how many would be evaluated in that time.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, spend and store.

    >>> import fairfield as ff
    >>> game = ff.RemoteGame(len, players=12, price=0.002, per_minute=500)
    >>> quote(game, "shapley", budget=1000)
    Quote(evaluations=1000, calls=1000, seconds=120.0, cost=2.0, least=26, least_seconds=None)
    """
    call = call_of(criterion, players=players, temperature=temperature, **options)
    wanted = call.criterion.temperature if temperature is None else temperature
    problem = resolve(game, call.players, wanted, call.options)
    problem = call.criterion.prepare(problem)
    played = problem.game
    least = _least(call, problem)
    if call.criterion.is_estimated(problem):
        check_run(played, least, problem.options)
    service, store = played.traits.service, problem.options.store
    stored = store is not None and Path(store).exists()
    if service is None:
        there = evaluated(store) if stored and store is not None else 0
        all_known = there >= 2 ** len(played.players)
        each = 0.0 if all_known else _seconds_of_a_worth(problem)
        needed = _needed(call, problem, each)
        needed = max(0, needed - there)
        if not needed:
            return Quote(0, 0, 0.0, 0.0, least, 0.0)
        if each is None:
            return Quote(needed, 0, None, 0.0, least)
        return Quote(needed, 0, needed * each, 0.0, least, least * each)
    needed = _needed(call, problem, None)
    found = read_answers_of(store)[1] if stored and store is not None else []
    if not service.auto:
        needed -= service.known_empty
    calls = max(0, needed * service.repeats - len(found))
    costs = [each.worth.cost for each in found if each.worth.cost is not None]
    price = float(np.mean(costs)) if costs else service.price
    cost = None if price is None else rounded(calls * price)
    seconds = _waited(service, calls, found)
    return Quote(ceil(calls / service.repeats), calls, seconds, cost, least)


def _least(call: Call, problem: Problem) -> int:
    """The fewest coalitions that give an answer."""
    count, source = len(problem.game.players), problem.source
    if source.tableless or isinstance(problem.game, TableGame):
        return 0
    if not call.criterion.needs_all(problem):
        return count + 2
    if not call.criterion.is_estimable():
        return int(2**count)
    posed = replace(problem, source=source.estimating())
    return int(min(call.criterion.estimator(posed).least, 2**count))


def _needed(call: Call, problem: Problem, each: float | None) -> int:
    """The coalitions whose worths are used, stored or not, at so many seconds each."""
    source, count, options = problem.source, len(problem.game.players), problem.options
    if source.division is not None:
        return source.division.evaluations
    if source.closed is not None or isinstance(problem.game, TableGame):
        return 0
    service = problem.game.traits.service
    if not (call.criterion.is_estimated(problem) or (service is not None and service.auto)):
        return call.criterion.worths_read(problem)
    limits = [] if options.budget is None else [options.budget]
    if options.spend is not None and service is not None and service.price:
        paid = Purse(options.spend, service.price).room(maxsize) // service.repeats
        limits.append(paid if service.auto else paid + service.known_empty)
    if options.seconds is not None and each is not None:
        fitting = max(int(options.seconds / each), _least(call, problem)) if each else 2**count
        limits.append(min(fitting, 2**count))
    if not limits:
        unknown = "a tolerance or a time takes"
        advice = "give a budget="
        if options.spend is not None:
            unknown, advice = "spend= pays for", f"{advice}, or the game a price="
        raise ValueError(f"how many coalitions {unknown} is not known before; {advice}")
    return min(limits)


def _waited(service: Service, calls: int, found: list[Answer]) -> float | None:
    """How long so many calls take, by the rates of the service and by what answers took before."""
    # What was told took nobody's time here.
    seconds, tokens = (
        [each.seconds for each in found if each.seconds],
        [each.worth.tokens for each in found],
    )
    times = [calls * float(np.mean(seconds)) / service.concurrency] if seconds else []
    if service.requests is not None:
        times.append(60.0 * calls / service.requests)
    if service.tokens is not None and any(tokens):
        times.append(60.0 * calls * float(np.mean(tokens)) / service.tokens)
    return max(times, default=None if calls else 0.0)


def _seconds_of_a_worth(problem: Problem) -> float | None:
    """How long a worth takes, by a few of them; None where all are found at once."""
    game = problem.game
    by_worths = type(game).table is Game.table or isinstance(game, FunctionGame)
    if not by_worths or game.traits.device is not None or problem.source.division is not None:
        return None
    most = min(2 ** len(game.players), problem.options.budget or maxsize)
    size, rng = min(block_size(game), most), np.random.default_rng(problem.options.seed)
    started, timed = time.perf_counter(), 0
    while timed < FEW and time.perf_counter() - started < LONG:
        measured(game, rng.random((size, len(game.players))) < 0.5)
        timed += size
    return (time.perf_counter() - started) / timed / threads_of(problem.options.n_jobs)
