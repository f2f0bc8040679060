"""Errors of pyDVL's samplers: run by estimates.py in pyDVL's own environment.

    python pydvl_estimates.py FILE SECONDS SEEDS

Two games at 500 and 2000 distinct coalitions (repeated ones are free for pyDVL). Appends
lines of JSON to FILE for whatever is not in it yet.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

warnings.simplefilter("ignore")

from estimate_games import load  # noqa: E402  # after the filter, as all here
from pydvl.utils.status import Status  # noqa: E402
from pydvl.valuation import (  # noqa: E402
    AntitheticPermutationSampler,
    AntitheticSampler,
    BanzhafValuation,
    Dataset,
    MSRBanzhafValuation,
    PermutationSampler,
    ShapleyValuation,
    StratifiedShapleyValuation,
    UniformSampler,
)
from pydvl.valuation.stopping import StoppingCriterion  # noqa: E402
from pydvl.valuation.utility.base import UtilityBase  # noqa: E402

GAMES, BUDGETS = ("flid20", "mlp20"), (500, 2000)


class Worth(UtilityBase):
    """A game as pyDVL wants it; remembers what it was asked."""

    def __init__(self, players, worths, known):
        self.players, self.worths, self.known = players, worths, known

    def __call__(self, sample):
        members = () if sample is None else tuple(sorted(int(i) for i in sample.subset))
        if members not in self.known:
            row = np.zeros((1, self.players), dtype=bool)
            row[0, list(members)] = True
            self.known[members] = float(self.worths(row)[0])
        return self.known[members]


class Spent(StoppingCriterion):
    """Stops once so many coalitions are known."""

    def __init__(self, known, budget):
        super().__init__()
        self.known, self.budget = known, budget

    def _check(self, result):
        self._converged = np.full(len(result), len(self.known) >= self.budget)
        return Status.Converged if len(self.known) >= self.budget else Status.Pending

    def completion(self):
        return min(1.0, len(self.known) / self.budget)


METHODS = {
    "shapley": {
        "pyDVL permutation": lambda u, d, s: ShapleyValuation(u, PermutationSampler(seed=s), d),
        "pyDVL antithetic permutation": lambda u, d, s: ShapleyValuation(
            u, AntitheticPermutationSampler(seed=s), d
        ),
        "pyDVL uniform": lambda u, d, s: ShapleyValuation(u, UniformSampler(seed=s), d),
        "pyDVL antithetic": lambda u, d, s: ShapleyValuation(u, AntitheticSampler(seed=s), d),
        "pyDVL stratified": lambda u, d, s: StratifiedShapleyValuation(u, d, seed=s),
    },
    "banzhaf": {
        "pyDVL MSR": lambda u, d, s: MSRBanzhafValuation(u, d, seed=s),
        "pyDVL uniform": lambda u, d, s: BanzhafValuation(u, UniformSampler(seed=s), d),
        "pyDVL permutation": lambda u, d, s: BanzhafValuation(u, PermutationSampler(seed=s), d),
    },
}


def measure(game, budget, value, method, seed):
    players, worths, shapley, banzhaf = load(game)
    exact = shapley if value == "shapley" else banzhaf
    known = {}
    start = time.perf_counter()
    try:
        data = Dataset(np.zeros((players, 1)), np.zeros(players))
        done = Spent(known, budget)
        valuation = METHODS[value][method](Worth(players, worths, known), done, seed)
        valuation.show_warnings = False
        found = np.asarray(valuation.fit(data).result.values)
        error, failure = float(((found - exact) ** 2).sum() / (exact**2).sum()), None
    except Exception as reason:  # shown in the table
        error, failure = None, f"{type(reason).__name__}: {reason}"[:200]
    seconds = time.perf_counter() - start
    return {
        "game": game,
        "budget": budget,
        "value": value,
        "method": method,
        "seed": seed,
        "error": error,
        "failure": failure,
        "asked": len(known),
        "seconds": seconds,
    }


def main():
    path, seconds, seeds = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    started, keys = time.perf_counter(), ("game", "budget", "value", "method", "seed")
    done = set()
    if path.exists():
        done = {tuple(map(json.loads(line).get, keys)) for line in path.open()}
    with path.open("a", encoding="utf-8") as file:
        for seed in range(seeds):
            for game in GAMES:
                for budget in BUDGETS:
                    for value, methods in METHODS.items():
                        for method in methods:
                            if (game, budget, value, method, seed) in done:
                                continue
                            if time.perf_counter() - started > seconds:
                                return
                            line = measure(game, budget, value, method, seed)
                            file.write(json.dumps(line) + "\n")
                            file.flush()


if __name__ == "__main__":
    main()
