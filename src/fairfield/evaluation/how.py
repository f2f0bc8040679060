"""How a valuation is to be computed: the keywords all criteria share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from os import PathLike
from typing import Any


@dataclass(frozen=True)
class How:
    """What a user may say about the computation itself.

    ``budget`` is the largest number of worths to evaluate, ``seed`` settles every
    random choice, ``n_jobs`` shares the evaluations out (joblib's meaning; None follows
    ``joblib.parallel_config``), ``store`` keeps worths in a file, ``progress`` shows a bar
    (None: on a terminal, when it takes long), ``decoupling`` asks for log Z and the
    decoupling error where there is a temperature.
    """

    budget: int | None = None
    seed: int = 0
    n_jobs: int | None = None
    store: str | PathLike[str] | None = None
    progress: bool | None = None
    decoupling: bool = True

    def __post_init__(self) -> None:
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"budget={self.budget} allows no evaluation; give at least 1")
        if self.n_jobs == 0:
            raise ValueError("n_jobs=0 leaves nobody to work; give 1 or more, or -1 for all cores")

    @classmethod
    def of(cls, keywords: dict[str, Any]) -> How:
        """From keywords, refusing those that nothing listens to."""
        known = [entry.name for entry in fields(cls)]
        for name in keywords:
            if name not in known:
                raise TypeError(f"unknown keyword {name!r}; known are {', '.join(known)}")
        return cls(**keywords)
