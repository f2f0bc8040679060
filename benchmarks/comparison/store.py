"""What the public comparison has computed so far: lines of JSON, one for each case and method."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.comparison.cases import Case, make_case


class Found(NamedTuple):
    """The values of the training rows, and how many models were fitted for them."""

    values: Any
    fits: int


class Job(NamedTuple):
    """One valuation: of a data set with what was done to it, by a method with so many fits."""

    data: str
    kind: str
    seed: int
    library: str
    method: str
    fits: int


Key = tuple[Any, ...]
# Raised when a method or the model is changed: what was computed before counts no longer.
EDITION = 1


def read(path: str | Path) -> dict[Key, dict[str, Any]]:
    """Every valuation in a store, by its job and the digest of its case."""
    if not Path(path).exists():
        return {}
    found = {}
    with open(path, encoding="utf-8") as file:
        for text in file:
            if text.endswith("\n"):  # a run that was killed may leave half a line
                line = json.loads(text)
                found[(*line["job"], line["case"], line["edition"])] = line
    return found


def key_of(job: Job, case: Case) -> Key:
    return (*job, case.digest(), EDITION)


def whole_lines(path: str | Path) -> None:
    """Cuts off half a line that a killed run left at the end of a store."""
    text = Path(path).read_bytes() if Path(path).exists() else b""
    if text and not text.endswith(b"\n"):
        Path(path).write_bytes(text[: text.rfind(b"\n") + 1])


def cases_of(jobs: Iterable[Job]) -> Iterator[tuple[Job, Case]]:
    """Each job with its case, made once for jobs that follow each other; without absent data sets."""
    case, of = None, None
    for job in jobs:
        if of != job[:3]:
            case, of = make_case(*job[:3]), job[:3]
        if case is not None:
            yield job, case


def lacking(path: str | Path, jobs: Iterable[Job]) -> list[Job]:
    """The jobs that a store does not have."""
    have = read(path)
    return [job for job, case in cases_of(jobs) if key_of(job, case) not in have]


def fill(
    path: str | Path,
    seconds: float,
    jobs: Iterable[Job],
    value: Callable[[Case, Job], Found],
) -> bool:
    """Appends the jobs that a store does not have, for at most so many seconds; True if all are there."""
    whole_lines(path)
    have, started = read(path), time.perf_counter()
    with open(path, "a", encoding="utf-8") as file:
        for job, case in cases_of(jobs):
            if key_of(job, case) in have:
                continue
            if time.perf_counter() - started > seconds:
                return False
            before = time.process_time()
            found = value(case, job)
            line = {
                "job": job,
                "case": case.digest(),
                "edition": EDITION,
                "fits": found.fits,
                "seconds": round(time.process_time() - before, 3),
                "values": [float(f"{each:.9g}") for each in found.values],
            }
            file.write(json.dumps(line) + "\n")
            file.flush()
    return True
