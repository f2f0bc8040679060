"""Sampled laws of random voting, cardinality and step games beside their sums by size.

    PYTHONPATH=tests python -m attacks.calibration [games] [first seed]

prints how many answers are wrong by more than five standard errors without a warning, which must be
none, how many games are warned of, and how often answers lie within two standard errors. All these
games are φ(Σ_{i∈S} w_i), whose law is a sum over the values of that sum.
"""

import sys
import warnings
from time import process_time

import numpy as np
from scipy.special import logit, logsumexp

import fairfield as ff

KINDS = ("voting", "cardinality", "step", "two steps")


def truth(weights, worths, temperature):
    """The readings of the law of φ(Σ w), from the number of coalitions with each sum."""
    sums = np.arange(len(worths))
    counts = [np.zeros(len(worths)) for _ in range(len(weights) + 1)]  # the last leaves nobody out
    for left_out, count in enumerate(counts):
        count[0] = 1.0
        for i, weight in enumerate(weights):
            if i != left_out:
                count[weight:] += count[: len(count) - weight].copy()
    logs = worths / temperature
    with np.errstate(divide="ignore"):
        log_counts = np.log(counts)
    log_z = logsumexp(log_counts[-1] + logs)
    shares = np.exp(log_counts[-1] + logs - log_z)
    mean = float(shares @ worths)
    marginals = np.array(
        [
            np.exp(logsumexp(log_counts[i][sums[: len(sums) - w]] + logs[w:]) - log_z)
            for i, w in enumerate(weights)
        ]
    )
    return {
        "log_z": log_z,
        "mean": mean,
        "marginals": marginals,
        "log_odds": logit(marginals),
        "entropy": log_z - mean / temperature,
    }


def random_game(rng, kind):
    """A game, its weights and its worths by the sum of weights."""
    count = int(rng.integers(26, 45))
    weights = np.ones(count, dtype=int)
    if kind in ("voting", "two steps") and rng.random() < 0.8:
        weights = rng.integers(1, rng.choice([4, 10, 30]), count)
    total = int(weights.sum())
    sums = np.arange(total + 1)
    if kind == "voting":
        quota = int(rng.uniform(0.3, 0.95) * total)
        return ff.VotingGame(weights, quota), weights, (sums >= quota) * 1.0
    if kind == "two steps":
        low, high = sorted((rng.uniform(0.1, 0.95, 2) * total).astype(int).tolist())
        first, second = rng.uniform(-1, 1, 2)
        game = first * ff.VotingGame(weights, low) + second * ff.VotingGame(weights, high)
        return game, weights, first * (sums >= low) + second * (sums >= high)
    if kind == "step":
        jumps = np.zeros(count + 1)
        jumps[rng.choice(count + 1, rng.integers(1, 4), replace=False)] = rng.uniform(-1, 1)
        worths = jumps.cumsum()
    else:
        worths = rng.normal(size=count + 1) * rng.choice([0.3, 1.0])
        worths = worths.cumsum() / 3 if rng.random() < 0.5 else worths
    return ff.CardinalityGame(worths), weights, worths


def check(seed):
    """What was asked, whether it was warned of, and how far off each reading is, in errors."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    game, weights, worths = random_game(rng, kind)
    temperature = float(np.ptp(worths) * 10 ** rng.uniform(-1.7, 0.3)) or 1.0
    budget = int(rng.choice([20_000, 60_000, 200_000]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ff.ReliabilityWarning)
        law = ff.Boltzmann(game, temperature, seed=seed, budget=budget).law
        far = {}
        for name, wanted in truth(weights, worths, temperature).items():
            gap = np.abs(getattr(law, name) - wanted)
            gap = np.maximum(gap - 1e-9 * (1 + np.abs(wanted)), 0.0)  # rounding
            far[name] = float(np.max(gap / np.maximum(law.stderr(name), 1e-300)))
    what = f"{kind} of {len(weights)}, T = {temperature:.3g}, budget {budget}"
    return what, bool(law.warnings), far


def main(games=200, first=0):
    """Check so many games; the number of confident wrong answers."""
    started, wrong, warned, near = process_time(), 0, 0, []
    for seed in range(first, first + games):
        what, doubtful, far = check(seed)
        warned += doubtful
        worst = max(far, key=far.get)
        if not doubtful:
            near += [far[name] <= 2 for name in ("log_z", "mean", "entropy")]
        if far[worst] > 5:
            wrong += not doubtful
            print(f"seed {seed}, {what}: {worst} off by {far[worst]:.3g} errors", end="")
            print(", with a warning" if doubtful else ", WITHOUT A WARNING", flush=True)
    print(
        f"{games} games: {wrong} confident wrong answers, {warned} with a warning, of the others "
        f"{np.mean(near):.3f} within two errors; {process_time() - started:.0f} s"
    )
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
