"""The exact table engine against one pass over memory, and against shapiq.

    python benchmarks/exact.py                both thread settings, each in its own process
    python benchmarks/exact.py --here LABEL   this process only, its tables under a label

The floor is ``table.sum()`` on the same table in the same run. FLID and mixed games are
those of the tests.
"""

import argparse
import os
import subprocess
import sys
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
from measure import best, machine, show

import fairfield as ff
from fairfield.boltzmann.exact import ExactLaw
from fairfield.multilinear import size_weights as by_size
from fairfield.multilinear.table import TableExtension

BOUNDS = {
    "gradient": 2.5,
    "coordinate sweep": 4,
    "Shapley": 8,
    "all pair interactions": 16,
    "log Z with marginals": 30,
}


def flid(n: int, rng: np.random.Generator, d: int = 4) -> np.ndarray:
    """Σ u'_i + Σ_d max W_id with F(N) = 0, table built by doubling."""
    w = 2 * rng.random((n, d))
    gain = (w.sum() - w.max(axis=0).sum()) / n - w.sum(axis=1)
    table = np.zeros(1)
    for i in range(n):
        table = np.concatenate([table, table + gain[i]])
    for column in w.T:
        top = np.zeros(1)
        for weight in column:
            top = np.concatenate([top, np.maximum(top, weight)])
        table += top
    return table


def mixed(n: int, rng: np.random.Generator) -> np.ndarray:
    """A pairwise game with signs of both kinds, and noise on every coalition."""
    pairs, table = rng.normal(size=(n, n)), np.zeros(1)
    for i in range(n):
        slope = np.zeros(1)
        for j in range(i):
            slope = np.concatenate([slope, slope + pairs[i, j]])
        table = np.concatenate([table, table + slope + rng.normal()])
    return table + 0.3 * rng.standard_normal(2**n)


def core(n: int) -> list[tuple[object, ...]]:
    """Each reading as a multiple of one table.sum()."""
    rng = np.random.default_rng(n)
    table = rng.standard_normal(2**n)
    f = TableExtension.of(ff.TableGame(table))
    x = rng.random(n)
    weights = by_size.shapley_weights(n, order=2)

    def law() -> None:
        part = ExactLaw(f, np.asarray(0.5))
        part.log_z, part.marginals  # noqa: B018  # computed when looked at

    tasks = {
        "gradient": lambda: f.gradient(x),
        "coordinate sweep": lambda: f.sweep(x, lambda _, slope: 1 / (1 + np.exp(-slope))),
        "Hessian": lambda: f.hessian(x),
        "Shapley": f.shapley,
        "all pair interactions": lambda: by_size.pair_semivalue(f, weights),
        "log Z with marginals": law,
    }
    floor = best(table.sum, 25)
    return [
        (n, name, time * 1e3, time / floor, BOUNDS.get(name, "—"))
        for name, time in ((name, best(task, 9)) for name, task in tasks.items())
    ]


def index(n: int) -> list[tuple[object, ...]]:
    """The variational index to 1e-10 at T = .2 of the range."""
    rows = []
    for make in (flid, mixed):
        table = make(n, np.random.default_rng(n))
        game, temperature = ff.TableGame(table), 0.2 * np.ptp(table)
        floor = best(table.sum, 15)
        for decoupling, bound in ((False, 60), (True, 90)):
            found = ff.variational_index(game, temperature=temperature, decoupling=decoupling)
            time = best(
                lambda: ff.variational_index(game, temperature=temperature, decoupling=decoupling),  # noqa: B023  # run at once
                5,
            )
            label = "with" if decoupling else "without"
            assert found.converged
            rows.append((n, make.__name__, label, found.steps, time * 1e3, time / floor, bound))
    return rows


