"""Timing two things in one run and telling their ratio; measuring many, in pieces."""

import csv
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


def read_runs(path: Path) -> list[dict]:
    """What was measured so far: lines of JSON, or the rows of a table with numbers as numbers."""
    if not path.exists():
        return []
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.open(encoding="utf-8")]
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _read(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _read(text: str) -> object:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text or None


def append_missing(
    path: Path,
    seconds: float,
    names: Sequence[str],
    tasks: Iterable[tuple],
    measure: Callable[..., dict],
) -> None:
    """Add a row for each task that a table has none of, by these ``names``, for so many seconds.

    Tasks that were begun are finished; every core takes the next one.
    """
    from joblib import Parallel, delayed

    started, known = time.perf_counter(), read_runs(path)
    done = {tuple(map(run.get, names)) for run in known}

    def begun() -> Iterator[tuple]:
        for task in tasks:
            if time.perf_counter() - started > seconds:
                return
            if task not in done:
                yield delayed(measure)(*task)

    workers = Parallel(
        n_jobs=-1, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        for row, found in enumerate(workers(begun()), len(known)):
            if not row:
                table.writerow(found)
            table.writerow(_short(each) for each in found.values())
            file.flush()


def _short(value: object) -> object:
    """Four digits of what is measured."""
    return f"{value:.4g}" if isinstance(value, float) else value


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
