"""log Z and decoupling errors of large games by sampling, against the exact ones, over many seeds.

Every estimate is compared with the truth in units of its own standard error. A confident
wrong answer is one that is off by more than five of them without a warning: there must be none.

Run with: python benchmarks/partition.py [seeds] [the first of them]
"""

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import show

import fairfield as ff

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from boltzmann import known_laws  # games with known laws, as in the tests

FAR = 5.0


def blocks(
    make: Callable[..., ff.Game], temperature: float, **shape: float
) -> Callable[[int], tuple]:
    def case(seed: int) -> tuple:
        given = () if make is known_laws.full_house else (np.random.default_rng(seed),)
        game = make(*given, **shape)
        return game, temperature, game.log_z(temperature), game.marginals(temperature)

    return case


def ferromagnet(players: int, coupling: float, field: float) -> Callable[[int], tuple]:
    def case(seed: int) -> tuple:
        game, log_z = known_laws.ferromagnet(players, coupling, field)
        return game, 1.0, log_z(1.0), None

    return case


def determinant(players: int, scale: float) -> Callable[[int], tuple]:
    def case(seed: int) -> tuple:
        game = known_laws.determinant(np.random.default_rng(seed), players, scale)
        return game, 1.0, game.log_z(), game.marginals()

    return case


CASES = {
    "rugged blocks, T = 1": blocks(known_laws.random_blocks, 1.0),
    "rugged blocks, T = .5": blocks(known_laws.random_blocks, 0.5),
    "rugged blocks, T = .25": blocks(known_laws.random_blocks, 0.25),
    "blocks of two modes, T = 1": blocks(known_laws.two_modes, 1.0),
    "blocks of two modes, T = .5": blocks(known_laws.two_modes, 0.5),
    "blocks of two modes, T = .3": blocks(known_laws.two_modes, 0.3),
    "blocks of two unequal modes, T = .5": blocks(known_laws.two_modes, 0.5, bias=0.1),
    "20 blocks of two modes, T = .3": blocks(known_laws.two_modes, 0.3, blocks=20, each=5),
    "full houses, T = 1": blocks(known_laws.full_house, 1.0),
    "full houses, T = .6": blocks(known_laws.full_house, 0.6),
    "full houses, T = .4": blocks(known_laws.full_house, 0.4),
    "needles": blocks(known_laws.needles, 1.0),
    "slight needles": blocks(known_laws.needles, 1.0, prize=6.0),
    "ferromagnet, critical": ferromagnet(100, 4.0, 0.0),
    "ferromagnet, T = .8 of critical": ferromagnet(100, 5.0, 0.0),
    "ferromagnet, T = .8 of critical, in a field": ferromagnet(100, 5.0, 0.05),
    "ferromagnet, half of critical": ferromagnet(100, 8.0, 0.0),
    "ferromagnet, half of critical, in a field": ferromagnet(100, 8.0, 0.02),
    "ferromagnet, a quarter of critical, against a field": ferromagnet(100, 16.0, -0.1),
    "ferromagnet of 300, half of critical": ferromagnet(300, 8.0, 0.01),
    "determinant, 40 players": determinant(40, 3.0),
    "determinant, 40 players, strong": determinant(40, 30.0),
}


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    warnings.simplefilter("ignore", ff.ReliabilityWarning)
    print("# Partition functions by sampling")
    print(
        f"\n{seeds} seeds each from {first} on, budget 200 000 coalitions; errors in units of the reported one."
    )
    rows, wrong, wrong_marginals = [], 0, 0
    for name, case in CASES.items():
        off, errors, warned, spread, seconds = [], [], 0, [], []
        missed = 0
        for seed in range(first, first + seeds):
            game, temperature, log_z, marginals = case(seed)
            start = time.perf_counter()
            law = ff.Boltzmann(game, temperature, seed=seed, budget=200_000)
            error = abs(law.log_z - log_z)
            seconds.append(time.perf_counter() - start)
            errors.append(error)
            off.append(error / law.stderr())
            warned += bool(law.warnings)
            missed += error > FAR * law.stderr() and not law.warnings
            if marginals is not None and not law.warnings:
                far = np.max(np.abs(law.marginals - marginals) / law.stderr("marginals"))
                spread.append(far)
        wrong += missed
        wrong_marginals += sum(far > FAR for far in spread)
        rows.append(
            (name, float(np.median(errors)), float(np.median(off)), float(np.max(off)),
             f"{warned} of {seeds}", missed, float(max(spread)) if spread else "—",
             float(np.median(seconds)))
        )  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    show(
        "log Z",
        ("game", "median error", "median error / stderr", "largest", "warned", "confident and wrong",
         "largest error / stderr of a marginal", "seconds"),
        rows,
    )  # fmt: skip
    print(
        f"\nConfident wrong answers for log Z: {wrong} of {len(CASES) * seeds} (bar: 0); runs with a "
        f"marginal off by more than {FAR:g} standard errors and no warning: {wrong_marginals}."
    )


if __name__ == "__main__":
    main()
