"""The table engine on a GPU: time, bytes moved, and share of the copy bandwidth.

    python benchmarks/gpu.py [exactness] [sizes] [batch] [function] [others]

Times are wall-clock around a synchronised device, medians of repeats, everything included:
weights made on the host, transfers, the assembly of the result. The bytes moved are those of
the table, once for each time it is read. Needs PyTorch on a CUDA device; ``others`` needs
CuPy and JAX.
"""

from __future__ import annotations

import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import fairfield as ff
from fairfield.multilinear import size_weights as by_size
from fairfield.multilinear.table import TableExtension

SIZES = [(n, "float64") for n in (24, 28, 30, 32, 33)] + [(n, "float32") for n in (30, 33, 34)]


def timed(work: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    """Median seconds of the work on an idle device, and its answer; the first run is not counted."""
    seconds, answer = [], work()
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        answer = work()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), answer


def copy_bandwidth() -> float:
    """Bytes read and written per second by a plain copy of 8 GB on the device."""
    source = torch.ones(2**30, dtype=torch.float64, device="cuda")
    target = torch.empty_like(source)
    seconds, _ = timed(lambda: target.copy_(source))
    return 2 * 2**33 / seconds


def random_table(n: int, dtype: str, seed: int = 0) -> torch.Tensor:
    """Standard normal worths, drawn on the device."""
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randn(2**n, dtype=getattr(torch, dtype), device="cuda", generator=generator)


def readings(game: ff.TableGame) -> dict[str, tuple[Callable[[], Any], Callable[[Any], int]]]:
    """What is measured: the work, and how often it reads the table."""
    extension = TableExtension.of(game)
    x = np.random.default_rng(1).random(len(game.players))
    weights = by_size.shapley_weights(len(game.players), order=2)
    temperature = 1.0

    def log_z() -> Any:
        law = ff.Boltzmann(game, temperature)
        return law.log_z, law.marginals

    return {
        "gradient": (lambda: extension.gradient(x), lambda _: 1),
        "Shapley": (extension.shapley, lambda _: 2),
        "variational index": (
            lambda: ff.variational_index(game, temperature=temperature, decoupling=False),
            lambda found: found.steps + 2,
        ),
        "log Z and marginals": (log_z, lambda _: 1),
        "Banzhaf pairs": (lambda: extension.hessian(np.full_like(x, 0.5)), lambda _: 2),
        "Shapley pairs": (lambda: by_size.pair_semivalue(extension, weights), lambda _: 2),
    }


def sizes(chosen: Sequence[tuple[int, str]] = SIZES) -> None:
    copy = copy_bandwidth()
    print(f"Copy bandwidth: {copy / 1e12:.2f} TB/s (read and written).\n")
    print("| n | table | reading | ms | GB moved | TB/s | share of copy |")
    print("|---|---|---|---|---|---|---|")
    for n, dtype in chosen:
        table = random_table(n, dtype)
        game = ff.TableGame(table)
        size = table.element_size() * 2**n
        for name, (work, passes) in readings(game).items():
            seconds, answer = timed(work, 5 if n < 32 else 3)
            moved = passes(answer) * size
            rate = moved / seconds
            print(
                f"| {n} | {dtype} | {name} | {1e3 * seconds:.2f} | {moved / 1e9:.3g} | "
                f"{rate / 1e12:.2f} | {100 * rate / copy:.0f} % |",
                flush=True,
            )
        del table, game, work
        torch.cuda.empty_cache()


def exactness() -> None:
    """Against float64 NumPy at n = 20, on fresh tables."""
    print("| table | reading | largest error, relative |")
    print("|---|---|---|")
    for dtype in ("float64", "float32"):
        worst: dict[str, float] = {}
        for seed in range(3):
            table = random_table(20, dtype, seed)
            host = table.cpu().numpy().astype(float)
            ours, theirs = readings(ff.TableGame(table)), readings(ff.TableGame(host))
            for name in ours:
                found, wanted = (_numbers(each[name][0]()) for each in (ours, theirs))
                error = np.abs(found - wanted).max() / np.abs(wanted).max()
                worst[name] = max(worst.get(name, 0.0), float(error))
        for name, error in worst.items():
            print(f"| {dtype} | {name} | {error:.1e} |", flush=True)


def _numbers(answer: Any) -> np.ndarray:
    if isinstance(answer, ff.Valuation):
        answer = answer.values
    parts = answer if isinstance(answer, tuple) else (answer,)
    return np.concatenate([np.ravel(part) for part in parts])


def batch() -> None:
    """One table per explained row of a data set the size of Adult."""
    host = np.random.default_rng(0).standard_normal((32_561, 2**12))
    table = torch.asarray(host, device="cuda")
    on_device, found = timed(lambda: ff.variational_index(table, temperature=1.0), 3)
    start = time.perf_counter()
    wanted = ff.variational_index(host, temperature=1.0)
    on_host = time.perf_counter() - start
    apart = np.abs(found.values - wanted.values).max()
    print("| 32 561 tables of 12 players, variational index with log Z | seconds |")
    print("|---|---|")
    print(f"| GPU | {on_device:.2f} |\n| NumPy, same machine | {on_host:.2f} |")
    print(f"\nRatio {on_host / on_device:.1f}; largest difference {apart:.1e}.")


def function() -> None:
    """A worth function on the device: pairs of players, all 2^n coalitions of them."""
    print("| n | fill the table, s | variational index of it, ms | its steps |\n|---|---|---|---|")
    for n in (24, 28, 30):
        pairs = torch.randn((n, n), device="cuda", dtype=torch.float64)

        def worths(coalitions: torch.Tensor, pairs: torch.Tensor = pairs) -> torch.Tensor:
            inside = coalitions.to(torch.float64)
            return ((inside @ pairs) * inside).sum(dim=1)

        game = ff.FunctionGame(worths, n, device="cuda")
        fill, table = timed(lambda game=game: game.table(), 1)
        full = ff.TableGame(table)
        index, found = timed(lambda full=full: ff.variational_index(full, decoupling=False), 3)
        print(f"| {n} | {fill:.3f} | {1e3 * index:.1f} | {found.steps} |", flush=True)


def others() -> None:
    """CuPy and JAX at n = 28: the same code, the same numbers."""
    import cupy
    import jax

    jax.config.update("jax_enable_x64", True)
    table = random_table(28, "float64")
    wanted = {name: _numbers(work()) for name, (work, _) in readings(ff.TableGame(table)).items()}
    host = table.cpu().numpy()
    del table
    torch.cuda.empty_cache()
    print("| library | reading | ms | difference from PyTorch |\n|---|---|---|---|")
    for name, array in (("CuPy", cupy.asarray), ("JAX", jax.numpy.asarray)):
        game = ff.TableGame(array(host))
        for reading, (work, _) in readings(game).items():
            seconds, answer = timed(work, 3)
            apart = np.abs(_numbers(answer) - wanted[reading]).max()
            print(f"| {name} | {reading} | {1e3 * seconds:.2f} | {apart:.1e} |", flush=True)


if __name__ == "__main__":
    asked = sys.argv[1:] or ["exactness", "sizes", "batch", "function", "others"]
    print(
        f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {platform.python_version()}"
    )
    for section in asked:
        print(f"\n## {section}\n", flush=True)
        globals()[section]()
