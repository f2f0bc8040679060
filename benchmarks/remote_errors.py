"""Errors of Shapley's value from few noisy answers, beside llmSHAP, ContextCite and shapiq.

    python benchmarks/remote_errors.py [seeds]
    python benchmarks/remote_errors.py auto [seeds]

The second is fairfield alone, with as many calls, of which ``repeats="auto"`` asks some again, so that
noise is measured; it needs no peer. The first needs Python 3.12 with shapiq and llmSHAP (`pip install shapiq llmSHAP scikit-learn`). Every method is
given the same noisy worths, one answer a coalition, and the same number of different coalitions at most:

- llmSHAP's own `ShapleyAttribution` with its samplers. It has no permutations: `RandomSampler` takes, for
  each player, all but one of the others and random coalitions beside them, so at 12 players it needs more
  than 100 calls; `SlidingWindowSampler` takes all coalitions of w neighbours, the others being there.
  Each has the largest setting that keeps within the calls.
- ContextCite's LASSO as in its package: coalitions in which each source is kept with probability ½,
  `StandardScaler`, `Lasso(alpha=0.01)`.
- shapiq's `KernelSHAP` with its default sampling.

Error: root mean square difference from the exact values of the game without noise, in units of the root
mean square of these. Results: benchmarks/remote.md.
"""

import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

import fairfield as ff

PLAYERS, BUDGETS, NOISE = 12, (40, 64, 128), 0.05


def documents():
    """The share of 20 facts found, each in one to three documents, one of them in none."""
    rng = np.random.default_rng(1)
    holds = np.zeros((20, PLAYERS), dtype=bool)
    for fact in holds[1:]:
        fact[rng.choice(PLAYERS, size=rng.integers(1, 4), replace=False, p=_shares())] = True
    return lambda S: (S @ holds.T.astype(float) > 0).mean(axis=1)


def _shares():
    each = 1.0 / np.arange(1, PLAYERS + 1)
    return each / each.sum()


def chains():
    """The log-odds of an answer that needs two documents together, or a third, saturating."""

    def worths(S):
        found = 3.0 * (S[:, 0] & S[:, 1]) + 2.0 * S[:, 2] + 1.0 * (S[:, 3] & S[:, 4] & S[:, 5])
        return np.tanh(found / 3 - 0.1 * S[:, 6]) + 0.02 * S[:, 7:].sum(axis=1)

    return worths


def team():
    """A team whose members help each other less the more there are: √(a·z)."""
    weights = np.random.default_rng(2).uniform(0.2, 2, PLAYERS)
    return lambda S: np.sqrt(S @ weights) / np.sqrt(weights.sum())


class Answers:
    """Noisy answers, the same for everyone who asks, and how many coalitions were asked for."""

    def __init__(self, worths: Callable, seed: int) -> None:
        self.worths, self.noise, self.seen = worths, {}, set()
        self.table = np.random.default_rng([seed, 7]).normal(0, NOISE, 2**PLAYERS)

    def __call__(self, S):
        S = np.atleast_2d(np.asarray(S, dtype=bool))
        rows = S @ (1 << np.arange(PLAYERS))
        self.seen.update(rows.tolist())
        return self.worths(S) + self.table[rows]


def by_fairfield(ask, budget, seed):
    v = ff.shapley(ask, players=PLAYERS, budget=budget, seed=seed, progress=False)
    return v.values, v.stderr


def by_kernel_shap(ask, budget, seed):
    import shapiq

    found = shapiq.KernelSHAP(n=PLAYERS, random_state=seed).approximate(budget, ask)
    return found.get_n_order_values(1), None


def by_lasso(ask, budget, seed):
    masks = np.random.RandomState(seed).choice([False, True], size=(budget, PLAYERS))
    scaler = StandardScaler()
    lasso = Lasso(alpha=0.01, random_state=0).fit(
        scaler.fit_transform(masks.astype(float)), ask(masks)
    )
    return lasso.coef_ / scaler.scale_, None


