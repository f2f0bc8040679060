"""Errors of shapiq's approximators: run by estimates.py in the environment of peers.

    python shapiq_estimates.py FILE SECONDS [SEEDS [METHOD …]]

appends lines of JSON (game, budget, value, method, seed, relative squared error, seconds) to
FILE for whatever is not in it yet, and stops after SECONDS, so that it can run in pieces. ShaplEIG, which
needs PyTorch, runs only where it is named.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from math import comb
from pathlib import Path

import numpy as np
from estimate_games import cells, load

warnings.simplefilter("ignore")

import shap  # noqa: E402
import shapiq.approximator as peers  # noqa: E402  # its import warns
from shapiq.approximator.regression.kadd_shap import kADDSHAP  # noqa: E402


class ShapPermutation:
    """shap's antithetic permutations, as if a coalition were a row of zeros and ones."""

    def __init__(self, players: int, seed: int) -> None:
        self.players, self.seed = players, seed

    def approximate(self, budget: int, worths: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        explainer = shap.explainers.Permutation(
            lambda Z: worths(Z > 0.5), np.zeros((1, self.players)), seed=self.seed
        )
        return explainer(np.ones((1, self.players)), max_evals=budget, silent=True).values[0]


class ShapKernel(ShapPermutation):
    """shap's KernelExplainer without its default selection of ten features."""

    def approximate(self, budget: int, worths: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        np.random.seed(self.seed)  # noqa: NPY002  # shap has no other way
        explainer = shap.KernelExplainer(lambda Z: worths(Z > 0.5), np.zeros((1, self.players)))
        # It evaluates both ends besides.
        return explainer.shap_values(
            np.ones((1, self.players)), nsamples=budget - 2, l1_reg=False, silent=True
        )[0]


SHAPLEY = {
    "shap Permutation": ShapPermutation,
    "shap Kernel": ShapKernel,
    "Permutation": lambda n, s: peers.PermutationSamplingSV(n, random_state=s),
    "Stratified": lambda n, s: peers.StratifiedSamplingSV(n, random_state=s),
    "Owen": lambda n, s: peers.OwenSamplingSV(n, random_state=s),
    "SVARM": lambda n, s: peers.SVARM(n, random_state=s),
    "SVARM, paired": lambda n, s: peers.SVARM(n, random_state=s, pairing_trick=True),
    "UnbiasedKernelSHAP": lambda n, s: peers.UnbiasedKernelSHAP(n, random_state=s),
    "UnbiasedKernelSHAP, paired": lambda n, s: peers.UnbiasedKernelSHAP(
        n, random_state=s, pairing_trick=True
    ),
    "KernelSHAP": lambda n, s: peers.KernelSHAP(n, random_state=s),
    "KernelSHAP, paired": lambda n, s: peers.KernelSHAP(n, random_state=s, pairing_trick=True),
    "LeverageSHAP": lambda n, s: peers.LeverageSHAP(n, random_state=s),
    "kADDSHAP, paired": lambda n, s: kADDSHAP(n, random_state=s, pairing_trick=True),
    "PolySHAP, order 2": lambda n, s: peers.PolySHAP(n, random_state=s, max_order=2),
    "PolySHAP, order 3": lambda n, s: peers.PolySHAP(n, random_state=s, max_order=3),
    "OddSHAP": lambda n, s: peers.OddSHAP(n, random_state=s),
    "RegressionMSR": lambda n, s: peers.RegressionMSR(n, "SV", random_state=s),
    "ProxySHAP": lambda n, s: peers.ProxySHAP(n, max_order=1, index="SV", random_state=s),
    "ProxySHAP, adjusted": lambda n, s: peers.ProxySHAP(
        n, max_order=1, index="SV", adjustment=True, random_state=s
    ),
    "ProxySPEX": lambda n, s: peers.ProxySPEX(
        n=n, max_order=1, index="SV", hpo=False, random_state=s
    ),
    "KernelSHAP-IQ": lambda n, s: peers.KernelSHAPIQ(n, max_order=2, index="SII", random_state=s),
    "RegressionFSII": lambda n, s: peers.RegressionFSII(n, max_order=1, random_state=s),
    "ShaplEIG": lambda n, s: peers.ShaplEIG(n, random_state=s, show_progress=False),
}
BANZHAF = {
    "SVARM": lambda n, s: peers.SVARM(n, "BV", random_state=s),
    "SVARM, paired": lambda n, s: peers.SVARM(n, "BV", random_state=s, pairing_trick=True),
    "SHAPIQ": lambda n, s: peers.SHAPIQ(n, max_order=1, index="BV", random_state=s),
    "SHAPIQ, paired": lambda n, s: peers.SHAPIQ(
        n, max_order=1, index="BV", random_state=s, pairing_trick=True
    ),
    "RegressionFBII": lambda n, s: peers.RegressionFBII(n, max_order=1, random_state=s),
    "RegressionFBII, paired": lambda n, s: peers.RegressionFBII(
        n, max_order=1, random_state=s, pairing_trick=True
    ),
    "RegressionMSR": lambda n, s: peers.RegressionMSR(n, "BV", random_state=s),
    "ProxySHAP": lambda n, s: peers.ProxySHAP(n, max_order=1, index="BV", random_state=s),
    "ProxySHAP, adjusted": lambda n, s: peers.ProxySHAP(
        n, max_order=1, index="BV", adjustment=True, random_state=s
    ),
    "ProxySPEX": lambda n, s: peers.ProxySPEX(
        n=n, max_order=1, index="BV", hpo=False, random_state=s
    ),
}
VALUES = {"shapley": SHAPLEY, "banzhaf": BANZHAF}
# The order of the interactions a peer regresses on: beyond so many columns it takes minutes.
ORDERS = {"PolySHAP, order 3": 3, "PolySHAP, order 2": 2, "kADDSHAP, paired": 2, "KernelSHAP-IQ": 2}
MOST_COLUMNS = 2000
# n²m, which a run of SVARM takes time for: two minutes from here on.
SLOWEST = 2.7e8
# ShaplEIG takes half a second an evaluation: run up to so many players and evaluations of each.
FEW_PLAYERS, FEW = 20, 3


def measure(game: str, budget: int, value: str, method: str, seed: int) -> dict[str, object]:
    players, worths, shapley, banzhaf = load(game)
    exact = shapley if value == "shapley" else banzhaf
    asked = 0

    def counted(S: np.ndarray) -> np.ndarray:
        nonlocal asked
        S = np.atleast_2d(S)
        asked += len(S)
        return worths(S)

    start = time.perf_counter()
    columns = sum(comb(players, k) for k in range(ORDERS.get(method, 0) + 1))
    try:
        if columns > MOST_COLUMNS:
            raise ValueError(f"not run: a regression on {columns} columns")
        if method == "ShaplEIG" and (players > FEW_PLAYERS or budget > FEW * players):
            raise ValueError("not run: half a second for each evaluation")
        if method == "ProxySPEX" and players >= 60:
            raise ValueError("not run: minutes a run with 60 players and more")
        if "SVARM" in method and players**2 * budget > SLOWEST:
            raise ValueError(
                f"not run: many minutes a run with {players} players and {budget} coalitions"
            )
        found = VALUES[value][method](players, seed).approximate(budget, counted)
        ours = found if isinstance(found, np.ndarray) else [found[(i,)] for i in range(players)]
        ours = np.asarray(ours)
        error = float(((ours - exact) ** 2).sum() / (exact**2).sum())
        failure = None if np.isfinite(error) else "not finite"
    except Exception as reason:  # the table shows which cells a peer cannot do
        error, failure = None, f"{type(reason).__name__}: {reason}"[:200]
    return {
        "game": game,
        "budget": budget,
        "value": value,
        "method": method,
        "seed": seed,
        "error": error,
        "failure": failure,
        "asked": asked,
        "seconds": time.perf_counter() - start,
    }


def missing(
    done: list[dict[str, object]], seeds: int, only: list[str]
) -> list[tuple[str, int, str, str, int]]:
    """What is still to be run, the cheapest first, by the seconds of runs of the same kind."""
    keys = ("game", "budget", "value", "method")
    seconds = {tuple(map(run.get, keys)): run["seconds"] for run in done}
    known = {(*map(run.get, keys), run["seed"]) for run in done}
    todo = [
        (game, budget, value, method, seed)
        for seed in range(seeds)
        for game, budget in cells()
        for value, methods in VALUES.items()
        for method in methods
        if (game, budget, value, method, seed) not in known
        if method in only or not (only or method == "ShaplEIG")
    ]
    players = {game: load(game)[0] for game, *_ in todo}
    guess = 1e-5  # seconds for each player of a coalition
    return sorted(todo, key=lambda task: seconds.get(task[:4], guess * task[1] * players[task[0]]))


def main() -> None:
    path, seconds = Path(sys.argv[1]), float(sys.argv[2])
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    started = time.perf_counter()
    done = [json.loads(line) for line in path.open()] if path.exists() else []
    with path.open("a", encoding="utf-8") as file:
        for task in missing(done, seeds, sys.argv[4:]):
            if time.perf_counter() - started > seconds:
                return
            file.write(json.dumps(measure(*task)) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
