"""Ask and tell: a valuation whose worths are evaluated elsewhere, and told as they come."""

from __future__ import annotations

import threading
from collections import Counter, deque
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray
from fairfield.core.checks import whole
from fairfield.core.coalitions import members, spell
from fairfield.core.game import Game, Players, counted, name_players
from fairfield.core.service import Service, Usage, Worth, finite
from fairfield.criteria.criterion import Given, call_of
from fairfield.estimation.loop import check_run
from fairfield.evaluation.evaluator import versions
from fairfield.evaluation.options import Options
from fairfield.evaluation.outcomes import WorthError
from fairfield.evaluation.remote.answers import Answer
from fairfield.evaluation.remote.known import packed, unpacked
from fairfield.evaluation.remote.passing import is_passing
from fairfield.evaluation.remote.purse import Purse
from fairfield.evaluation.store import Store
from fairfield.games.given.remote import RemoteGame
from fairfield.results.valuation import Valuation

# Options of the evaluation, which is not the study's business.
ELSEWHERE = ("seconds", "n_jobs", "timeout", "retries", "on_error", "each_round")


class _WantedError(Exception):
    """Coalitions that a run needs next, and how many answers of each."""


class _Studied(RemoteGame):
    """The game of the answers that a study has, by whose name it goes."""

    def __repr__(self) -> str:
        return f"Study: {counted(len(self.players), 'player')}"


