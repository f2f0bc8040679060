"""The public comparison of data valuations: which finds bad rows, which orders rows well, at what cost.

    python -m benchmarks.comparison            four data sets, two seeds, 500 fits: minutes
    python -m benchmarks.comparison --full [SECONDS]    all of it, and docs/data-comparison.md anew

Everything computed is kept in benchmarks/.cache/comparison.jsonl, from which a run goes on; SECONDS (36000)
end it early. Numbers are the same in every run, processor times are not. pyDVL runs in its own
environment, that of the Python named by FAIRFIELD_PYDVL_PYTHON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from benchmarks.comparison import page
from benchmarks.comparison.cases import HERE, SETS
from benchmarks.comparison.ours import values
from benchmarks.comparison.scores import Results, collect
from benchmarks.comparison.store import Job, fill, lacking
from benchmarks.comparison.words import HEADINGS
from fairfield.evaluation.workers import one_blas_thread

CACHE = Path(os.environ.get("FAIRFIELD_CACHE", HERE / ".cache"))
SEEDS = range(5)
QUICK = ("breast cancer", "wine", "moons", "classification")
# What is compared: library, method and its fits.
CHEAP = (
    ("fairfield", "neighbours, Shapley", 0),
    ("fairfield", "neighbours, Banzhaf", 0),
    ("fairfield", "neighbours, index", 0),
    ("fairfield", "leave-one-out", 0),  # n + 2 fits
    ("baseline", "out-of-fold margins", 10),
    ("baseline", "random order", 0),
    ("pyDVL", "KNN-Shapley", 0),
)
FEW = (
    ("fairfield", "Banzhaf", 500),
    ("baseline", "AME", 500),
    ("baseline", "Data Banzhaf, sample reuse", 500),
    ("pyDVL", "TMC-Shapley", 500),
    ("pyDVL", "Beta-Shapley", 500),
)
MORE = (
    ("fairfield", "Shapley", 500),
    ("fairfield", "index of clusters", 500),
    ("fairfield", "Shapley of clusters", 500),
    ("fairfield", "Banzhaf of clusters", 500),
    ("baseline", "out-of-fold margins", 500),
    ("pyDVL", "Data-OOB", 500),
)
BY_ACCURACY = (
    ("fairfield", "leave-one-out, accuracy", 0),
    ("fairfield", "Banzhaf, accuracy", 500),
    ("pyDVL", "TMC-Shapley, accuracy", 500),
)
MANY = (
    ("fairfield", "Shapley", 2000),
    ("fairfield", "Banzhaf", 2000),
    ("fairfield", "index of clusters", 2000),
    ("baseline", "AME", 2000),
    ("baseline", "Data Banzhaf, sample reuse", 2000),
    ("pyDVL", "TMC-Shapley", 2000),
    ("pyDVL", "Beta-Shapley", 2000),
    ("pyDVL", "Data-OOB", 2000),
)
SLOW = (("pyDVL", "Data Banzhaf", 500),)


def stages(full: bool) -> Iterator[list[Job]]:
    """What is computed, stage by stage, so that a run cut short has whole tables."""
    seeds, sets = (SEEDS, SETS) if full else (SEEDS[:2], QUICK)
    plan = [(kind, methods) for methods in (CHEAP, FEW, MORE) for kind in ("labels", "shift")]
    plan += [("labels", BY_ACCURACY)]
    if full:
        plan += [("labels", MANY), ("labels", SLOW)]
    for kind, methods in plan:
        yield [
            Job(data, kind, seed, *method) for seed in seeds for data in sets for method in methods
        ]


def measure(store: Path, jobs: list[Job], seconds: float) -> None:
    """Computes what the store does not have of these jobs."""
    started = time.perf_counter()
    with one_blas_thread():
        fill(store, seconds, [job for job in jobs if job.library != "pyDVL"], values)
    python = os.environ.get("FAIRFIELD_PYDVL_PYTHON")
    theirs = [job for job in jobs if job.library == "pyDVL"]
    left = seconds - (time.perf_counter() - started)
    if python and theirs and left > 0:
        subprocess.run(
            [python, "-m", "benchmarks.comparison.pydvl_values", str(store.resolve()), str(left)],
            cwd=HERE.parent, input=json.dumps(theirs), text=True, check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip


def whole(store: Path, jobs: list[Job]) -> list[Job]:
    """These jobs if all of the cheap ones are in the store, else those of the quick run."""
    if any(job[3:] in CHEAP for job in lacking(store, jobs)):
        return [job for some in stages(False) for job in some]
    return jobs


def show(results: Results) -> None:
    """The tables of the quick run."""
    print(f"# Data valuations compared\n\n{len(results.sets)} data sets, {results.seeds} seeds.")
    for task, found in results.scores.items():
        if found:
            print(f"\n### {HEADINGS[task]}\n")
            print("\n".join(page.task_table(results, task)))


def main() -> None:
    warnings.simplefilter("ignore")  # that 500 fits are few for so many rows
    full = sys.argv[1:2] == ["--full"]
    ends = time.perf_counter() + float(sys.argv[2] if len(sys.argv) > 2 else 36_000)
    CACHE.mkdir(exist_ok=True)
    store = CACHE / "comparison.jsonl"
    for jobs in stages(full):
        measure(store, jobs, ends - time.perf_counter())
    wanted = [job for jobs in stages(full) for job in jobs]
    if full:
        print(
            f"{len(lacking(store, wanted))} of {len(wanted)} valuations are missing",
            file=sys.stderr,
        )
        page.write(collect(store, whole(store, wanted)), HERE.parent / "docs")
    else:
        show(collect(store, wanted))


if __name__ == "__main__":
    main()
