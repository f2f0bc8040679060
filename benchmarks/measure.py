"""Timing two things in one run and telling their ratio; measuring many, in pieces."""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path


def best(task: Callable[[], object], repeats: int = 7, warm: bool = True) -> float:
    """The shortest of several runs, in seconds: the one least disturbed by the machine."""
    if warm:
        task()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def append_missing(
    path: Path,
    seconds: float,
    names: Sequence[str],
    tasks: Iterable[tuple],
    measure: Callable[..., dict],
) -> None:
    """Add a line of JSON for each task that the file has none of, by these ``names``, for so many seconds.

    Tasks that were begun are finished; every core takes the next one.
    """
    from joblib import Parallel, delayed

    started, done = time.perf_counter(), set()
    if path.exists():
        done = {tuple(map(json.loads(line).get, names)) for line in path.open()}

    def begun() -> Iterator[tuple]:
        for task in tasks:
            if time.perf_counter() - started > seconds:
                return
            if task not in done:
                yield delayed(measure)(*task)

    workers = Parallel(
        n_jobs=-1, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered"
    )
    with path.open("a", encoding="utf-8") as file:
        for found in workers(begun()):
            file.write(json.dumps(found) + "\n")
            file.flush()


def show(title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A Markdown table."""
    print(f"\n### {title}\n")
    names = list(columns)
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        cells = (f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row)
        print("| " + " | ".join(cells) + " |")


def machine() -> str:
    """What the figures were measured on, as far as a file tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(line.split(":")[1].strip() for line in file if "model name" in line)
    except (OSError, StopIteration):
        model = "unknown processor"
    return f"{model}, {os.cpu_count()} cores"
