"""What all experiments of a run share: its sizes, its seed, where worths are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
CRITERIA = ("variational_index", "shapley", "banzhaf")


@dataclass(frozen=True)
class Run:
    """How the experiments are run.

    ``reference`` is a folder with the authors' own splits as .npz files, ``data`` the place of
    Adult; both may be None. ``problems`` names those of data valuation that are played, by
    default all; ``splits`` is how many of our own are valued. What took long is kept in
    ``out``/stores, from where a run continues.
    """

    out: Path
    quick: bool = False
    seed: int = 0
    jobs: int | None = None
    progress: bool | None = None
    reference: Path | None = None
    data: Path | None = None
    problems: tuple[str, ...] = ()
    splits: int | None = None

    @property
    def stores(self) -> Path:
        """The folder of what is kept."""
        return self.out / "stores"

    def options(self) -> dict[str, Any]:
        """The keywords of criteria."""
        return {"seed": self.seed, "n_jobs": self.jobs, "progress": self.progress}

    def chosen(self, problems: Mapping[str, T]) -> dict[str, T]:
        """Those of some problems that this run plays."""
        return {k: v for k, v in problems.items() if not self.problems or k in self.problems}

    def published(self, name: str) -> dict[str, NDArray[Any]] | None:
        """The authors' data of an experiment, where there is a folder of them that has it."""
        if self.reference is None:
            return None
        if not self.reference.is_dir():
            raise ValueError(
                f"there is no folder {self.reference}; give --reference the folder of the authors' "
                "splits, or leave it out"
            )
        if not list(self.reference.glob("paper_*.npz")):
            raise ValueError(
                f"{self.reference} holds none of the authors' splits (paper_….npz); give their "
                "folder, or leave --reference out"
            )
        file = self.reference / f"paper_{name}.npz"
        if not file.exists():
            return None
        try:
            with np.load(file, allow_pickle=False) as held:
                return dict(held)
        except (ValueError, OSError, EOFError) as error:
            raise ValueError(f"{file} could not be read as .npz: {error}") from None
