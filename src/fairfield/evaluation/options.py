"""How values are computed: the keywords that all criteria share."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import isfinite
from numbers import Real
from os import PathLike, fspath
from pathlib import Path
from typing import Literal, TypedDict

import numpy as np

from fairfield.core.checks import meant, number, whole


@dataclass(frozen=True)
class Separation:
    """A tolerance: the best (or the worst) ``count`` players are separated from all others."""

    count: int
    end: Literal["top", "bottom"] = "top"


def separate_top(count: int) -> Separation:
    """The tolerance that stops once the best ``count`` players are separated from the others.

    That is, once the 95 % interval of every difference between one of them and one of the
    others lies above 0.

    >>> separate_top(3)
    Separation(count=3, end='top')
    """
    return Separation(whole("count", count))


def separate_bottom(count: int) -> Separation:
    """The tolerance that stops once the worst ``count`` players are separated from the others.

    >>> separate_bottom(3)
    Separation(count=3, end='bottom')
    """
    return Separation(whole("count", count), "bottom")


# Arguments that most functions have beside the options.
SHARED = ("temperature", "players")


class Keywords(TypedDict, total=False):
    """The keywords of every criterion, as :class:`Options` explains them."""

    budget: int | None
    tolerance: float | Separation | None
    seconds: float | None
    sampler: str
    seed: int
    n_jobs: int | None
    store: str | PathLike[str] | None
    progress: bool | None
    decoupling: bool | None
    timeout: float | None
    retries: int | None
    on_error: float | Literal["raise"]
    spend: float | None
    exact: bool
    each_round: bool


@dataclass(frozen=True)
class Options:
    """How a criterion is computed; the fields are keywords of every criterion.

    - ``budget``: the largest number of coalitions to use, evaluated or read from a store; of
      answers where a service is asked with ``repeats="auto"``.
    - ``tolerance``: stop once every 95 % interval has at most this half-width, in units of the
      worths; or :func:`separate_top`.
    - ``seconds``: stop after this time; less than any answer needs is refused after three worths
      (:func:`quote` says it before). Each of these three permits an estimate; without them
      all worths are evaluated.
    - ``sampler``: the name of the sampler, "auto" for the best one.
    - ``seed``: determines every random choice.
    - ``n_jobs``: how many worths are evaluated in parallel, as in joblib; None follows
      ``joblib.parallel_config``.
    - ``store``: a file in which worths are kept, and from which the same call resumes.
    - ``progress``: True shows a bar, False none, None one on a terminal after a second.
    - ``decoupling``: whether to compute log Z and the decoupling error where there is a
      temperature. None: where a table gives them; True: also by sampling where there is only a
      closed form, and for an index under a budget; False: never.
    - ``timeout``: the seconds that one worth may take; coalitions are then evaluated one by one.
    - ``retries``: how often a worth that failed is tried again. For a game behind a service these
      two replace its own.
    - ``on_error``: "raise" ends the run at a worth that fails for good, with an error whose
      ``partial`` is the valuation of those found, where they came in the order of an estimate and are
      enough; a number is the worth that such a coalition takes, and the valuation counts them.
    - ``spend``: the most that the calls of a service may cost, which also permits an estimate. It
      is never exceeded by more than the calls under way, and counts what the store has cost so far.
    - ``exact``: True insists on exact values, however long they take; what has to be estimated is
      refused then.
    - ``each_round``: a valuation after every round of an estimate; ``stream`` sets it.
    """

    budget: int | None = None
    tolerance: float | Separation | None = None
    seconds: float | None = None
    sampler: str = "auto"
    seed: int = 0
    n_jobs: int | None = None
    store: str | PathLike[str] | None = None
    progress: bool | None = None
    decoupling: bool | None = None
    timeout: float | None = None
    retries: int | None = None
    on_error: float | Literal["raise"] = "raise"
    spend: float | None = None
    exact: bool = False
    each_round: bool = False

    def __post_init__(self) -> None:
        for name, least in (("budget", 1), ("seed", 0), ("n_jobs", None), ("retries", 0)):
            given = getattr(self, name)
            if given is not None or name == "seed":
                object.__setattr__(self, name, whole(name, given, least))
        if self.n_jobs == 0:
            raise ValueError("n_jobs=0 was given; give 1 or more, or -1 for all cores")
        for name in ("tolerance", "seconds", "timeout", "spend"):
            given = getattr(self, name)
            if given is None or (name == "tolerance" and isinstance(given, Separation)):
                continue
            if not (isinstance(given, Real) and isfinite(given) and float(given) > 0):
                other = ", or separate_top(k)" if name == "tolerance" else ""
                raise ValueError(f"{name}={given!r} was given; give a number above 0{other}")
            object.__setattr__(self, name, float(given))
        if self.on_error != "raise":
            if isinstance(self.on_error, str):
                seen = f"on_error={self.on_error!r} was given"
                raise ValueError(f"{seen}; give 'raise', or the worth that failed coalitions take")
            object.__setattr__(self, "on_error", number(self.on_error, "on_error"))
        for name in ("progress", "decoupling"):
            given = getattr(self, name)
            if not (given is None or isinstance(given, bool | np.bool_)):
                raise ValueError(f"{name}={given!r} was given; give True, False or None")
        if not isinstance(self.exact, bool | np.bool_):
            raise ValueError(f"exact={self.exact!r} was given; give True or False")
        if not (self.store is None or isinstance(self.store, str | PathLike)):
            raise TypeError(f"store={self.store!r} was given; give the path of a file")
        if self.store is not None and fspath(self.store) and Path(self.store).is_dir():
            raise ValueError(f"store={fspath(self.store)!r} is a directory; give a file in it")
        if not isinstance(self.sampler, str):
            raise TypeError(f"sampler={self.sampler!r} was given; give the name of a sampler")

    @property
    def estimates(self) -> bool:
        """Whether values may be estimated where exact ones are out of reach."""
        limits = (self.budget, self.tolerance, self.seconds, self.spend)
        return any(each is not None for each in limits)

    def check_players(self, count: int) -> None:
        """Refuse a separation of more players than a game of ``count`` has to separate."""
        wanted = self.tolerance
        if isinstance(wanted, Separation) and wanted.count >= count:
            raise ValueError(
                f"separate_{wanted.end}({wanted.count}) of {count} players leaves nobody to separate "
                f"them from; give at most {count - 1}"
            )

    def changed(self, keywords: Keywords) -> Options:
        """The options with these keywords changed; unknown ones are refused."""
        names = [entry.name for entry in fields(self)]
        for name in keywords:
            if name not in names:
                raise TypeError(
                    f"unknown keyword {name!r}{meant(name, [*names, *SHARED])}; choose from {', '.join(names)}, "
                    "or the arguments of the function itself"
                )
        return replace(self, **keywords)
