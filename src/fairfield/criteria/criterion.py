"""What a criterion is, and the one registry of all criteria.

A criterion is a small frozen object: its name, one sentence of meaning, its own arguments,
how to value a problem exactly and, where it can be, how to estimate it. Its public function
takes a game and the keywords that all criteria share.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

from fairfield.assemble import presentation
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import BoolArray
from fairfield.core.checks import meant
from fairfield.core.game import Players
from fairfield.core.registry import import_all, refuse_taken
from fairfield.estimation.loop import Estimator, estimated
from fairfield.estimation.samplers.registry import check_sampler
from fairfield.estimation.whole import from_all, one_by_one
from fairfield.evaluation.memory import out_of_reach
from fairfield.evaluation.options import Keywords, Options
from fairfield.problem import Problem, resolve
from fairfield.results.valuation import Valuation


class Criterion:
    """How the players of a game are valued.

    A new criterion is a frozen dataclass that sets ``name`` and ``meaning`` and implements
    ``exact``; :func:`register` makes it known by its name. Its fields are its own arguments.
    """

    name: ClassVar[str]
    # One sentence: what a value says of its player.
    meaning: ClassVar[str]
    # The temperature where none is given; None for a criterion that does without.
    temperature: ClassVar[Temperature | None] = None
    # Whether its estimate settles a temperature that is relative to Banzhaf's values.
    settles: ClassVar[bool] = False
    # Whether exact values of noisy worths have standard errors.
    errors: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """The name with the arguments that matter, as valuations show it."""
        return self.name

    @classmethod
    def required(cls) -> list[str]:
        """The arguments that have no default."""
        return [
            each.name
            for each in fields(cls)  # type: ignore[arg-type]  # each is a dataclass
            if each.default is MISSING and each.default_factory is MISSING
        ]

    @classmethod
    def is_estimable(cls) -> bool:
        """Whether there is an estimator."""
        return cls.estimator is not Criterion.estimator

    def prepare(self, problem: Problem) -> Problem:
        """The problem with what the arguments add to it (a prior), all of them checked."""
        problem.source.check()
        check_sampler(problem.options.sampler, self.name, self.label)
        return problem

    def is_estimated(self, problem: Problem) -> bool:
        """Whether the values are estimated."""
        return problem.estimated

    def needs_all(self, problem: Problem) -> bool:
        """Whether all worths are read, or an estimate that stands for them; a few may do."""
        return True

    def coalitions_read(self, problem: Problem) -> BoolArray | None:
        """The coalitions from whose worths alone exact values are read; None stands for all."""
        return None

    def worths_read(self, problem: Problem) -> int:
        """How many worths exact values are read from."""
        few = self.coalitions_read(problem)
        return int(2 ** len(problem.game.players)) if few is None else len(few)

    def leaves_estimates(self, problem: Problem) -> bool:
        """Whether exact values are found coalition by coalition, any beginning being an estimate."""
        service = problem.game.traits.service
        repeats = service is not None and service.auto
        return self.is_estimable() and one_by_one(problem) and (self.errors or not repeats)

    def check_settles(self, problem: Problem) -> None:
        """Refuse a relative temperature that nothing would settle."""
        if problem.pending is not None and not self.settles:
            raise ValueError(
                f"a relative temperature needs Banzhaf values, which {self.label} under a budget "
                "does not estimate; pass temperature= as a number in the units of the worths"
            )

    def exact(self, problem: Problem) -> Valuation:
        """The valuation of a problem whose extension can be read."""
        raise NotImplementedError

    def estimator(self, problem: Problem) -> Estimator:
        """What estimates the values from a budget of coalitions."""
        raise out_of_reach(problem.game, problem.options)


Kind = TypeVar("Kind", bound=type[Criterion])

# What is compared unless other criteria are named.
USUAL = ("variational_index", "banzhaf", "shapley")

_registered: dict[str, type[Criterion]] = {}


def register(kind: Kind) -> Kind:
    """Make a criterion known by its name; use it as the decorator of its class."""
    complete = hasattr(kind, "name") and hasattr(kind, "meaning")
    if kind.exact is Criterion.exact or not complete:
        raise TypeError(
            f"{kind.__name__} needs a name, a meaning and exact(problem) to be registered"
        )
    if not is_dataclass(kind):
        raise TypeError(
            f"{kind.__name__} is no dataclass; write @dataclass(frozen=True) below @register"
        )
    refuse_taken(f"a criterion {kind.name!r}", _registered.get(kind.name), kind)
    _registered[kind.name] = kind
    return kind


def registry() -> dict[str, type[Criterion]]:
    """All criteria by their names."""
    import_all("fairfield.criteria")
    return _registered


def plain_names() -> list[str]:
    """The names of the criteria that need no argument of their own, the usual ones first."""
    names = [name for name, kind in registry().items() if not kind.required()]
    return sorted(names, key=lambda name: (name not in USUAL, name))


# A criterion by its name, its public function (perhaps with arguments, as a partial), as an
# object, or a function of the user's own that takes a game and returns a valuation.
Given: TypeAlias = str | Criterion | Callable[..., Valuation]


@dataclass(frozen=True)
class Call:
    """A criterion with the temperature and the options that it alone is given."""

    criterion: Criterion
    temperature: Temperature | None = None
    options: Keywords = field(default_factory=Keywords)
    players: Players | None = None

    def problem(self, problem: Problem) -> Problem:
        """The problem as this criterion poses it, its arguments checked."""
        if self.temperature is None:
            return self.criterion.prepare(problem.changed(self.options))
        own = replace(problem.at(self.temperature), optional=False)
        posed = self.criterion.prepare(own.changed(self.options))
        self.criterion.check_settles(posed)
        return posed

    @cached_property
    def chosen(self) -> Options:
        """The options, checked."""
        return Options().changed(self.options)

    def posed(self, game: Any, *, each_round: bool = False) -> Problem:
        """The problem that this criterion alone poses of a game."""
        wanted = self.criterion.temperature if self.temperature is None else self.temperature
        options = replace(self.chosen, each_round=True) if each_round else self.chosen
        return resolve(game, self.players, wanted, options)

    def rounds(self, game: Any, *, each_round: bool = False) -> Iterator[Valuation]:
        """The valuations of a game as evaluations come in, with ``each_round`` one after each."""
        return _rounds(self.criterion, self.posed(game, each_round=each_round))

    def answer(self, problem: Problem) -> Valuation:
        """The values of the players in a problem that was posed."""
        return _last(_rounds(self.criterion, problem))

    def value(self, game: Any) -> Valuation:
        """The values of the players: the last of the rounds."""
        return self.answer(self.posed(game))


def call_of(given: Given, *arguments: Any, **keywords: Any) -> Call:
    """The call of a criterion with these arguments and keywords.

    >>> call_of("variational_index", starts=4, seed=1)
    Call(criterion=VariationalIndex(start=None, prior=None, solver='anderson', starts=4),
         temperature=None, options={'seed': 1}, players=None)
    """
    if isinstance(given, partial):
        return call_of(given.func, *given.args, *arguments, **{**given.keywords, **keywords})
    temperature, players = keywords.pop("temperature", None), keywords.pop("players", None)
    given = getattr(given, "as_criterion", given)
    if isinstance(given, Criterion):
        if arguments:
            raise TypeError(f"{given!r} has its arguments already; leave out {arguments[0]!r}")
        return Call(given, temperature, cast(Keywords, keywords), players)
    name = given if isinstance(given, str) else getattr(given, "__name__", "")
    kind = registry().get(name)
    if kind is None and not callable(given):
        known = ", ".join(plain_names())
        raise ValueError(
            f"there is no criterion {given!r}{meant(given, plain_names())}; choose from {known}, or "
            "pass beta(a, b) or a function"
        )
    # The public function of a criterion stands beside its class, under its name.
    public = kind is not None and getattr(inspect.getmodule(kind), name, None) is given
    if kind is None and str(getattr(given, "__module__", "")).startswith("fairfield."):
        raise ValueError(
            f"{name} is no criterion, which values single players; call ff.{name} itself"
        )
    if kind is None or not (isinstance(given, str) or public):
        own_function = cast(Callable[..., Valuation], given)
        return Call(
            Own(partial(own_function, *arguments, **keywords)), temperature, players=players
        )
    criterion = _criterion(kind, arguments, keywords)
    return Call(criterion, temperature, cast(Keywords, keywords), players)


def _criterion(
    kind: type[Criterion], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Criterion:
    """The criterion with its own arguments, which are taken out of the keywords."""
    own = [each.name for each in fields(kind)]  # type: ignore[arg-type]  # each is a dataclass
    if len(arguments) > len(own):
        takes = f"takes {', '.join(own)} by position" if own else "takes none by position"
        raise TypeError(f"{kind.name} {takes}, {len(arguments)} arguments were given")
    chosen = dict(zip(own, arguments, strict=False))
    for each in chosen:
        if each in keywords:
            raise TypeError(f"{kind.name} was given {each} by position and as {each}=; give one")
    chosen |= {each: keywords.pop(each) for each in own if each in keywords}
    missing = [each for each in kind.required() if each not in chosen]
    if missing:
        raise TypeError(f"{kind.name} needs {missing[0]}=; pass it with the criterion")
    return kind(**chosen)


def _rounds(criterion: Criterion, problem: Problem) -> Iterator[Valuation]:
    """The valuations as evaluations come in, one where it is exact; first all is checked."""
    problem = criterion.prepare(problem)
    criterion.check_settles(problem)
    if criterion.is_estimated(problem):
        yield from estimated(problem, criterion.label, criterion.estimator(problem))
    elif criterion.leaves_estimates(problem):
        few = criterion.coalitions_read(problem)
        yield from_all(problem, criterion.label, criterion.exact, criterion.estimator, few)
    else:
        yield criterion.exact(problem)


def value(
    criterion: Criterion,
    game: Any,
    players: Players | None,
    temperature: Temperature | None,
    options: Keywords,
) -> Valuation:
    """The values of the players by a criterion: the last of its rounds."""
    return _last(_rounds(criterion, resolve(game, players, temperature, options)))


def valued(criterion: Given, game: Any, *arguments: Any, **keywords: Any) -> Valuation:
    """The values of the players by a criterion in any of its forms, with its arguments."""
    return call_of(criterion, *arguments, **keywords).value(game)


def _last(rounds: Iterator[Valuation]) -> Valuation:
    for valuation in rounds:
        last = valuation
    return last


@dataclass(frozen=True)
class Own(Criterion):
    """A criterion of the user's own: a function of a game that returns a valuation.

    It receives the game (as a table, where that was evaluated) and, if it takes one, the
    ``temperature`` of the comparison.
    """

    function: Callable[..., Valuation]
    name = "a criterion of your own"
    meaning = "What the given function says."

    def exact(self, problem: Problem) -> Valuation:
        """What the function makes of the game."""
        T = problem.temperature
        at = {"temperature": T} if T is not None and self._takes_temperature() else {}
        found = self.function(problem.played(), **at)
        if not isinstance(found, Valuation):
            raise TypeError(
                f"the criterion {self.function!r} returned a {type(found).__name__}; it must "
                "return a Valuation, as ff.shapley does"
            )
        evaluations = problem.source.spent.evaluations
        return replace(found, evaluations=evaluations, **presentation(problem.game))

    def _takes_temperature(self) -> bool:
        try:
            parameters = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):  # some compiled functions have no signature
            return False
        return any(
            each.name == "temperature" or each.kind is each.VAR_KEYWORD for each in parameters
        )
