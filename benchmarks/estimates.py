"""Estimates under a budget beside every approximator of shapiq and samplers of pyDVL.

    python benchmarks/estimates.py [SECONDS]
    python benchmarks/estimates.py bookkeeping

Both run where shapiq 1.8 is installed. The first measures what is missing for at most SECONDS per
library (3600; 0: nothing), keeps every run of ours in benchmarks/runs and of peers in benchmarks/.cache, and writes
estimates.md. Peers that have fewer runs there than on the page keep the errors of the page: these depend on no
code of ours, and take hours. Delete benchmarks/runs/estimates.csv to measure ours anew.
The second measures time per evaluation alone.

Errors are Σ(value - exact)²/Σ exact², means over seeds, at equal numbers of evaluations; below 1e-20
they are rounding and count as 1e-20. The trivial answer is an equal share of F(N) - F(∅) for Shapley
and 0 for Banzhaf. The default sampler was chosen on the first half of the games; the second half was
held out, but for two rules: that single players come early in Banzhaf's design, and that sizes are looked at
again as draws go on, were prompted by cluster_bike_n12, whose worths of single players reach 2.6e39. Peers have ten seeds in games of up to 30
players, two to ten in larger ones, or as many as stand beside an error in brackets; the best of a cell is the
luckiest of up to 24, which flatters peers.
"""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from io import StringIO
from math import exp, log
from pathlib import Path

import numpy as np
from estimate_games import (
    CACHE,
    CHOSEN_ON,
    HELD_OUT,
    RUNS,
    Worths,
    budgets,
    cells,
    load,
    trivial,
)
from measure import machine, read_runs, show

import fairfield as ff

# Smaller errors count as this, and below the second one as exact.
FLOOR, EXACT = 1e-20, 1e-12
PAGE, OURS = Path(__file__).with_suffix(".md"), RUNS / "estimates.csv"
SEEDS, EVERY = 10, "every peer"
# Players, and numbers of evaluations that bookkeeping is timed at.
BOOKED = {14: (64, 512, 10_000), 100: (512, 10_000), 1000: (2048, 10_000)}
Table = dict[tuple[str, str, int], dict[str, list[float]]]


def measured(seconds: float) -> dict[str, list[dict]]:
    """All runs so far, after measuring some more."""
    CACHE.mkdir(exist_ok=True)
    here = os.path.dirname(os.path.abspath(__file__))
    other, torch = map(os.environ.get, ("FAIRFIELD_PYDVL_PYTHON", "FAIRFIELD_SHAPLEIG_PYTHON"))
    tasks = {
        "ours": [sys.executable, "our_estimates.py", "10"],
        "shapiq": [sys.executable, "shapiq_estimates.py", "10"],
        "shapleig": [torch, "shapiq_estimates.py", "3", "ShaplEIG"] if torch else None,
        "pydvl": [other, "pydvl_estimates.py", "10"] if other else None,
    }
    runs = {}
    for name, task in tasks.items():
        path = OURS if name == "ours" else CACHE / f"{name}.jsonl"
        if task is not None and seconds > 0:
            python, script, *rest = task
            command = [python, script, str(path), str(seconds), *rest]
            subprocess.run(command, cwd=here, check=True)
        runs[name] = read_runs(path)
    return runs


def by_cell(runs: list[dict]) -> Table:
    table: Table = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if run["error"] is not None and np.isfinite(run["error"]):
            cell = (run["value"], run["game"], run["budget"])
            table[cell][run["method"]].append(max(run["error"], FLOOR))
    return table


def with_those_on_the_page(peers: Table) -> Table:
    """The peers' errors, those of the page where fewer seeds were run here: it says how many, if not ten."""
    for part in PAGE.read_text(encoding="utf-8").split("\n### ")[1:]:
        title, _, text = part.partition("\n\n")
        value, _, what = title.partition(": ")
        if what != EVERY:
            continue
        (_, _, _, *names), _, *rows = (
            [each.strip() for each in line.split("|")[1:-1]]
            for line in text.split("\n\n")[0].splitlines()
        )
        for game, budget, _, *errors in rows:
            found = peers[value, game, int(budget)]
            for name, shown in zip(names, errors, strict=True):
                error, _, seeds = shown.rstrip(")").partition(" (")
                kept = [float(error)] * int(seeds or SEEDS) if error else []
                if len(kept) > len(found.get(name, ())):
                    found[name] = kept
    return peers


def mean(errors: list[float]) -> float:
    return sum(errors) / len(errors)


def geometric(numbers: list[float]) -> float:
    return exp(sum(map(log, numbers)) / len(numbers)) if numbers else float("nan")


def all_cells(ours: Table, peers: Table) -> list[tuple[str, str, int]]:
    return [
        (value, game, budget)
        for value in ("shapley", "banzhaf")
        for game, budget in cells()
        if "auto" in ours[value, game, budget] and peers[value, game, budget]
    ]


