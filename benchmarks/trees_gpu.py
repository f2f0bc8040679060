"""Leaf tables on a GPU: the case that WOODELF reports, 3 000 000 rows with 5 000 000 background rows.

    python benchmarks/trees_gpu.py [agreement] [case] [woodelf]

127 columns, of which 89 are 0 or 1, as a data set of connections has after one-hot encoding; XGBoost,
100 trees of depth 6, fitted to the first 200 000 background rows. The data are drawn on the device.
Times are wall-clock around a synchronised device, and count everything from the tensors to a
valuation in the memory of the host. Needs PyTorch on a CUDA device and XGBoost; ``woodelf`` needs
woodelf-explainer and CuPy.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import xgboost

import fairfield as ff
from fairfield.games.trees.device.tables import DeviceDiagonal, DeviceRows
from fairfield.games.trees.tables import diagonal

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ROWS, BACKGROUND, COLUMNS, NUMBERS = 3_000_000, 5_000_000, 127, 38


def drawn(rows: int, seed: int) -> torch.Tensor:
    """Rows of heavy-tailed numbers and of zeros and ones, in single precision."""
    source = torch.Generator(DEVICE).manual_seed(seed)
    table = torch.randn((rows, COLUMNS), generator=source, device=DEVICE)
    table[:, :NUMBERS] = torch.exp(table[:, :NUMBERS])
    rarity = torch.linspace(-1.5, 1.5, COLUMNS - NUMBERS, device=DEVICE)
    table[:, NUMBERS:] = (table[:, NUMBERS:] > rarity).float()
    return table


def fitted(background: torch.Tensor) -> xgboost.Booster:
    """100 trees of depth 6 on an answer with interactions of many columns."""
    X = background[:200_000].cpu().numpy()
    noise = np.random.default_rng(0)
    steep = noise.normal(size=COLUMNS)
    y = (
        np.log1p(X) @ steep
        + np.sin(3 * X[:, 0]) * X[:, 60]
        + X[:, 1] * X[:, 100]
        + X[:, 2] * X[:, 3]
    )
    known = xgboost.DMatrix(X, y + noise.normal(size=len(X)))
    return xgboost.train({"max_depth": 6}, known, num_boost_round=100)


def now() -> float:
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


@contextmanager
def stages() -> Iterator[dict[str, float]]:
    """Seconds of the stages of what is done inside, each counted for itself."""
    spent: dict[str, float] = {}

    def clocked(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            start = now()
            answer = work(*given, **named)
            spent[name] = spent.get(name, 0.0) + now() - start
            return answer

        return call

    with (
        patch.object(
            DeviceDiagonal, "count", clocked("codes of the background", DeviceDiagonal.count)
        ),
        patch.object(
            DeviceDiagonal, "look_up", clocked("codes of rows and look-ups", DeviceDiagonal.look_up)
        ),
        patch.object(
            DeviceRows,
            "block",
            clocked("(of these: reading rows as the splits do)", DeviceRows.block),
        ),
        patch.object(diagonal, "fill", clocked("tables, on the host", diagonal.fill)),
    ):
        yield spent


def case(rows: int = ROWS, size: int = BACKGROUND) -> None:
    background, explained = drawn(size, 0), drawn(rows, 1)
    model = fitted(background)
    ff.shapley(ff.TreeGame(model, explained[:5000], background[:5000]))  # compiles
    print(f"{rows:,} rows, {size:,} background rows\n\n| stage | seconds |\n|---|---|", flush=True)
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()
    held = torch.cuda.memory_allocated() if DEVICE == "cuda" else 0
    with stages() as spent:
        start = now()
        game = ff.TreeGame(model, explained, background)
        made = now()
        found = ff.shapley(game)
        end = now()
    again = ff.shapley(game)
    last = now()
    for name, seconds in {
        "reading the model, a copy of the rows to show": made - start,
        **spent,
    }.items():
        print(f"| {name} | {seconds:.2f} |")
    print(f"| **all, from tensors to the valuation** | **{end - start:.2f}** |")
    print(f"| the same game again: counts and tables are kept | {last - end:.2f} |")
    with stages():
        start = now()
        ff.banzhaf(game)
        print(f"| Banzhaf values of that game: counts are kept | {now() - start:.2f} |")
    if DEVICE == "cuda":
        most = torch.cuda.max_memory_allocated() - held
        print(f"\nDevice memory: {held / 1e9:.1f} GB of data, {most / 1e9:.1f} GB of work.")
    apart = np.abs(found.values.sum(axis=1) - (found.grand - found.empty)).max()
    print(
        f"Largest |sum of values - (F(N) - F(∅))|: {apart:.1e}; again: {(again.values == found.values).all()}."
    )


def agreement(rows: int = 20_000, size: int = 200_000) -> None:
    """Against the loops for the host, some values missing; CuPy's arrays, too."""
    import cupy

    background, explained = drawn(size, 0), drawn(rows, 1)
    model = fitted(background)
    explained[:1000, ::5] = torch.nan
    on_host = [each.cpu().numpy() for each in (explained, background)]
    print(
        f"{rows:,} rows, {size:,} background rows\n\n"
        "| where | seconds | difference from the host, relative |\n|---|---|---|"
    )
    wanted = None
    for where, tables in (
        ("the host, one thread", on_host),
        ("PyTorch", [explained, background]),
        ("CuPy", [cupy.asarray(each) for each in on_host]),
        ("PyTorch, float64", [explained.double(), background.double()]),
    ):
        ff.shapley(ff.TreeGame(model, *(each[:5000] for each in tables)))  # compiles
        start = now()
        found = ff.shapley(ff.TreeGame(model, *tables)).values
        seconds = now() - start
        wanted = found if wanted is None else wanted
        apart = np.abs(found - wanted).max() / np.abs(wanted).max()
        print(f"| {where} | {seconds:.2f} | {apart:.1e} |", flush=True)


