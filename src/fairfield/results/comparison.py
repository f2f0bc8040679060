"""Criteria side by side on one game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.runtime.imports import needed_for
from fairfield.core.service import Usage
from fairfield.results.display import Columns, Shown
from fairfield.results.saved import read_plain, write_plain
from fairfield.results.tables import comparison_table
from fairfield.results.valuation import Valuation

if TYPE_CHECKING:
    import pandas as pd

# The part of a saved comparison that is no criterion.
TOTALS = ""
# What is said of values that are exact but for the noise of worths.
NOISE_IN_ERRORS = "worths are known but for noise, which is in the errors"
# Reasons to stop that need no mention.
UNREMARKABLE = {"exact", "converged", NOISE_IN_ERRORS}


def _calls(found: Valuation) -> str:
    return str(Usage(**found.usage))  # type: ignore[arg-type]  # counts are whole numbers


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Shown, Mapping[str, Valuation]):
    """Several criteria on one game: a mapping from criterion to valuation."""

    valuations: Mapping[str, Valuation]
    # What the call that compared them took in all; None where it is not known.
    evaluated: int | None = None
    took: float | None = None

    def __getitem__(self, criterion: str) -> Valuation:
        return self.valuations[criterion]

    def __iter__(self) -> Iterator[str]:
        return iter(self.valuations)

    def __len__(self) -> int:
        return len(self.valuations)

    def output(self, name: Any) -> Comparison:
        """The comparison on one output, by its name: the label of a class, the number of a column."""
        return replace(self, valuations={key: v.output(name) for key, v in self.items()})

    @property
    def first(self) -> Valuation:
        """The valuation by the first criterion."""
        return next(iter(self.values()))

    @property
    def temperatures(self) -> list[float]:
        """The lowest and the highest temperature, one number where they are the same."""
        given = [v.temperature for v in self.values() if v.temperature is not None]
        every = [float(extreme(each)) for each in given for extreme in (np.min, np.max)]
        return sorted({min(every), max(every)}) if every else []

    @property
    def evaluations(self) -> int:
        """The coalitions evaluated for all criteria together."""
        return int(self._total("evaluations")) if self.evaluated is None else self.evaluated

    @property
    def seconds(self) -> float:
        """The time that all criteria took together."""
        return self._total("seconds") if self.took is None else self.took

    def _total(self, what: str) -> float:
        """The sum over criteria; exact ones share one evaluation of the worths."""
        shared = [getattr(v, what) for v in self.values() if v.stderr is None]
        own = [getattr(v, what) for v in self.values() if v.stderr is not None]
        return float(max(shared, default=0) + sum(own))

    @property
    def caveats(self) -> dict[str, str]:
        """Why each criterion stopped, of those that are not simply exact or converged."""
        found = {
            name: v.stop for name, v in self.items() if not UNREMARKABLE.issuperset(v.stops.ravel())
        }
        # Calls are counted from the first criterion on, and said of all of them together.
        said = {name: text.replace(f"; {_calls(self[name])}", "") for name, text in found.items()}
        return {name: text for name, text in said.items() if text not in UNREMARKABLE}

    @property
    def calls(self) -> str | None:
        """What the calls of a service took for all criteria together, in words; None without any."""
        used = [v for v in self.values() if v.usage.get("calls")]
        return _calls(max(used, key=lambda v: v.usage["calls"])) if used else None

    def to_frame(self) -> pd.DataFrame:
        """Values with one column per criterion."""
        with needed_for("to_frame"):
            import pandas as pd
        return pd.DataFrame({name: v.to_frame()["value"] for name, v in self.items()})

    def _shown(self) -> tuple[Columns, list[str]]:
        return comparison_table(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write all valuations to one .npz file of plain arrays and JSON."""
        parts = {name: v.entries() for name, v in self.items()}
        totals = {"evaluated": self.evaluated, "took": self.took}
        write_plain(path, "comparison", {**parts, TOTALS: totals})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Comparison:
        """Read a file written by :meth:`save`; nothing in it is ever executed."""

        def made(parts: dict[str, dict[str, Any]]) -> Comparison:
            totals = parts.pop(TOTALS, {})
            if not all(isinstance(each, int | float) for each in totals.values()):
                raise ValueError("its totals are no numbers")
            found = {name: Valuation.checked(entries) for name, entries in parts.items()}
            if len({v.players for v in found.values()}) != 1:
                raise ValueError("its criteria do not have the same players")
            return cls(found, **totals)

        return read_plain(path, "comparison", made)