def cell_rows(ours: Table, peers: Table) -> list[tuple[object, ...]]:
    rows = []
    for cell in all_cells(ours, peers):
        found = {name: mean(errors) for name, errors in peers[cell].items()}
        first = min(found, key=found.__getitem__)
        auto = mean(ours[cell]["auto"])
        plain = [
            f"{mean(ours[cell][name]):.1e}" if ours[cell][name] else ""
            for name in ("regression", "permutation")
        ]
        half = "chosen on" if cell[1] in CHOSEN_ON else "held out"
        seeds = len(ours[cell]["auto"])
        rows.append(
            (*cell, half, seeds, f"{auto:.1e}", *plain, f"{found[first]:.1e}", first, auto / found[first])
        )  # fmt: skip
    return rows


def method_rows(ours: Table, peers: Table, value: str, games: tuple[str, ...]) -> list[tuple]:
    """The geometric mean of every peer beside ours on the same cells."""
    chosen = [cell for cell in all_cells(ours, peers) if cell[0] == value and cell[1] in games]
    names = sorted({name for cell in chosen for name in peers[cell]})
    rows = []
    for name in names:
        common = [cell for cell in chosen if name in peers[cell]]
        theirs = geometric([mean(peers[cell][name]) for cell in common])
        auto = geometric([mean(ours[cell]["auto"]) for cell in common])
        # Cells that somebody knows up to rounding say little of the others.
        open_cells = [
            (mean(peers[cell][name]), mean(ours[cell]["auto"]))
            for cell in common
            if min(mean(peers[cell][name]), mean(ours[cell]["auto"])) > 1e3 * FLOOR
        ]
        elsewhere = geometric([a / b for a, b in open_cells])
        rows.append((name, len(common), f"{theirs:.1e}", f"{auto:.1e}", theirs / auto, elsewhere))
    return sorted(rows, key=lambda row: row[-1])


def budget_rows(ours: Table, peers: Table, value: str, runs: list[dict]) -> list[tuple]:
    """By budget and half of the games: ours over the best peer of each cell, over the trivial; coverage."""
    rows, covered = [], defaultdict(list)
    for run in runs:
        if run["method"] == "auto" and run["error"] is not None:
            covered[run["value"], run["game"], run["budget"]].append(run["covered"])
    for half, games in (("held out", HELD_OUT), ("chosen on", CHOSEN_ON)):
        for name in ("2n+2", "3n", "5n", "10n", "20n", "100n"):
            found = [
                (value, game, budgets(load(game)[0])[name])
                for game in games
                if name in budgets(load(game)[0])
            ]
            found = [cell for cell in found if "auto" in ours[cell] and peers[cell]]
            if not found:
                continue
            own = [mean(ours[cell]["auto"]) for cell in found]
            best = [min(map(mean, peers[cell].values())) for cell in found]
            ratios = [a / b for a, b in zip(own, best, strict=True)]
            equal = [a / trivial(cell[1], value) for a, cell in zip(own, found, strict=True)]
            near = sum(ratio <= 1.2 for ratio in ratios) / len(ratios)
            apart = [a / b for a, b in zip(own, best, strict=True) if min(a, b) > EXACT]
            held = mean([mean(covered[cell]) for cell in found])
            rows.append(
                (half, name, len(found), geometric(ratios), geometric(apart), f"{near:.0%}", max(ratios), max(equal),
                 f"{held:.3f}")
            )  # fmt: skip
    return rows


def reasons(runs: list[dict]) -> list[tuple[str, str]]:
    """Why peers could not do a cell: first sentences, without places and times."""
    found = {}
    for run in runs:
        if run["failure"]:
            line = run["failure"].splitlines()[0]
            line = re.sub(r"\[[\d:]+\] |\S*/\S+: ", "", line).removeprefix("ValueError: ")
            found.setdefault((run["method"], line), set()).add(run["game"])
    return [(*key, ", ".join(sorted(games))) for key, games in sorted(found.items())]


def every_error(ours: Table, peers: Table, value: str) -> tuple[list[str], list[tuple]]:
    chosen = [cell for cell in all_cells(ours, peers) if cell[0] == value]
    names = sorted({name for cell in chosen for name in peers[cell]})
    rows = [
        (cell[1], cell[2], f"{mean(ours[cell]['auto']):.1e}",
         *(with_seeds(peers[cell].get(name, [])) for name in names))
        for cell in chosen
    ]  # fmt: skip
    return names, rows


def with_seeds(errors: list[float]) -> str:
    """Their mean, and how many there are, if not as many as there should be."""
    few = f" ({len(errors)})" if len(errors) < SEEDS else ""
    return f"{mean(errors):.1e}{few}" if errors else ""