def woodelf(rows: int = ROWS, size: int = BACKGROUND) -> None:
    """woodelf-explainer on the same data; its explainer itself stops at arrays of CuPy (0.4.8).

    What is timed is the function that it calls, and the copy of its answer to the host.
    """
    import pandas as pd
    from woodelf.core.cube_metric import ShapleyValues
    from woodelf.high_depth_woodelf import woodelf_for_high_depth

    background, explained = drawn(size, 0), drawn(rows, 1)
    model = fitted(background)
    tables = [pd.DataFrame(each.cpu().numpy()) for each in (explained, background)]
    ours = ff.shapley(ff.TreeGame(model, explained[:20_000], background)).values
    del background, explained
    torch.cuda.empty_cache()

    def theirs(some: pd.DataFrame, others: pd.DataFrame) -> np.ndarray:
        found = woodelf_for_high_depth(
            model, some, others, ShapleyValues(), GPU=True, verbose=False
        )
        values = np.zeros((len(some), COLUMNS))
        for column, own in found.items():
            values[:, column] = own.get()
        return values

    theirs(tables[0][:5000], tables[1][:5000])  # compiles
    start = now()
    values = theirs(*tables)
    print(f"woodelf-explainer, from frames on the host: {now() - start:.2f} s")
    start = now()
    there = [torch.asarray(table.to_numpy(), device=DEVICE) for table in tables]
    ff.shapley(ff.TreeGame(model, *there))
    print(f"fairfield, from the same frames: {now() - start:.2f} s")
    apart = np.abs(values[:20_000] - ours).max(axis=1)
    print(
        f"Differences over 20,000 rows, largest of a row: median {np.median(apart):.1e}, "
        f"largest {apart.max():.1e}; largest value {np.abs(ours).max():.1f}."
    )


if __name__ == "__main__":
    asked = sys.argv[1:] or ["agreement", "case", "woodelf"]
    name = torch.cuda.get_device_name() if DEVICE == "cuda" else "the host"
    print(f"{name}, PyTorch {torch.__version__}, {platform.python_version()}")
    for section in asked:
        print(f"\n## {section}\n", flush=True)
        globals()[section]()