class Study:
    """A valuation that asks for coalitions and is told their worths, evaluated anywhere.

    For batches of a service that answer over night, clusters with a scheduler of their own, people
    who are asked. ``criterion`` is a name or a function, as in ``compare``; ``game_or_players`` is
    a game (its worths are not evaluated) or the players. Keywords are those of the criterion:
    budget, tolerance, spend, seed, sampler, temperature, store. With a store a study goes on
    where an earlier one ended; a study of a :class:`RemoteGame` shares it with direct calls.
    Where all worths are within the budget, or none is given, the values are exact in the end.

    >>> import fairfield as ff
    >>> study = ff.Study("shapley", ["ann", "bob", "eve"])
    >>> while len(coalitions := study.ask(4)):
    ...     study.tell(coalitions, coalitions.sum(axis=1) ** 2)
    >>> study.result().values
    array([3., 3., 3.])
    """

    def __init__(
        self, criterion: Given, game_or_players: Game | Players, *arguments: Any, **keywords: Any
    ) -> None:
        for name in ELSEWHERE:
            if name in keywords:
                raise TypeError(
                    f"{name}= is for worths that fairfield evaluates; those of a Study are told"
                )
        store = Options(store=keywords.pop("store", None)).store
        self._call = call_of(criterion, *arguments, **keywords)
        given = game_or_players if isinstance(game_or_players, Game) else None
        if given is not None and given.batch:
            raise ValueError(f"{given!r} is a batch of games; a Study takes one game")
        service = None if given is None else given.traits.service
        self._service = service or Service(None, is_passing)
        # What is no game names players.
        players = name_players(game_or_players) if given is None else given.players  # type: ignore[arg-type]  # checked there
        self.players = players
        self._game = RemoteGame._of(self._service, players, "study", noisy=False)
        self._answers: dict[bytes, list[float]] = {}
        self._usage, self._purse = Usage(), Purse(self._call.chosen.spend, self._service.price)
        # How many answers each coalition still needs, those handed out but not told yet, and which
        # to hand out next.
        self._wanted: Counter[bytes] = Counter()
        self._pending: Counter[bytes] = Counter()
        self._queue: deque[bytes] = deque()
        # The answer, once nothing is wanted any more.
        self._found: Valuation | None = None
        self._lock = threading.RLock()
        self._store = store
        self._described = given or self._game
        problem = self._call.problem(self._call.posed(self._known()))
        if self._call.criterion.is_estimated(problem):
            least = self._call.criterion.estimator(problem).least
            check_run(problem.game, least, problem.options)
        for each in [] if store is None else self._kept([]):
            self._take(each.coalition, self._purse.pay(each.worth, earlier=True))

    def __repr__(self) -> str:
        return repr(self._known())

    def ask(self, k: int = 1) -> BoolArray:
        """The next coalitions to evaluate (≤ k, n), one row for each answer that is wanted.

        There are none once the study is done, and while it waits for coalitions that are ``pending``,
        since those that come next depend on their worths.
        """
        with self._lock:
            room = self._purse.room(whole("k", k))
            self._plan()
            rows: list[bytes] = []
            while self._queue and len(rows) < room:
                key = self._queue.popleft()
                if self._wanted[key] > self._pending[key]:  # it may have been told unasked
                    self._pending[key] += 1
                    rows.append(key)
            self._purse.under_way += len(rows)
            return unpacked(rows, len(self.players))

    def tell(self, coalitions: ArrayLike, worths: Any) -> None:
        """Take the worths of coalitions (m, n): numbers or :class:`Worth`, in any order or number.

        A coalition that is told more than once is noisy: its worth is the mean, and the spread of
        all that are repeated is in every standard error. What was never asked for is kept until it is.
        """
        rows = np.atleast_2d(np.asarray(coalitions))
        found = [worths] if isinstance(worths, Worth) else list(np.atleast_1d(worths))
        if rows.dtype != bool or rows.ndim != 2 or rows.shape[1] != len(self.players):
            raise ValueError(
                f"coalitions of shape {rows.shape} and type {rows.dtype} were told; give a bool array "
                f"(m, {len(self.players)}), as ask() returns it"
            )
        if len(found) != len(rows):
            raise ValueError(f"{len(rows)} coalitions were told with {len(found)} worths")
        answers = []
        for row, key, given in zip(rows, packed(rows), found, strict=True):
            try:
                answers.append(Answer(key, self._priced(given), 0.0))
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"coalition {spell(members(row, self.players))}: {error}"
                ) from None
        with self._lock:
            if self._store is not None:
                self._kept(answers)
            for each in answers:
                self._take(each.coalition, self._purse.pay(each.worth))

    def result(self) -> Valuation:
        """The valuation of what was told: exact, or the best estimate so far with its errors.

        Of coalitions asked for together those are used that come before the first gap.
        """
        with self._lock:
            try:
                found = self._found or self._call.value(self._known(lambda *_: self._broke()))
            except WorthError as error:
                if error.partial is None and self._broke() is None:
                    text = str(error)
                    if self._service.repeats == 1:
                        told, least = len(self._answers), self._least()
                        text = f"{self!r}: {told:,} of at least {least:,} worths are told, which "
                        text += f"{'an estimate needs' if least < 2 ** len(self.players) else 'it needs'}"
                    raise WorthError(f"{text}; ask for more, and tell their worths") from None
                if error.partial is None:
                    raise
                found = error.partial
            return replace(found, evaluations=len(self._answers))

    @property
    def pending(self) -> BoolArray:
        """The coalitions that were handed out and not told yet, to be evaluated again if lost."""
        with self._lock:
            return unpacked(list(self._pending.elements()), len(self.players))

    @property
    def done(self) -> bool:
        """Whether nothing is asked for any more: by budget, money, tolerance, or as all is known."""
        with self._lock:
            self._plan()
            return not self._wanted or self._broke() is not None

    def _least(self) -> int:
        """How many worths any answer needs."""
        criterion, problem = self._call.criterion, self._call.posed(self._known())
        problem, most = criterion.prepare(problem), int(2 ** len(self.players))
        if (few := criterion.coalitions_read(problem)) is not None:
            return len(few)
        if not (criterion.is_estimated(problem) or criterion.leaves_estimates(problem)):
            return most
        posed = replace(problem, source=problem.source.estimating())
        return min(most, criterion.estimator(posed).least)

    def _broke(self) -> str | None:
        """That the money allows no further worth, where it does not."""
        return None if self._pending or self._purse.room(1) else self._purse.sentence()

    def _priced(self, given: Any) -> Worth:
        """A worth as it was told, checked, with what it cost."""
        worth = self._purse.priced(given if isinstance(given, Worth) else Worth(given))
        if worth.cost is None and (spend := self._purse.spend) is not None:
            raise ValueError(
                f"spend={spend:g} needs to know what a worth cost; tell ff.Worth(value, cost=…)"
            )
        return replace(worth, value=finite(worth.value))

    def _plan(self) -> None:
        """Find out what is wanted next, if all that was wanted has been told."""
        if self._found or self._wanted:
            return

        def wanted(coalitions: BoolArray, counts: list[int]) -> None:
            self._wanted = Counter(dict(zip(packed(coalitions), counts, strict=True)))
            self._queue = deque(self._wanted.elements())
            raise _WantedError

        with suppress(_WantedError):
            self._found = self._call.value(self._known(wanted))

    def _known(self, wanted: Any = None) -> RemoteGame:
        """The game of the answers so far."""
        known = {"answers": self._answers, "usage": self._usage, "wanted": wanted}
        service = replace(self._service, worth=None, **known)
        several = service.auto or service.repeats > 1
        noisy = several or any(len(each) > 1 for each in self._answers.values())
        return _Studied._of(service, self.players, "study", noisy=noisy)

    def _kept(self, answers: list[Answer]) -> list[Answer]:
        """Store these answers; returns what was stored before, where there are none."""
        assert self._store is not None
        with closing(Store(self._store, self._described, versions(), alive=False)) as store:
            held = store.answers()
            before = held.fresh() if not answers else []
            held.add(answers)
            self._purse.abandoned_before = held.abandoned()
        return before

    def _take(self, key: bytes, worth: Worth) -> None:
        self._found = None
        self._answers.setdefault(key, []).append(worth.value)
        self._usage += Usage(calls=1, cost=worth.cost or 0.0, tokens=worth.tokens)
        self._purse.under_way -= key in self._pending
        for counts in (self._pending, self._wanted):
            if counts[key] > 1:
                counts[key] -= 1
            else:
                counts.pop(key, None)