def bookkeeping() -> list[tuple]:
    """Processor time per evaluation, in microseconds, of a game that costs nothing."""
    rows = []
    for players, budgets_of in BOOKED.items():
        slopes = np.arange(float(players))

        def worth(S: np.ndarray, slopes: np.ndarray = slopes) -> np.ndarray:
            return np.sqrt(np.atleast_2d(np.asarray(S, dtype=float)) @ slopes)

        for name, task in booked(worth, players).items():
            taken = []
            for budget in budgets_of:
                try:
                    task(budget=budgets_of[0])  # imports and compiles
                    start = time.process_time()
                    task(budget=budget)
                    taken.append(1e6 * (time.process_time() - start) / budget)
                except Exception as reason:  # the table shows what a peer cannot do
                    taken.append(type(reason).__name__)
            rows += [
                (players, budget, name, each)
                for budget, each in zip(budgets_of, taken, strict=True)
            ]
    return sorted(rows, key=lambda row: row[:2])


def booked(worth: Worths, players: int) -> dict[str, Callable[..., object]]:
    """Our samplers, and the peers that are there, on a game."""
    tasks: dict[str, Callable[..., object]] = {
        f"{criterion.__name__}, {sampler}": partial(
            criterion, worth, players=players, sampler=sampler
        )
        for criterion in (ff.shapley, ff.banzhaf)
        for sampler in ("regression", "permutation", "auto")
    }
    tasks["variational_index, auto"] = partial(ff.variational_index, worth, players=players)
    with contextlib.suppress(ImportError):
        import shapiq.approximator as peers

        for name in ("KernelSHAP", "LeverageSHAP", "PermutationSamplingSV", "OddSHAP"):
            if hasattr(peers, name):  # younger than shapiq on Python 3.11
                peer = getattr(peers, name)(players, random_state=0)
                tasks[f"shapiq {name}"] = partial(peer.approximate, game=worth)
    return tasks


def show_bookkeeping() -> None:
    show(
        "Bookkeeping: a game of no cost (bar 50 at n = 100, m = 10 000 without a surrogate)",
        ("players", "evaluations", "what", "µs per evaluation"),
        bookkeeping(),
    )


def main() -> None:
    if sys.argv[1:] == ["bookkeeping"]:
        show_bookkeeping()
        return
    runs = measured(float(sys.argv[1]) if len(sys.argv) > 1 else 3600)
    page = StringIO()
    with contextlib.redirect_stdout(page):
        show_all(runs)
    PAGE.write_text(page.getvalue(), encoding="utf-8")


def show_all(runs: dict[str, list[dict]]) -> None:
    others = runs["shapiq"] + runs["shapleig"] + runs["pydvl"]
    ours, peers = by_cell(runs["ours"]), with_those_on_the_page(by_cell(others))
    print("# Estimates under a budget\n")
    print(__doc__.split("\n\n", 3)[3].strip(), f"\n\n{machine()}.")
    fewest = min(len(errors["auto"]) for cell, errors in ours.items() if "auto" in errors)
    print(f"\nOurs has at least {fewest} seeds in every cell.")
    rows = cell_rows(ours, peers)
    for half, games in (("held out", HELD_OUT), ("chosen on", CHOSEN_ON)):
        ratios = [row[-1] for row in rows if row[3] == half]
        if ratios:
            near = sum(ratio <= 1.2 for ratio in ratios) / len(ratios)
            print(
                f"\nGames {half}: best or within 1.2 × of the best of all peers on {near:.0%} of "
                f"{len(ratios)} cells (bar 85 %); worst cell {max(ratios):.2f} × the best (bar 2)."
            )
        for value in ("shapley", "banzhaf"):
            show(
                f"{value}, games {half}: geometric means on common cells",
                (
                    "peer",
                    "cells",
                    "its error",
                    "ours (auto)",
                    "ratio (bar 1)",
                    "where neither is exact",
                ),
                method_rows(ours, peers, value, games),
            )
    for value in ("shapley", "banzhaf"):
        show(
            f"{value}: ours over the best peer of each cell, by budget",
            (
                "games",
                "budget",
                "cells",
                "geometric mean (bar .7 at 3n, 5n)",
                "where neither is exact",
                "within 1.2 × (bar 85 %)",
                "worst (bar 2)",
                "worst over trivial (bar 1.05)",
                "95 % intervals that hold",
            ),
            budget_rows(ours, peers, value, runs["ours"]),
        )
    show_bookkeeping()
    show(
        "Every cell beside the best peer of it",
        ("value", "game", "budget", "half", "seeds", "auto", "regression", "permutation",
         "best peer", "which", "ratio"),
        rows,
    )  # fmt: skip
    for value in ("shapley", "banzhaf"):
        names, table = every_error(ours, peers, value)
        show(f"{value}: {EVERY}", ("game", "budget", "auto", *names), table)
    show(
        "What peers could not do",
        ("peer", "why", "games"),
        reasons(others),
    )


if __name__ == "__main__":
    main()
