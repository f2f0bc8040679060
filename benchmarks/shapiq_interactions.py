"""Errors of shapiq's approximators of pair interactions: run by interactions.py.

    python shapiq_interactions.py FILE SECONDS SEEDS [GAME …]

appends lines of JSON to FILE for whatever is not in it yet, the cheapest first, and stops after
SECONDS, so that it can run in pieces.
"""

import json
import sys
import time
import warnings
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
from estimate_games import load
from interaction_games import budgets, exact

warnings.simplefilter("ignore")

import shapiq.approximator as peers  # noqa: E402  # its import warns

NAMES = {"shapley": "SII", "banzhaf": "BII", "stii": "STII", "fsii": "FSII"}
MONTE_CARLO = {
    "SHAPIQ": lambda n, s, i: peers.SHAPIQ(n, 2, i, random_state=s),
    "SHAPIQ, paired": lambda n, s, i: peers.SHAPIQ(n, 2, i, pairing_trick=True, random_state=s),
    "SVARMIQ": lambda n, s, i: peers.SVARMIQ(n, 2, i, random_state=s),
    "SVARMIQ, paired": lambda n, s, i: peers.SVARMIQ(n, 2, i, pairing_trick=True, random_state=s),
    "ProxySPEX": lambda n, s, i: peers.ProxySPEX(
        n=n, max_order=2, index=i, hpo=False, random_state=s
    ),
    "ProxySHAP": lambda n, s, i: peers.ProxySHAP(n, max_order=2, index=i, random_state=s),
    "ProxySHAP, adjusted": lambda n, s, i: peers.ProxySHAP(
        n, max_order=2, index=i, adjustment=True, random_state=s
    ),
}
OWN = {
    "shapley": {
        "KernelSHAP-IQ": lambda n, s, i: peers.KernelSHAPIQ(n, 2, i, random_state=s),
        "KernelSHAP-IQ, paired": lambda n, s, i: peers.KernelSHAPIQ(
            n, 2, i, pairing_trick=True, random_state=s
        ),
        "InconsistentKernelSHAP-IQ": lambda n, s, i: peers.InconsistentKernelSHAPIQ(
            n, 2, i, random_state=s
        ),
        "InconsistentKernelSHAP-IQ, paired": lambda n, s, i: peers.InconsistentKernelSHAPIQ(
            n, 2, i, pairing_trick=True, random_state=s
        ),
        "PermutationSamplingSII": lambda n, s, i: peers.PermutationSamplingSII(
            n, 2, i, random_state=s
        ),
    },
    "stii": {
        "PermutationSamplingSTII": lambda n, s, i: peers.PermutationSamplingSTII(
            n, 2, random_state=s
        )
    },
    "fsii": {
        "RegressionFSII": lambda n, s, i: peers.RegressionFSII(n, 2, random_state=s),
        "RegressionFSII, paired": lambda n, s, i: peers.RegressionFSII(
            n, 2, pairing_trick=True, random_state=s
        ),
    },
    # Of pairs, the faithful interaction of order 2 is Banzhaf's.
    "banzhaf": {
        "RegressionFBII": lambda n, s, i: peers.RegressionFBII(n, 2, random_state=s),
        "RegressionFBII, paired": lambda n, s, i: peers.RegressionFBII(
            n, 2, pairing_trick=True, random_state=s
        ),
    },
}
# Regressions on more columns take minutes.
MOST_COLUMNS = 2000


def methods(index: str) -> dict:
    return MONTE_CARLO | OWN[index]


def measure(game: str, budget: int, index: str, method: str, seed: int) -> dict[str, object]:
    players, worths, *_ = load(game)
    truth = exact(game, index)
    asked = 0

    def counted(S: np.ndarray) -> np.ndarray:
        nonlocal asked
        S = np.atleast_2d(S)
        asked += len(S)
        return worths(S)

    start = time.process_time()
    try:
        columns = 1 + players + comb(players, 2)
        if columns > MOST_COLUMNS and ("Kernel" in method or "Regression" in method):
            raise ValueError(f"not run: a regression on {columns} columns")
        if players >= 60 and ("SPEX" in method or "SVARM" in method):
            raise ValueError("not run: minutes a run with 60 players and more")
        found = methods(index)[method](players, seed, NAMES[index]).approximate(budget, counted)
        ours = np.array([found[pair] for pair in combinations(range(players), 2)])
        error = float(((ours - truth) ** 2).sum() / (truth**2).sum())
        failure = None if np.isfinite(error) else "not finite"
    except Exception as reason:  # the table shows which cells a peer cannot do
        error, failure = None, f"{type(reason).__name__}: {reason}"[:200]
    return {
        "game": game, "budget": budget, "index": index, "method": method, "seed": seed,
        "error": error, "failure": failure, "asked": asked,
        "seconds": time.process_time() - start,
    }  # fmt: skip


def main() -> None:
    path, seconds, seeds, games = (
        Path(sys.argv[1]),
        float(sys.argv[2]),
        int(sys.argv[3]),
        sys.argv[4:],
    )
    started = time.perf_counter()
    done = [json.loads(line) for line in path.open()] if path.exists() else []
    keys = ("game", "budget", "index", "method")
    took = {tuple(map(run.get, keys)): run["seconds"] for run in done}
    known = {(*map(run.get, keys), run["seed"]) for run in done}
    tasks = [
        (game, budget, index, method, seed)
        for seed in range(seeds)
        for index in NAMES
        for game in games
        for budget in budgets(load(game)[0])
        for method in methods(index)
        if (game, budget, index, method, seed) not in known
    ]
    tasks.sort(key=lambda task: took.get(task[:4], task[1] * load(task[0])[0] / 1000))
    with path.open("a", encoding="utf-8") as file:
        for task in tasks:
            if time.perf_counter() - started > seconds:
                return
            file.write(json.dumps(measure(*task)) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
