"""How a valuation is to be computed: the keywords all criteria share."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from numbers import Integral
from os import PathLike
from typing import TypedDict


class Keywords(TypedDict, total=False):
    """The keywords of every criterion, as :class:`How` explains them."""

    budget: int | None
    seed: int
    n_jobs: int | None
    store: str | PathLike[str] | None
    progress: bool | None
    decoupling: bool | None


@dataclass(frozen=True)
class How:
    """What a user may say about the computation itself.

    ``budget`` is the largest number of worths to evaluate, ``seed`` settles every
    random choice, ``n_jobs`` shares the evaluations out (joblib's meaning; None follows
    ``joblib.parallel_config``), ``store`` keeps worths in a file, ``progress`` shows a bar
    (None: on a terminal, when it takes long), ``decoupling`` asks for log Z and the
    decoupling error where there is a temperature: None where a table gives them, True also by
    sampling where only a closed form is known, False never.
    """

    budget: int | None = None
    seed: int = 0
    n_jobs: int | None = None
    store: str | PathLike[str] | None = None
    progress: bool | None = None
    decoupling: bool | None = None

    def __post_init__(self) -> None:
        for name in ("budget", "seed", "n_jobs"):
            given = getattr(self, name)
            if given is None:
                continue
            if not isinstance(given, Integral):
                raise TypeError(f"{name}={given!r} was given; it must be a whole number")
            object.__setattr__(self, name, int(given))
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"budget={self.budget} allows no evaluation; give at least 1")
        if self.n_jobs == 0:
            raise ValueError("n_jobs=0 leaves nobody to work; give 1 or more, or -1 for all cores")

    def changed(self, keywords: Keywords) -> How:
        """With these keywords, refusing those that nothing listens to."""
        known = [entry.name for entry in fields(self)]
        for name in keywords:
            if name not in known:
                raise TypeError(f"unknown keyword {name!r}; known are {', '.join(known)}")
        return replace(self, **keywords)