def attributed(ask, sampler):
    """The scores of llmSHAP, whose model answers with the worth of the words in its prompt."""
    from llmSHAP import BasicPromptCodec, DataHandler, ShapleyAttribution
    from llmSHAP.llm.llm_interface import LLMInterface
    from llmSHAP.value_functions import ValueFunction

    class Model(LLMInterface):
        def generate(self, prompt, tools=None, images=None):
            words = prompt[1]["content"].split()
            return repr(float(ask([f"p{i}" in words for i in range(PLAYERS)])[0]))

    class Worth(ValueFunction):
        def __call__(self, base, coalition):
            return float(coalition.output)

    names = {f"p{i}": f"p{i}" for i in range(PLAYERS)}
    run = ShapleyAttribution(
        Model(),
        DataHandler(names),
        BasicPromptCodec(),
        sampler,
        True,
        False,
        value_function=Worth(),
    )
    scores = run.attribution().attribution
    return np.array([scores[name]["score"] for name in names])


def within(worths, budget, makes):
    """The last of the samplers whose calls are within the budget; None if none is."""
    fitting = None
    for make in makes:
        probe = Answers(worths, 0)
        attributed(probe, make(0))
        if len(probe.seen) > budget:
            break
        fitting = make
    return fitting


def windows(size):
    from llmSHAP.attribution_methods import SlidingWindowSampler

    return lambda seed: SlidingWindowSampler(list(range(PLAYERS)), size)


def ratios(ratio):
    from llmSHAP.attribution_methods import RandomSampler

    return lambda seed: RandomSampler(ratio, seed)


def errors(seeds=20):
    print(
        f"shapiq {version('shapiq')}, llmSHAP {version('llmSHAP')}, {seeds} seeds, noise {NOISE}\n"
    )
    print(
        "| game | calls | fairfield | its 95 % intervals hold | llmSHAP, random | llmSHAP, windows "
        "| ContextCite's LASSO | shapiq KernelSHAP |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for make in (documents, chains, team):
        worths = make()
        exact = ff.shapley(worths, players=PLAYERS).values
        size = np.sqrt(np.mean(exact**2))
        for budget in BUDGETS:
            random = within(worths, budget, map(ratios, np.arange(0.0005, 0.02, 0.0005)))
            window = within(worths, budget, map(windows, range(2, 7)))
            peers = {
                "fairfield": by_fairfield,
                "random": random and (lambda ask, b, s, r=random: (attributed(ask, r(s)), None)),
                "windows": window and (lambda ask, b, s, w=window: (attributed(ask, w(s)), None)),
                "lasso": by_lasso,
                "kernel": by_kernel_shap,
            }
            cells, held = [], []
            for value in peers.values():
                found = []
                for seed in range(seeds if value else 0):
                    values, stderr = value(Answers(worths, seed), budget, seed)
                    found.append(np.sqrt(np.mean((values - exact) ** 2)) / size)
                    if stderr is not None:
                        held.append(np.abs(values - exact) <= 1.96 * stderr)
                cells.append(f"{np.mean(found):.3f}" if found else "needs more")
            cells.insert(1, f"{np.mean(held):.2f}")
            print(f"| {make.__name__} | {budget} | {' | '.join(cells)} |", flush=True)


def repeated(seeds=20):
    """Errors and intervals of ours where every answer has noise of its own, and some are asked again."""
    print("| game | calls | fairfield, repeats | its 95 % intervals hold |\n|---|---|---|---|")
    for make in (documents, chains, team):
        worths = make()
        exact = ff.shapley(worths, players=PLAYERS).values
        for budget in BUDGETS:
            found, held = [], []
            for seed in range(seeds):
                noise = np.random.default_rng([seed, 7])

                def answer(names, worths=worths, noise=noise):
                    inside = np.isin(np.arange(PLAYERS), names)[None]
                    return float(worths(inside)[0] + noise.normal(0, NOISE))

                game = ff.RemoteGame(answer, PLAYERS, repeats="auto", price=1.0, concurrency=1)
                with warnings.catch_warnings(action="ignore"):
                    v = ff.shapley(game, spend=budget, seed=seed, progress=False)
                found.append(np.sqrt(np.mean((v.values - exact) ** 2) / np.mean(exact**2)))
                held.append(np.abs(v.values - exact) <= 1.96 * v.stderr)
            print(
                f"| {make.__name__} | {budget} | {np.mean(found):.3f} | {np.mean(held):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["auto"]:
        repeated(*map(int, sys.argv[2:]))
    else:
        errors(*map(int, sys.argv[1:]))
