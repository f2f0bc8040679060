"""Records of arrays with one row per game, or per chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Self

import numpy as np

from fairfield.core.arrays import BoolArray


class Rows:
    """A frozen dataclass whose fields are arrays with the same number of rows."""

    def take(self, chosen: Any) -> Self:
        """Some of the rows, or all of them in another order."""
        return type(self)(*(each[chosen] for each in self._arrays()))

    def where(self, which: BoolArray, other: Self) -> Self:
        """These rows where chosen, those of the other elsewhere."""
        if which.all():
            return self
        if not which.any():
            return other
        both = zip(self._arrays(), other._arrays(), strict=True)
        return type(self)(*(rows_where(which, mine, theirs) for mine, theirs in both))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rows of all parts, one after the other."""
        arrays = zip(*(part._arrays() for part in parts), strict=True)
        return cls(*(np.concatenate(each) for each in arrays))

    def _arrays(self) -> list[Any]:
        # All who inherit are dataclasses, which the type of self does not say.
        return [getattr(self, each.name) for each in fields(self)]  # type: ignore[arg-type]


def rows_where(which: BoolArray, yes: Any, no: Any) -> Any:
    """Row by row the first array or the second."""
    return np.where(which.reshape(-1, *[1] * (yes.ndim - 1)), yes, no)
