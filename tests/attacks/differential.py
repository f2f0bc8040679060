"""Public functions beside their definitions on random games.

    PYTHONPATH=tests python -m attacks.differential [checks] [seed]

makes at least so many checks (100 000 by default), in two processes, and prints how many failed,
which must be none. One check compares what one call answers about one game, or at one point.
"""

import sys
from collections import Counter
from time import perf_counter

import numpy as np

import brute
import fairfield as ff
from attacks import definitions as by_definition
from attacks.definitions import Law, linear
from attacks.differential_models import models, readings

GAMES = 96
# Of the largest number compared.
CLOSE = 1e-9


def random_tables(rng, most=6):
    """A game of tables of any size and offset, some with ties and null players; T of each."""
    n = int(rng.integers(1, most + 1))
    tables = rng.normal(size=(GAMES, 2**n))
    tables[: GAMES // 4] = np.rint(tables[: GAMES // 4])
    some = slice(GAMES // 4, GAMES // 3)
    tables[some, 1::2] = tables[some, ::2]  # player 0 adds nothing
    tables = 10.0 ** rng.uniform(-2, 2) * (tables + rng.choice([0.0, 5.0]))
    return n, tables, tables.std(axis=-1) * 10.0 ** rng.uniform(-0.5, 1) + 1e-2


def values(rng):
    """Semivalues, leave-one-out, comparisons, streams, budgets that reach all coalitions."""
    n, tables, T = random_tables(rng)
    game = ff.TableGame(tables)
    a, b = rng.uniform(0.2, 5, 2)
    weights = rng.random(n)
    weights /= sum(weights[s] * brute.comb(n - 1, s) for s in range(n))
    shapley, banzhaf = linear(tables, "shapley"), linear(tables, "banzhaf")
    yield "shapley", ff.shapley(game).values, shapley
    yield "banzhaf", ff.banzhaf(game).values, banzhaf
    beta = linear(tables, "semivalue", tuple(brute.beta_weights(n, a, b)))
    yield "beta", ff.semivalue(game, ff.beta(a, b)).values, beta
    other = linear(tables, "semivalue", tuple(weights))
    yield "semivalue", ff.semivalue(game, weights).values, other
    last = np.stack([tables[:, -1] - tables[:, -1 - (1 << i)] for i in range(n)], axis=-1)
    yield "leave_one_out", ff.leave_one_out(game).values, last
    found = ff.compare(game, criteria=["banzhaf", ff.shapley], temperature=T, decoupling=True)
    yield "compare", found["shapley"].values, shapley
    law = Law(tables, T)
    yield "log_z of compare", found["banzhaf"].log_z, law.log_z
    x = by_definition.sigmoid(banzhaf / T[:, None])
    yield "decoupling error", found["banzhaf"].decoupling_error, law.log_z - law.elbo(x)
    yield "ends", found["banzhaf"].grand - found["banzhaf"].empty, tables[:, -1] - tables[:, 0]
    one = int(rng.integers(GAMES))
    function = ff.FunctionGame(lambda z: tables[one][z @ (1 << np.arange(n))], n)
    *_, streamed = ff.stream("shapley", function, budget=2**n)
    yield "stream", streamed.values[None], shapley[[one]]
    yield "mean", ff.shapley(game).mean().mean, shapley.mean(axis=0)[None]


def laws(rng):
    """Boltzmann's readings, free energy, K-step values, the index."""
    n, tables, T = random_tables(rng)
    game, prior = ff.TableGame(tables), rng.uniform(0.1, 0.9, n)
    for given in (None, prior):
        law, found = Law(tables, T, given), ff.Boltzmann(game, T, given)
        for name in ("log_z", "marginals", "pair_marginals", "mean", "entropy"):
            yield name, getattr(found, name), getattr(law, name)
        yield "total_correlation", found.total_correlation + 1, law.total_correlation + 1
        x = rng.uniform(0.05, 0.95, (GAMES, n))
        yield "elbo", found.elbo(x), law.elbo(x)
        yield "decoupling_error", found.decoupling_error(x) + 1, law.log_z - law.elbo(x) + 1
        share = found.probability(by_definition.coalitions(n))
        yield "probability", share, law.p
    law = Law(tables, T)
    yield "free_energy_value", ff.free_energy_value(game, temperature=T).values, law.free_energy()
    if n > 2:
        inside, outside = ff.Boltzmann(game, T).condition([0], [1]), tables[:, 1::4]
        yield "condition", inside.log_z, Law(outside, T).log_z
        rest = ff.Boltzmann(game, T).marginalise([0])
        yield "marginalise", rest.marginals, law.marginals[:, 1:]
    count = int(rng.integers(1, 5))
    v = ff.variational_values(game, count, temperature=T)
    x, slopes = by_definition.steps(tables, T, count)
    yield "variational_values", v.values, slopes
    yield "marginals of steps", v.marginals, x
    v = ff.variational_index(game, temperature=T, decoupling=True)
    slopes = by_definition.gradient(tables, v.marginals)
    yield "index", v.values, slopes
    yield "fixed point", by_definition.sigmoid(slopes / T[:, None]) + 1, v.marginals + 1
    yield "elbo of the index", v.elbo, law.elbo(v.marginals)


def together(rng):
    """Interactions by all their definitions, dividends."""
    n, tables, T = random_tables(rng, 5)
    game = ff.TableGame(tables)
    for order in range(1, min(n, 3) + 1):
        found = ff.interactions(game, order=order)
        yield "interactions", found.values, by_definition.derivatives(tables, order)
        sets = [list(each) for each in found.coalitions]
        half, T_of = np.full((GAMES, n), 0.5), {"temperature": T}
        at_half = np.stack([by_definition.derivative(tables, half, a) for a in sets], axis=-1)
        yield "banzhaf interactions", ff.interactions(game, "banzhaf", order=order).values, at_half
        x = ff.variational_index(game, **T_of).marginals
        at_x = np.stack([by_definition.derivative(tables, x, a) for a in sets], axis=-1)
        found = ff.interactions(game, "variational_index", order=order, **T_of).values
        yield "index interactions", found, at_x
        for name, definition in ALL_SIZES.items():
            if name == "stii" and n == 5:
                continue  # all orders of five players
            found = ff.interactions(game, name, order=order)
            yield name, found.values, linear(tables, definition, order)
    yield "moebius", ff.moebius(game), linear(tables, "moebius")


ALL_SIZES = {
    "k_sii": "aggregated_shapley_interactions",
    "stii": "shapley_taylor_interactions",
    "fsii": "faithful_shapley_interactions",
    "fbii": "faithful_banzhaf_interactions",
}


def closed_games(rng):
    """One random game of each kind that has a closed form."""
    n = int(rng.integers(2, 7))
    whole, real = rng.integers(0, 9, n), rng.normal(size=n)
    pairs = np.triu(rng.normal(size=(n, n)), 1)
    cover = rng.random((5, n)) * (rng.random((5, n)) < 0.6)
    voting = ff.VotingGame(whole * rng.choice([-1, 1], n), int(rng.integers(0, 20)))
    pairwise = ff.PairwiseGame(real, pairs + pairs.T)
    y, y_test = rng.integers(0, 3, n), rng.integers(0, 3, 4)
    X, X_test = rng.integers(0, 4, (n, 2)).astype(float), rng.integers(0, 4, (4, 2)).astype(float)
    truth = rng.integers(0, 2, 6)
    yield voting
    yield pairwise
    yield 2.0 * voting - 0.5 * pairwise
    yield ff.CardinalityGame(rng.normal(size=n + 1) + rng.choice([0.0, 50.0]))
    yield ff.BankruptcyGame(whole, int(rng.integers(0, 20)))
    yield ff.AirportGame(rng.random(n))
    yield ff.GlovesGame(n // 2, n - n // 2)
    yield ff.UnanimityGame(rng.permutation(n)[: rng.integers(1, n + 1)].tolist(), n)
    yield ff.FLIDGame(real, rng.normal(size=(n, 3)))
    yield ff.FLDCGame(real, rng.random((n, 2)), rng.normal(size=(n, 2)))
    yield ff.FacilityLocationGame(rng.integers(-2, 3, (n, 4)).astype(float))
    yield ff.CutGame(rng.random((n, n)) * (1 - np.eye(n)))
    yield ff.CoverageGame(cover, rng.normal(size=5))
    yield ff.NeighborGame(X, y, X_test, y_test, k=int(rng.integers(1, 4)))
    yield ff.EnsembleGame(rng.integers(0, 2, (n, 6)), None, truth, vote="hard")


def closed_forms(rng):
    """Extensions, and what is read from them, beside the tables of the games' own worths."""
    for game in closed_games(rng):
        n, kind = len(game.players), repr(game)
        z = by_definition.coalitions(n)
        table = game.worths(z)
        x = rng.random((GAMES // 4, n))
        x[: len(x) // 3] = np.rint(x[: len(x) // 3] * 2) / 2  # corners and faces
        tables = np.broadcast_to(table, (len(x), 2**n))
        extension = game.extension()
        if extension is not None:
            yield f"value, {kind}", extension.value(x), by_definition.value(tables, x)
            slopes = by_definition.gradient(tables, x)
            yield f"gradient, {kind}", extension.gradient(x), slopes
            curved = by_definition.hessian(tables, x)
            yield f"hessian, {kind}", extension.hessian(x), curved
        steps = game.contributions(z)
        if steps is not None:
            yield (
                f"contributions, {kind}",
                steps[1],
                by_definition.gradient(np.broadcast_to(table, (2**n, 2**n)), z.astype(float)),
            )
        one = table[None]
        yield f"shapley, {kind}", ff.shapley(game).values[None], linear(one, "shapley")
        yield f"banzhaf, {kind}", ff.banzhaf(game).values[None], linear(one, "banzhaf")
        a, b = rng.uniform(0.3, 4, 2)
        wanted = linear(one, "semivalue", tuple(brute.beta_weights(n, a, b)))
        yield f"beta, {kind}", ff.semivalue(game, ff.beta(a, b)).values[None], wanted
        left = ff.leave_one_out(game).values
        yield (
            f"leave_one_out, {kind}",
            left[None],
            np.array([table[-1] - table[z.sum(1) == n - 1]])[:, ::-1],
        )
        order = np.argsort(-left, kind="stable")
        kept = [sum(1 << i for i in order[k:].tolist()) for k in range(n + 1)]
        curve = ff.removal_curve(game, ff.leave_one_out(game))
        yield f"removal_curve, {kind}", curve.worths[None], table[kept][None]
        joined = [2**n - 1 - row for row in kept]
        curve = ff.addition_curve(game, ff.leave_one_out(game))
        yield f"addition_curve, {kind}", curve.worths[None], table[joined][None]


def features(rng):
    """Games of features beside means of the model over the background."""
    n, rows = int(rng.integers(1, 6)), 6
    X, background = rng.integers(0, 3, (rows, n)) * 1.0, rng.integers(0, 3, (5, n)) * 1.0
    w, pairs = rng.normal(size=n), rng.normal(size=(n, n))

    def model(X):
        return np.tanh(X @ w) + np.einsum("ri,ij,rj->r", X, pairs, X)

    z = by_definition.coalitions(n)
    mixed = np.where(z[None, :, None], X[:, None, None], background)
    tables = model(mixed.reshape(-1, n)).reshape(rows, 2**n, -1).mean(axis=-1)
    game = ff.FeatureGame(model, X, background)
    yield "worths of features", game.worths(z), tables
    yield "features", ff.shapley(game).values, linear(tables, "shapley")
    found = ff.explain(model, X, background, "banzhaf").values
    yield "explain", found, linear(tables, "banzhaf")
    found = ff.Explainer(model, background, criterion=ff.beta(2, 1))(X).values
    wanted = linear(tables, "semivalue", tuple(brute.beta_weights(n, 2, 1)))
    yield "Explainer", found, wanted


PARTS = {"values": values, "laws": laws, "together": together, "closed": closed_forms,
         "features": features, "models": models, "readings": readings}  # fmt: skip


def compare(name, found, wanted):
    """How many rows were compared, and those of them that differ."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    if found.shape != wanted.shape:
        return len(wanted), [f"{name}: shape {found.shape}, not {wanted.shape}"]
    scale = np.abs(wanted).max(initial=1e-3)
    far = np.abs(found - wanted).reshape(len(wanted), -1).max(axis=1, initial=0.0)
    wrong = ~(far <= CLOSE * scale)
    return len(wanted), [f"{name}: off by {far[k]:.2g}" for k in np.flatnonzero(wrong)]


def run(least, seed):
    """At least so many checks: how many of each part, and what failed."""
    rng, counts, failures = np.random.default_rng(seed), Counter(), []
    while sum(counts.values()) < least:
        for part, checks in PARTS.items():
            start = rng.bit_generator.state["state"]["state"]
            for name, found, wanted in checks(rng):
                count, wrong = compare(name, found, wanted)
                counts[part] += count
                failures += [f"{part}, state {start}: {each}" for each in wrong]
    return counts, failures


def main(least=100_000, seed=0):
    """The checks in two processes; how many failed."""
    from joblib import Parallel, delayed

    started = perf_counter()
    parts = Parallel(2)(delayed(run)(least // 2, [seed, k]) for k in range(2))
    counts = sum((found for found, _ in parts), Counter())
    failures = [each for _, wrong in parts for each in wrong]
    print(*failures[:40], sep="\n")
    print(
        f"{sum(counts.values()):,} checks ({', '.join(f'{k} {v:,}' for k, v in counts.items())}), "
        f"{len(failures)} failures, {perf_counter() - started:.0f} s"
    )
    return len(failures)


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