def small() -> None:
    """Where the overhead of calls rules: absolute times."""
    rng = np.random.default_rng(0)
    rows: list[tuple[object, ...]] = []
    for n in (12, 16):
        table = rng.standard_normal(2**n)
        game = ff.TableGame(table)
        f, x = TableExtension.of(game), rng.random(n)
        rows.append((f"gradient, n = {n}", best(lambda: f.gradient(x), 50) * 1e3, "≤ 0.4 ms"))  # noqa: B023  # run at once
        temperature = 0.2 * np.ptp(table)
        time = best(lambda: ff.variational_index(game, temperature=temperature), 20)  # noqa: B023  # run at once
        rows.append((f"variational index, n = {n}", time * 1e3, "≤ 10 ms"))
    four = ff.TableGame(rng.standard_normal(16))
    rows.append(("Shapley, n = 4", best(lambda: ff.shapley(four), 200) * 1e3, "≤ 0.2 ms"))
    show("Small games", ("task", "ms", "bar"), rows)
    tables = rng.standard_normal((10_000, 2**12))
    batch = ff.TableGame(tables)
    floor = best(tables.sum, 7)
    rows = [
        (name, best(lambda: task(batch), 4) * 1e3, best(lambda: task(batch), 4) / floor, bound)  # noqa: B023  # run at once
        for name, task, bound in (("Banzhaf", ff.banzhaf, 3), ("Shapley", ff.shapley, 8))
    ]
    show("10 000 tables of n = 12 in one call", ("task", "ms", "× batch.sum()", "bar"), rows)


def memory(n: int = 24) -> None:
    """Peak memory beside the table itself."""
    tracemalloc.start()
    table = np.random.default_rng(0).standard_normal(2**n)
    game, temperature = ff.TableGame(table), 1.0
    rows = []
    for name, task in {
        "Shapley": lambda: ff.shapley(game),
        "variational index with decoupling error": lambda: ff.variational_index(
            game, temperature=temperature
        ),
        "free-energy value": lambda: ff.free_energy_value(game, temperature=temperature),
        "pair interactions": lambda: ff.interactions(game),
    }.items():
        tracemalloc.reset_peak()
        task()
        rows.append((name, tracemalloc.get_traced_memory()[1] / table.nbytes, 2.5))
    tracemalloc.stop()
    show(f"Peak memory at n = {n}, the table included", ("task", "× table", "bar"), rows)


def growth() -> None:
    """From n to n+1 the table doubles; so must every cost."""
    times: dict[str, list[float]] = {}
    players = (22, 23, 24, 25)
    for n in players:
        for _, name, time, _, _ in core(n):
            times.setdefault(str(name), []).append(float(time))
    rows = [(name, *(later / sooner for sooner, later in pairwise(t))) for name, t in times.items()]
    steps = [f"{a} → {b}" for a, b in pairwise(players)]
    show("Growth from n to n + 1", ("task", *steps), rows)


def against_shapiq() -> None:
    """shapiq's ExactComputer on the same table."""
    try:
        from importlib.metadata import version

        import shapiq
    except ImportError:
        print("\nshapiq is not installed here: no comparison.")
        return
    rows = []
    for n in (14, 16):
        game = ff.TableGame(np.random.default_rng(n).standard_normal(2**n))
        theirs = ff.to_shapiq(game)
        theirs.precompute()
        slow = best(lambda: shapiq.ExactComputer(n_players=n, game=theirs)("SV"), 1, warm=False)  # noqa: B023  # run at once
        fast = best(lambda: ff.shapley(game), 20)  # noqa: B023  # run at once
        rows.append((n, slow, fast * 1e3, slow / fast, "≥ 100"))
    title = f"Shapley of one table against shapiq {version('shapiq')}'s ExactComputer"
    show(title, ("n", "shapiq s", "fairfield ms", "times faster", "bar"), rows)


def here(threads: str) -> None:
    columns = ("n", "task", "ms", "× table.sum()", "bar")
    rows = [row for n in (20, 22, 24) for row in core(n)]
    rows = [(n, name, ms, ratio, 4 if (n, name) == (20, "gradient") else bar if n > 20 else "—")
            for n, name, ms, ratio, bar in rows]  # fmt: skip
    show(f"Readings of one table, {threads}", columns, rows)
    columns = ("n", "game", "decoupling error", "steps", "ms", "× table.sum()", "bar")
    show(f"Variational index to 1e-10, T = .2 of the range, {threads}", columns,
         [row for n in (22, 24) for row in index(n)])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--here", metavar="LABEL")
    if (given := parser.parse_args()).here:
        here(given.here)
        return
    print(f"# The exact table engine\n\n{machine()}, NumPy {np.__version__}")
    sys.stdout.flush()
    for threads, label in (("1", "one BLAS thread"), (None, "default threads")):
        environment = dict(os.environ)
        if threads:
            environment |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
        command = [sys.executable, str(Path(__file__)), "--here", label]
        subprocess.run(command, env=environment, check=True)
    small()
    memory()
    growth()
    against_shapiq()


if __name__ == "__main__":
    main()
