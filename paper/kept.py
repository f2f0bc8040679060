"""Arrays that took long to compute: kept in the run's stores, from where a run goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield import __version__
from paper.run import Run

LIBRARIES = ("numpy", "scipy", "scikit-learn")


def kept(
    run: Run, name: str, describes: str, compute: Callable[[], Mapping[str, Any]]
) -> dict[str, NDArray[Any]]:
    """The arrays of ``stores/name.npz``; computed and kept where there are none so described.

    A unit of work is one file, written whole or not at all: what was interrupted is done again.
    """
    file = run.stores / f"{name}.npz"
    if file.exists():
        with np.load(file, allow_pickle=False) as held:
            if str(held["describes"]) == describes:
                return {key: held[key] for key in held.files}
    found = {key: np.asarray(each) for key, each in compute().items()}
    found |= {"describes": np.array(describes), "versions": np.array(versions())}
    run.stores.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    with part.open("wb") as stream:
        np.savez_compressed(stream, **found)  # type: ignore[arg-type]  # its stub names an option
    os.replace(part, file)
    return found


def versions() -> str:
    """What computes: the libraries whose fits and sums may move the last digits."""
    return ", ".join(
        [f"fairfield {__version__}", *(f"{each} {version(each)}" for each in LIBRARIES)]
    )
