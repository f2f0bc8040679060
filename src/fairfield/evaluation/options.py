"""How a valuation is to be computed: the keywords all criteria share."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import isfinite
from numbers import Integral, Real
from os import PathLike
from typing import Literal, TypedDict


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
    return Separation(_count(count, "separate_top"))


def separate_bottom(count: int) -> Separation:
    """The tolerance that stops once the worst ``count`` players are separated from the others.

    >>> separate_bottom(3)
    Separation(count=3, end='bottom')
    """
    return Separation(_count(count, "separate_bottom"), "bottom")


def _count(count: int, name: str) -> int:
    if not isinstance(count, Integral) or count < 1:
        raise ValueError(f"{name}({count!r}): give the number of players to separate, 1 or more")
    return int(count)


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
    each_round: bool


@dataclass(frozen=True)
class Options:
    """What a user may say about the computation itself: the keywords of every criterion.

    - ``budget``: the largest number of coalitions to use, whether their worths are known from
      a store or not.
    - ``tolerance``: the 95 % half-width of the widest interval at which an estimate is good
      enough, in units of the worths, or :func:`separate_top`.
    - ``seconds``: the time after which the best so far will do. Each of these three permits an
      estimate; without them all worths are evaluated.
    - ``sampler``: the name of the way to estimate, "auto" for the best.
    - ``seed``: settles every random choice.
    - ``n_jobs``: how many evaluate worths at once (joblib's meaning; None follows
      ``joblib.parallel_config``).
    - ``store``: a file that keeps worths, and from which the same call goes on.
    - ``progress``: True shows a bar, False none, None one on a terminal when it takes long.
    - ``decoupling``: whether log Z and the decoupling error are found where there is a
      temperature. None: where a table gives them; True: also by sampling where only a closed
      form is known, and for an index under a budget; False: never.
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
    each_round: bool = False

    def __post_init__(self) -> None:
        for name in ("budget", "seed", "n_jobs"):
            given = getattr(self, name)
            if given is None:
                continue
            # 1e3 is a float, and as good a budget as 1000.
            whole = isinstance(given, float) and given.is_integer()
            if not (whole or isinstance(given, Integral)):
                raise TypeError(f"{name}={given!r} was given; it must be a whole number")
            object.__setattr__(self, name, int(given))
        if self.seed < 0:
            raise ValueError(f"seed={self.seed} was given; it must be 0 or more")
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"budget={self.budget} allows no evaluation; give at least 1")
        self._check_limits()
        if self.n_jobs == 0:
            raise ValueError("n_jobs=0 leaves nobody to work; give 1 or more, or -1 for all cores")

    def _check_limits(self) -> None:
        for name in ("tolerance", "seconds"):
            given = getattr(self, name)
            if given is None or (name == "tolerance" and isinstance(given, Separation)):
                continue
            if not (isinstance(given, Real) and isfinite(given) and float(given) > 0):
                other = ", or separate_top(k)" if name == "tolerance" else ""
                raise ValueError(f"{name}={given!r} was given; give a number above 0{other}")
            object.__setattr__(self, name, float(given))
        if not isinstance(self.sampler, str):
            raise TypeError(f"sampler={self.sampler!r} was given; samplers go by their names")

    @property
    def estimates(self) -> bool:
        """Whether an estimate will do where exact values are out of reach."""
        return any(each is not None for each in (self.budget, self.tolerance, self.seconds))

    def changed(self, keywords: Keywords) -> Options:
        """With these keywords, refusing those that nothing listens to."""
        known = [entry.name for entry in fields(self)]
        for name in keywords:
            if name not in known:
                raise TypeError(f"unknown keyword {name!r}; known are {', '.join(known)}")
        return replace(self, **keywords)
