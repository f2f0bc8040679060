"""How a valuation is to be computed: the keywords all criteria share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class How:
    """What a user may say about the computation itself.

    ``budget`` is the largest number of worths to evaluate, ``seed`` settles every
    random choice, ``progress`` shows a bar (None: on a terminal, when it takes long),
    ``decoupling`` asks for log Z and the decoupling error where there is a temperature.
    """

    budget: int | None = None
    seed: int = 0
    progress: bool | None = None
    decoupling: bool = True

    def __post_init__(self) -> None:
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"budget={self.budget} allows no evaluation; give at least 1")

    @classmethod
    def of(cls, keywords: dict[str, Any]) -> How:
        """From keywords, refusing those that nothing listens to."""
        known = [entry.name for entry in fields(cls)]
        for name in keywords:
            if name not in known:
                raise TypeError(f"unknown keyword {name!r}; known are {', '.join(known)}")
        return cls(**keywords)
