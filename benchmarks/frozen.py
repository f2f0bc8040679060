"""Proof that a redesign changes no result: every criterion on every kind of game, as numbers.

    python benchmarks/frozen.py write AFTER.json
    python benchmarks/frozen.py compare benchmarks/frozen_before.json AFTER.json

A case is one reading of one game. Exact results may differ by 1e-12 of the largest magnitude in
their array, or of the numbers whose difference they are; estimates must agree in every bit.
Where a call raises, the type of the exception is the result. Only public names are used.
Bits depend on the processor and on the versions of packages, so both files are to be written on
one machine; what each was written with stands in it, and ``compare`` says where that differs.
"""

from __future__ import annotations

import os

# Sums of several threads come in any order: one thread makes bits repeat.
for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "NUMBA"):
    os.environ[f"{library}_NUM_THREADS"] = "1"
os.environ["TQDM_DISABLE"] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterable, Iterator, Mapping  # noqa: E402
from functools import cache, partial  # noqa: E402
from importlib.metadata import version  # noqa: E402
from math import comb  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from measure import show  # noqa: E402

import fairfield as ff  # noqa: E402

# Names that the redesign changes.
Options = getattr(ff, "Options", None) or ff.How
separate_top = getattr(ff, "separate_top", None) or ff.top
ReliabilityWarning = getattr(ff, "ReliabilityWarning", None) or ff.EstimateWarning

TOLERANCE = 1e-12

# What is read of a game: numbers by name, or functions that give them and may raise.
Parts = Mapping[str, Any]
Reading = Callable[[Any], Parts]


class Case(NamedTuple):
    """One result: how it is to be compared, and the way to it."""

    kind: str  # "exact" or "estimate"
    read: Callable[[], Parts]


# ------------------------------------------------------------------------------- games


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def shares(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape)


def worth(players: int) -> Callable[[np.ndarray], np.ndarray]:
    """A worth function with pairs, a bend and a threshold in it.

    Its numbers are multiples of 2^-10, whose sums are the same in any order: a worth has the
    same bits whichever coalitions are evaluated beside it.
    """
    own = np.round(1024 * numbers(players, seed=1)) / 1024
    pairs = np.round(1024 * numbers(players, players, seed=2) / players) / 1024

    def of(coalitions: np.ndarray) -> np.ndarray:
        inside = np.asarray(coalitions, dtype=float)
        linear = (inside * own).sum(axis=1)
        both = np.einsum("mi,ij,mj->m", inside, pairs, inside)
        return linear + both + np.sqrt(inside.sum(axis=1)) + (inside[:, :3].sum(axis=1) >= 2)

    return of


def function_game(players: int) -> Any:
    return ff.FunctionGame(worth(players), players)


def symmetric(players: int, seed: int = 3) -> np.ndarray:
    half = np.triu(numbers(players, players, seed=seed), 1)
    return half + half.T


def table(*batch: int, players: int = 4) -> np.ndarray:
    return numbers(*batch, 2**players, seed=4)


@cache
def labelled(columns: int = 4, rows: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, a number and a class for each of them."""
    X = numbers(rows, columns, seed=5)
    answer = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * numbers(rows, seed=6)
    return X, answer, (answer > 0).astype(int)


# Models that take missing values, and those asked for a class.
WITH_GAPS = ("histogram", "xgboost", "lightgbm")
WITH_CLASSES = ("boosted", "forest class", "lightgbm")


@cache
def gappy() -> np.ndarray:
    """The same rows, some values missing."""
    X = labelled()[0].copy()
    X[shares(*X.shape, seed=7) < 0.15] = np.nan
    return X


@cache
def frame() -> Any:
    """The same rows with names, and a column of categories."""
    import pandas as pd

    X = pd.DataFrame(labelled()[0][:, :3], columns=["age", "size", "weight"])
    X["town"] = pd.Categorical(
        np.where(X["age"] > 0, "here", np.where(X["size"] > 0, "near", "far"))
    )
    return X


def of_frame(X: Any) -> np.ndarray:
    """A model of mixed columns."""
    town = X["town"].astype(str).to_numpy()
    inside = X[["age", "size", "weight"]].to_numpy(dtype=float)
    return inside[:, 0] * (town == "here") + inside[:, 1] * inside[:, 2] + 0.5 * (town == "far")


def of_four(X: np.ndarray) -> np.ndarray:
    """A model of four columns of numbers."""
    return X[:, 0] * X[:, 1] + np.sin(X[:, 2]) - X[:, 3] ** 2 * X[:, 0]


def of_many(X: np.ndarray) -> np.ndarray:
    """A model of twelve columns."""
    return X[:, 0] * X[:, 1] + np.abs(X[:, 2:6]).sum(axis=1) + np.tanh(X[:, 6:].sum(axis=1))


@cache
def fitted(name: str, columns: int = 4) -> Any:
    """A small model by its name."""
    from sklearn import ensemble, linear_model

    X, answer, label = labelled(columns)
    if name.startswith("forest"):
        kind = (
            ensemble.RandomForestClassifier if "class" in name else ensemble.RandomForestRegressor
        )
        model = kind(3, max_depth=3, random_state=0)
    elif name == "boosted":
        model = ensemble.GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0)
    elif name == "histogram":
        model = ensemble.HistGradientBoostingRegressor(
            max_iter=3, min_samples_leaf=4, random_state=0
        )
    elif name == "xgboost":
        from xgboost import XGBRegressor

        model = XGBRegressor(n_estimators=3, max_depth=2, n_jobs=1, random_state=0)
    elif name == "lightgbm":
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(n_estimators=3, min_child_samples=4, n_jobs=1, verbose=-1)
    elif name == "line":
        model = linear_model.LinearRegression()
    else:
        model = linear_model.LogisticRegression()
    classifies = hasattr(model, "predict_proba")
    return model.fit(gappy() if name in WITH_GAPS else X, label if classifies else answer)


def tree_game(name: str, *, path: bool = False, rows: Any = slice(0, 2), **more: Any) -> Any:
    """With a background of eight rows, or path-dependent; two rows or one."""
    X = gappy() if name in WITH_GAPS else labelled()[0]
    if name in WITH_CLASSES:
        more["output"] = 1
    return ff.TreeGame(fitted(name), X[rows], None if path else X[8:16], **more)


def feature_game(rows: Any = 0, *, model: Any = None, **more: Any) -> Any:
    X = labelled()[0]
    return ff.FeatureGame(model or fitted("logistic"), X[rows], X[8:12], **more)


def squared_error(outputs: Any) -> Any:
    return -((np.asarray(outputs) - 0.5) ** 2)


def data_game(groups: int = 4, **more: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    X, _, y = labelled()
    owner = np.arange(24) % groups
    model = more.pop("model", None) or LogisticRegression(solver="liblinear")
    return ff.DataGame(model, X[:24], y[:24], X[24:], y[24:], groups=owner, **more)


def random_trees() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=2, max_features=2)


def neighbor_game(rows: int = 4, tests: int = 6, **more: Any) -> Any:
    X, answer, label = labelled()
    y = answer if more.get("task") == "regression" else label
    soft = more.pop("soft", False)
    known = shares(rows, 2, seed=8) if soft else y[:rows]
    return ff.NeighborGame(X[:rows], known, X[30 : 30 + tests], y[30 : 30 + tests], **more)


def ensemble_game(
    models: int = 4, rows: int = 12, *, vote: str = "soft", classes: int = 2, **more: Any
) -> Any:
    truth = np.arange(rows) % classes
    lean = numbers(models, rows, classes, seed=9)
    if vote == "mean":
        return ff.EnsembleGame(lean[..., 0] + truth, None, truth * 1.0, vote=vote, **more)
    lean[:, np.arange(rows), truth] += 0.7
    chances = np.exp(lean) / np.exp(lean).sum(axis=-1, keepdims=True)
    votes = chances.argmax(axis=-1) if vote == "hard" else chances
    return ff.EnsembleGame(votes, None, truth, vote=vote, **more)


def shapiq_game(players: int) -> Any:
    import shapiq

    class Known(shapiq.Game):
        def value_function(self, coalitions: Any) -> Any:
            return worth(players)(coalitions) + 1.0

    empty = float(worth(players)(np.zeros((1, players)))[0]) + 1.0
    return ff.from_shapiq(Known(n_players=players, normalize=True, normalization_value=empty))


def baskets(players: int = 4, rows: int = 60) -> np.ndarray:
    lean = numbers(rows, players, seed=10) + numbers(rows, 1, seed=11)
    return lean > np.linspace(-0.5, 0.5, players)


# Learning is slow beside all else, and several cases need what was learned.
learned = cache(lambda model, objective, **more: ff.learn(baskets(), model, objective, **more))


def airport(players: int) -> Any:
    return ff.AirportGame(1 + 5 * shares(players, seed=12))


def voting(players: int) -> Any:
    return ff.VotingGame(1 + np.arange(players) % 7, quota=int(2 * players))


def bankruptcy(players: int) -> Any:
    return ff.BankruptcyGame(np.arange(1, players + 1), estate=players * 1.25)


def cardinality(players: int) -> Any:
    return ff.CardinalityGame(np.sqrt(np.arange(players + 1)) - 0.1 * np.arange(players + 1))


def coverage(players: int) -> Any:
    cover = np.where(shares(6, players, seed=13) < 0.5, shares(6, players, seed=14), 0.0)
    return ff.CoverageGame(cover, 1 + shares(6, seed=15))


def flid(players: int) -> Any:
    return ff.FLIDGame(numbers(players, seed=16), shares(players, 3, seed=17))


def fldc(players: int) -> Any:
    more = shares(players, 2, seed=18)
    return ff.FLDCGame(numbers(players, seed=16), shares(players, 3, seed=17), more)


def facilities(players: int) -> Any:
    return ff.FacilityLocationGame(shares(players, 4, seed=19))


def pairwise(players: int) -> Any:
    return ff.PairwiseGame(numbers(players, seed=20), symmetric(players) / np.sqrt(players))


def cut(players: int) -> Any:
    return ff.CutGame(np.abs(numbers(players, players, seed=3)) / players)


def unanimity(players: int) -> Any:
    return ff.UnanimityGame([0, 2], players)


def gloves(players: int) -> Any:
    return ff.GlovesGame(left=players // 2 - 1, right=players - players // 2 + 1)


# Small games: whatever can be asked is asked of each.
GAMES: dict[str, Callable[[], Any]] = {
    "table": lambda: ff.TableGame(table()),
    "table of a dict": lambda: ff.TableGame.from_mapping(
        {(): 0, ("a",): 1, ("b",): 2, ("a", "b"): 5.5}
    ),
    "table batch": lambda: ff.TableGame(table(2, players=3)),
    "table with variances": lambda: ff.TableGame(table(), variances=shares(16, seed=21)),
    "function": lambda: function_game(6),
    "features": feature_game,
    "features batch, label": lambda: feature_game(slice(0, 2), output="label", y=labelled()[2][:2]),
    "features loss": lambda: feature_game(link=squared_error),
    "features grouped": lambda: feature_game(model=of_four, groups={"both": [0, 1], "last": [2]}),
    "features of a frame": lambda: ff.FeatureGame(of_frame, frame()[:2], frame()[8:12]),
    "features drawn": lambda: ff.FeatureGame(
        of_four, labelled()[0][0], lambda row, kept, rng: rng.normal(size=(3, 4))
    ),
    "forest": lambda: tree_game("forest", rows=0),
    "forest of classes": lambda: tree_game("forest class", groups={"both": [0, 1]}),
    "forest by paths": lambda: tree_game("forest", path=True),
    "boosted": lambda: tree_game("boosted"),
    "boosted by paths": lambda: tree_game("boosted", path=True, rows=0),
    "histogram": lambda: tree_game("histogram", rows=1),
    "xgboost": lambda: tree_game("xgboost", rows=1),
    "xgboost by paths": lambda: tree_game("xgboost", path=True),
    "lightgbm": lambda: tree_game("lightgbm", rows=0),
    "lightgbm by paths": lambda: tree_game("lightgbm", path=True),
    "line": lambda: ff.LinearGame(fitted("line"), labelled()[0][0], labelled()[0][8:12]),
    "lines": lambda: ff.LinearGame(fitted("logistic"), labelled()[0][:2], labelled()[0][8:12]),
    "data": data_game,
    "data, two scorings": lambda: data_game(scoring={"right": None, "loss": "neg_log_loss"}),
    "data, repeated": lambda: data_game(model=random_trees(), repeats=3),
    "data, fallback": lambda: data_game(groups=5, fallback="paper", on_error="fallback"),
    "neighbors": lambda: neighbor_game(k=2),
    "neighbors soft": lambda: neighbor_game(k=3, soft=True),
    "neighbors regression": lambda: neighbor_game(k=2, task="regression"),
    "ensemble soft": ensemble_game,
    "ensemble soft, three classes": lambda: ensemble_game(classes=3),
    "ensemble rounded": lambda: ensemble_game(resolution=50),
    "ensemble hard": lambda: ensemble_game(vote="hard"),
    "ensemble rozemberczki": lambda: ensemble_game(vote="rozemberczki"),
    "ensemble mean": lambda: ensemble_game(vote="mean", scoring="r2"),
    "voting": lambda: voting(5),
    "voting by real weights": lambda: ff.VotingGame(shares(4, seed=22), quota=1.1),
    "FLID": lambda: flid(4),
    "FLDC": lambda: fldc(4),
    "facilities": lambda: facilities(4),
    "pairwise": lambda: pairwise(4),
    "cut": lambda: cut(4),
    "coverage": lambda: coverage(4),
    "cardinality": lambda: cardinality(4),
    "airport": lambda: airport(4),
    "gloves": lambda: gloves(4),
    "bankruptcy": lambda: bankruptcy(4),
    "unanimity": lambda: unanimity(4),
    "sum of closed forms": lambda: 2.0 * flid(4) - cut(4) / 3,
    "sum with a function": lambda: function_game(4) + -facilities(4),
    "shapiq": lambda: shapiq_game(4),
    "learned pairwise": lambda: learned("pairwise", "pseudolikelihood", strength=1.0),
    "learned linear": lambda: learned("linear", "likelihood"),
}

# Kinds that the list above has in another form: of these only the main readings are taken.
VARIANTS = {
    "features batch, label", "features loss", "features grouped", "features drawn",
    "forest of classes", "forest by paths", "boosted by paths", "histogram", "xgboost by paths",
    "lightgbm by paths", "lines", "data, two scorings", "data, repeated", "data, fallback",
    "neighbors soft", "neighbors regression", "ensemble soft, three classes", "ensemble rounded",
    "ensemble rozemberczki", "voting by real weights", "sum with a function", "shapiq",
    "learned linear", "table of a dict", "airport",
}  # fmt: skip

# Closed forms too large for a table: their laws are sampled.
LARGE: dict[str, Callable[[], Any]] = {
    "voting": lambda: voting(30),
    "FLID": lambda: flid(30),
    "FLDC": lambda: fldc(28),
    "facilities": lambda: facilities(28),
    "pairwise": lambda: pairwise(30),
    "cut": lambda: cut(28),
    "coverage": lambda: coverage(28),
    "cardinality": lambda: cardinality(28),
    "bankruptcy": lambda: bankruptcy(28),
    "gloves": lambda: gloves(28),
    "neighbors": lambda: neighbor_game(28, 1, k=3),
    "ensemble": lambda: ensemble_game(27, 4, vote="hard"),
    "forest": lambda: ff.TreeGame(fitted("forest", 28), labelled(28)[0][0], labelled(28)[0][8:16]),
    "sum": lambda: flid(28) + 0.5 * cut(28),
}

# Games without a closed form that a budget below 2^n makes an estimate of.
ESTIMATED: dict[str, Callable[[], Any]] = {
    "function of 12": lambda: function_game(12),
    "function of 30": lambda: function_game(30),
    "features of 12": lambda: ff.FeatureGame(of_many, labelled(12)[0][:2], labelled(12)[0][8:10]),
    "data of 8, repeated": lambda: data_game(8, model=random_trees(), repeats=2),
    "ensemble of 12": lambda: ensemble_game(12, classes=3),
}
BUDGETS = {"function of 12": 600, "function of 30": 1000, "data of 8, repeated": 80}

# ----------------------------------------------------------------------------- readings

FIELDS = (
    "values", "stderr", "marginals", "temperature", "elbo", "log_z", "log_z_stderr",
    "decoupling_error", "steps", "residual", "evaluations", "empty", "grand",
)  # fmt: skip
# What is worth keeping where the same criterion is found in another way.
BRIEF = ("values", "stderr", "elbo", "decoupling_error", "steps", "residual")


def of_valuation(valuation: Any, fields: Iterable[str] = FIELDS) -> Parts:
    return {name: getattr(valuation, name) for name in fields}


def valued(criterion: Callable[..., Any], *given: Any, **more: Any) -> Reading:
    """A valuation by a criterion, as numbers."""
    return lambda game: of_valuation(criterion(game, *given, **more))


def briefly(criterion: Callable[..., Any], *given: Any, **more: Any) -> Reading:
    return lambda game: of_valuation(criterion(game, *given, **more), BRIEF)


def uneven(game: Any) -> np.ndarray:
    """A probability for each player, none alike."""
    return np.linspace(0.2, 0.7, len(game.players))


def weighted(game: Any) -> Parts:
    """Weights by size of coalitions, heaviest on the small ones."""
    count = len(game.players)
    raw = 1.0 / (1 + np.arange(count))
    total = raw @ [comb(count - 1, size) for size in range(count)]
    return of_valuation(ff.semivalue(game, raw / total))


def some_coalitions(game: Any) -> np.ndarray:
    """None, all, and a few others."""
    count = len(game.players)
    return np.vstack([np.zeros(count), np.ones(count), shares(3, count, seed=23) < 0.5]) > 0


def better_half(game: Any) -> np.ndarray:
    """The coalitions whose worths are above the middle."""
    count = len(game.players)
    every = (np.arange(2**count)[:, None] >> np.arange(count)) % 2 == 1
    found = game.worths(every).reshape(-1, len(every)).mean(axis=0)
    return every[found > np.median(found)]


def largest_worth(game: Any) -> float:
    return float(np.abs(game.worths(some_coalitions(game))).max())


def worths(game: Any) -> Parts:
    return {"worths": game.worths(some_coalitions(game))}


def interactions(game: Any) -> Parts:
    """One, two or three of three players by every criterion, and all pairs by some."""
    few = list(game.players[:3])
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        f"{name} {order}": (name, {"order": order, "among": few[:1] if order == 1 else few})
        for name in ("shapley", "banzhaf", "variational_index", "log_odds", "block_gain")
        for order in (1, 2, 3)
    }
    asked |= {
        "shapley, all pairs": ("shapley", {}),
        "strongest": ("banzhaf", {"top": 2}),
        "named pair": ("log_odds", {"among": [tuple(few[:2])], "temperature": 2.0}),
        "from elsewhere": ("variational_index", {"among": few, "start": 0.9, "temperature": 0.5}),
    }

    def read(name: str, more: dict[str, Any]) -> np.ndarray:
        return ff.interactions(game, name, **more).values

    return {
        "scale": largest_worth(game),
        **{label: partial(read, name, more) for label, (name, more) in asked.items()},
    }


def few_together(game: Any) -> Parts:
    few = list(game.players[:3])
    return {
        "scale": largest_worth(game),
        "pairs": lambda: ff.interactions(game, "banzhaf", among=few).values,
        "triple": lambda: ff.interactions(game, "shapley", order=3, among=few).values,
    }


def moebius(game: Any) -> Parts:
    return {"dividends": ff.moebius(game), "scale": largest_worth(game)}


def compared(game: Any) -> Parts:
    wanted = ["shapley", "free_energy_value", ff.variational_index]
    found = ff.compare(game, criteria=wanted, temperature=ff.relative(0.7))
    index = found["variational_index"]
    return {
        **{name: valuation.values for name, valuation in found.items()},
        "log_z": index.log_z,
        "decoupling_error": index.decoupling_error,
        "evaluations": found.evaluations,
    }


def annealed(game: Any) -> Parts:
    path = ff.annealing(game, [ff.relative(3.0), ff.relative(0.4)], criteria="variational_index")
    return {
        "temperatures": path.temperatures,
        "values": path.values(),
        "log_z": [each["variational_index"].log_z for each in path.comparisons],
        "decoupling_error": [each["variational_index"].decoupling_error for each in path.comparisons],
        "critical": np.array(path.critical),
    }  # fmt: skip


def diagnosed(game: Any) -> Parts:
    index = ff.variational_index(game, temperature=ff.relative(0.5))
    found = ff.diagnose(game, index, starts=3)
    names = ("residual", "saddle_eigenvalue", "cycle_eigenvalue", "uniqueness_temperature")
    return {
        **{name: getattr(found, name) for name in (*names, "bracket", "spread", "better")},
        "unique": -1 if found.unique is None else int(found.unique),
    }


def law_of(game: Any) -> Parts:
    """The exact law at one temperature, with what is conditioned on and summed over."""
    x, names = uneven(game), game.players

    def read(law: Any) -> Parts:
        return {"log_z": law.log_z, "marginals": law.marginals}

    law = ff.Boltzmann(game, ff.relative(0.8))
    flat = law.pair_marginals[..., *np.triu_indices(len(names), 1)]
    tilted = ff.Boltzmann(game, 1.5, prior=x)
    return {
        **read(law),
        "temperature": law.temperature,
        "pair_marginals": flat,
        "entropy": law.entropy,
        "mean": law.mean,
        "total_correlation": law.total_correlation,
        "elbo": law.elbo(x),
        "decoupling_error": law.decoupling_error(x),
        "reverse_error": law.reverse_error(x),
        "log_likelihood": law.log_likelihood(some_coalitions(game)[:3]),
        **{f"prior.{name}": part for name, part in read(tilted).items()},
        "given.log_z": lambda: law.condition(names[:1], names[1:2]).log_z,
        "given.marginals": lambda: law.condition(names[:1]).marginals,
        "summed.marginals": lambda: law.marginalise(names[:1]).marginals,
        "of mean.temperature": lambda: ff.Boltzmann.from_mean(game, law.mean).temperature,
        "of coalitions.temperature": lambda: (
            ff.Boltzmann.from_coalitions(game, better_half(game)).temperature
        ),
    }


def drawn(game: Any) -> Parts:
    return {"draws": ff.Boltzmann(game, ff.relative(0.8)).draw(5, seed=3)}


def axioms(game: Any) -> Parts:
    criteria = {
        "shapley": ff.shapley,
        "variational_index": partial(ff.variational_index, temperature=1.0),
    }

    def violations(criterion: Any) -> list[float]:
        return [each.violation for each in ff.axioms.check(criterion, game).values()]

    return {
        "scale": largest_worth(game),
        **{name: partial(violations, criterion) for name, criterion in criteria.items()},
        "own": lambda: ff.axioms.marginalism("banzhaf", game, own=True).violation,
    }


def curves(game: Any) -> Parts:
    values = ff.shapley(game).values.reshape(-1, len(game.players))[0]
    removal = ff.removal_curve(game, values)
    return {
        "scale": largest_worth(game),
        "removal": removal.worths,
        "drop": ff.weighted_drop(removal),
        "addition": lambda: (
            ff.addition_curve(game, values, highest_first=False, fractions=[0.0, 0.5, 1.0]).worths
        ),
        "pruning": lambda: ff.pruning_curve(game, "banzhaf").worths,
    }


# How every small game is read, and whether random draws have a part in it.
READINGS: dict[str, tuple[str, Reading]] = {
    "worths": ("exact", worths),
    "shapley": ("exact", valued(ff.shapley)),
    "shapley, concentrated": ("exact", briefly(ff.shapley, temperature=ff.concentrated(0.6))),
    "banzhaf, relative": ("exact", briefly(ff.banzhaf, temperature=ff.relative(0.5))),
    "semivalue of a list": ("exact", weighted),
    "semivalue beta(2, 3)": ("exact", briefly(ff.semivalue, ff.beta(2, 3), temperature=0.8)),
    "leave one out": ("exact", valued(ff.leave_one_out)),
    "one step": ("exact", briefly(ff.variational_values, 1)),
    "three steps": ("exact", valued(ff.variational_values, 3, temperature=1.0)),
    "index": ("exact", valued(ff.variational_index)),
    "index at 1, synchronous": (
        "exact",
        briefly(ff.variational_index, solver="synchronous", temperature=1.0),
    ),
    "index concentrated, coordinate": (
        "exact",
        briefly(ff.variational_index, solver="coordinate", temperature=ff.concentrated(0.7)),
    ),
    "index, four starts": (
        "exact",
        briefly(ff.variational_index, starts=4, temperature=ff.relative(0.3), decoupling=False),
    ),
    "index, prior and start": (
        "exact",
        lambda game: of_valuation(
            ff.variational_index(game, prior=uneven(game), start=uneven(game)[::-1])
        ),
    ),
    "free energy": ("exact", valued(ff.free_energy_value)),
    "interactions": ("exact", interactions),
    "few together": ("exact", few_together),
    "moebius": ("exact", moebius),
    "compare": ("exact", compared),
    "annealing": ("exact", annealed),
    "diagnosis": ("exact", diagnosed),
    "law": ("exact", law_of),
    "draws": ("estimate", drawn),
    "axioms": ("exact", axioms),
    "curves": ("exact", curves),
}

# The readings of variants.
MAIN = (
    "worths", "shapley", "banzhaf, relative", "semivalue beta(2, 3)", "leave one out",
    "three steps", "index", "few together",
)  # fmt: skip

# Coalitions that the sampler of a law may look at.
LOOKS = 6_000


def sampled_law(game: Any) -> Parts:
    law = ff.Boltzmann(game, ff.relative(0.8), budget=LOOKS)
    few = game.players[:2]
    errors = {f"{name}.stderr": law.stderr(name) for name in ("log_z", "mean", "entropy")}
    return {
        "temperature": law.temperature,
        "log_z": law.log_z,
        "marginals": law.marginals[:6],
        "pair_marginals": law.pair_marginals[:3, :3],
        "mean": law.mean,
        "entropy": law.entropy,
        "total_correlation": law.total_correlation,
        **errors,
        "marginals.stderr": law.stderr("marginals")[:4],
        "elbo": law.elbo(uneven(game)),
        "decoupling_error": law.decoupling_error(uneven(game)),
        "doubts": len(law.warnings),
        "draws": law.draw(2, seed=3),
        "given.log_z": lambda: law.condition(few[:1], few[1:]).log_z,
        "summed.marginals": lambda: law.marginalise(few).marginals[:4],
        "summed over many.marginals": lambda: law.marginalise(game.players[:10]).marginals[:4],
    }


def decoupled(game: Any) -> Parts:
    found = ff.variational_index(game, decoupling=True, budget=LOOKS)
    return of_valuation(found, ("elbo", "log_z", "log_z_stderr", "decoupling_error"))


def law_of_mean(game: Any) -> Parts:
    warm = ff.Boltzmann(game, ff.relative(2.0), budget=LOOKS)
    found = ff.Boltzmann.from_mean(game, float(warm.mean), budget=LOOKS)
    return {"temperature": found.temperature, "log_z": found.log_z}


# All pairs are many, and laws of large games are sampled.
NEED_A_LAW = ("shapley, all pairs", "named pair", "log_odds 1", "log_odds 2", "log_odds 3")


def sampled_pairs(game: Any) -> Parts:
    found = ff.interactions(game, "log_odds", among=game.players[:4], budget=LOOKS)
    return {"values": found.values, "stderr": found.stderr}


def closed_interactions(game: Any) -> Parts:
    """Interactions that need no law."""
    asked = interactions(game)
    return {name: part for name, part in asked.items() if name not in NEED_A_LAW}


def first(reading: Reading, count: int = 4) -> Reading:
    """Of long arrays, the players who come first."""
    return lambda game: {
        name: np.asarray(part)[..., :count] if np.ndim(part) else part
        for name, part in reading(game).items()
    }


LARGE_READINGS: dict[str, tuple[str, Reading]] = {
    "shapley": ("exact", first(valued(ff.shapley))),
    "semivalue beta(2, 3)": ("exact", first(valued(ff.semivalue, ff.beta(2, 3)))),
    "leave one out": ("exact", first(valued(ff.leave_one_out))),
    "three steps": ("exact", first(valued(ff.variational_values, 3))),
    "index": ("exact", first(valued(ff.variational_index))),
    "interactions": ("exact", closed_interactions),
    "banzhaf": ("exact", first(briefly(ff.banzhaf))),
    "index, decoupled": ("estimate", decoupled),
    "free energy": ("estimate", first(valued(ff.free_energy_value, budget=LOOKS))),
    "law": ("estimate", sampled_law),
    "law of a mean": ("estimate", law_of_mean),
    "interactions of the law": ("estimate", sampled_pairs),
}

# Games whose law takes long to sample: it is not sampled again for these.
SLOW = ("neighbors", "ensemble")
OF_THE_LAW = ("law of a mean", "interactions of the law", "free energy")

# Every sampler of every criterion.
SAMPLERS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "shapley": (ff.shapley, ("auto", "surrogate", "regression", "permutation")),
    "banzhaf": (ff.banzhaf, ("auto", "surrogate", "regression", "permutation")),
    "semivalue beta(2, 3)": (
        lambda game, **how: ff.semivalue(game, ff.beta(2, 3), **how),
        ("auto", "permutation"),
    ),
    "three steps": (
        lambda game, **how: ff.variational_values(game, 3, temperature=1.0, **how),
        ("auto", "least-squares", "one-shot", "monte-carlo"),
    ),
    "index": (
        partial(ff.variational_index, temperature=1.0),
        ("auto", "least-squares", "surrogate", "one-shot", "monte-carlo"),
    ),
}


def weighted_estimate(game: Any, **how: Any) -> Any:
    count = len(game.players)
    return ff.semivalue(game, np.full(count, 0.5 ** (count - 1)), **how)


def streamed(game: Any) -> Parts:
    rounds = list(ff.stream("shapley", game, budget=400, n_jobs=1))
    return {
        "rounds": len(rounds),
        "evaluations": [each.evaluations for each in rounds],
        "first": rounds[0].values,
        "last": rounds[-1].values,
    }


def stored(game: Any) -> Parts:
    """Worths kept in a file: none is evaluated twice, and values stay what they were."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "worths.db"
        before = ff.banzhaf(game, budget=200, store=path)
        after = ff.banzhaf(game, budget=300, store=path)
    return {
        "before": before.values,
        "after": after.values,
        "evaluations": [before.evaluations, after.evaluations],
    }


def evaluated_law(game: Any) -> Parts:
    """A law sampled from worths alone."""
    law = ff.Boltzmann(game, 2.0, budget=100_000 if len(game.players) > 12 else 4_000)
    return {name: getattr(law, name) for name in ("log_z", "marginals", "entropy")}


# Estimates of the functions of 12 and 30 players, beside those of every sampler.
OTHER_ESTIMATES: dict[str, Reading] = {
    "semivalue of a list": valued(weighted_estimate, budget=300),
    "shapley, other seed": valued(ff.shapley, budget=300, seed=7),
    "shapley to a tolerance": valued(ff.shapley, tolerance=0.3),
    "banzhaf to a tolerance": valued(ff.banzhaf, tolerance=0.3, temperature=ff.relative(0.5)),
    "shapley, top 2": valued(ff.shapley, tolerance=separate_top(2), budget=3000),
    "index to a tolerance": valued(ff.variational_index, tolerance=0.4, budget=4000),
    "index, relative": valued(ff.variational_index, temperature=ff.relative(0.6), budget=600),
    "index, prior and start": lambda game: of_valuation(
        ff.variational_index(
            game, temperature=1.0, budget=600, prior=uneven(game), start=uneven(game)
        )
    ),
    "index, decoupled": valued(ff.variational_index, temperature=2.0, budget=2000, decoupling=True),
    "one step": valued(ff.variational_values, 1, budget=600),
    "compare": lambda game: {
        f"{name}.{field}": getattr(valuation, field)
        for name, valuation in ff.compare(game, budget=600).items()
        for field in ("values", "stderr")
    },
    "law": evaluated_law,
    "stream": streamed,
    "store": stored,
    "two at work": valued(ff.shapley, budget=300, n_jobs=2),
    "leave one out": valued(ff.leave_one_out),
}

# ------------------------------------------------------------------ what is no game's reading


def explained(model: Any, rows: Any = slice(0, 2), **more: Any) -> Callable[[], Parts]:
    def read() -> Parts:
        X = gappy() if model in WITH_GAPS else labelled()[0]
        chosen = fitted(model) if isinstance(model, str) else model
        return of_valuation(ff.explain(chosen, X[rows], X[8:12], **more))

    return read


def clustered() -> Parts:
    X = labelled()[0]
    return {"kmeans": ff.cluster(X, 3), "seeded": ff.cluster(X, 4, seed=2)}


def trials() -> Parts:
    value = ff.shapley(function_game(6))
    runs = [ff.banzhaf(function_game(12), budget=200, seed=seed).values for seed in (0, 1, 2)]
    agreed = ff.rank_stability(runs, top=0.25)
    return {
        "detection": ff.detection_rate(value, [0, 3]),
        "f1": ff.detection_f1(value, [0, 3]),
        "stability": [agreed.spearman, agreed.overlap],
    }


def lesson(model: str, objective: str, **more: Any) -> Callable[[], Parts]:
    """A game learned from coalitions: its worths, its loss, what it says of others."""

    def read() -> Parts:
        game = learned(model, objective, **more)
        seen = ff.learning.score(game, baskets(rows=80)[60:])
        return {
            "worths": game.worths(some_coalitions(game)),
            "loss": game.fit.losses[-1],
            "strength": game.fit.strength,
            "steps": game.fit.steps,
            "constant": game.constant,
            "log_likelihood": seen.log_likelihood,
            "percentile_rank": seen.percentile_rank,
        }

    return read


def means() -> Parts:
    found = ff.shapley(GAMES["table batch"]()).mean(by=["x", "y"])
    return {"mean": found.mean, "magnitude": found.magnitude}


def options() -> Parts:
    """The keywords of every criterion and what they are if nothing is said."""
    known = Options()
    names = ("budget", "tolerance", "seconds", "seed", "n_jobs", "decoupling", "each_round")
    return {name: getattr(known, name) for name in names} | {
        "refused": lambda: Options(budget=0),
        "warns": int(issubclass(ReliabilityWarning, UserWarning)),
    }


def needed() -> Parts:
    asked = [(0.1, 0.05, 1), (0.1, 0.05, 20), (0.01, 0.5, 3)]
    return {
        "samples": [ff.samples_needed(*each) for each in asked],
        "refused": lambda: ff.samples_needed(0.0, 0.5),
    }


OTHERS: dict[str, Case] = {
    "samples needed": Case("exact", needed),
    "options": Case("exact", options),
    "means": Case("exact", means),
    "cluster": Case("exact", clustered),
    "cluster at random": Case(
        "estimate", lambda: {"labels": ff.cluster(labelled()[0], 3, how="random", seed=1)}
    ),
    "trials": Case("estimate", trials),
    "explain a forest": Case("exact", explained("forest class", output=1)),
    "explain boosted trees": Case("exact", explained("boosted", 0, criterion="shapley")),
    "explain xgboost": Case("exact", explained("xgboost", criterion=ff.banzhaf)),
    "explain lightgbm": Case("exact", explained("lightgbm", temperature=0.1)),
    "explain a line": Case("exact", explained("line")),
    "explain a probability": Case("exact", explained("logistic", output="probability")),
    "explain the label": Case("exact", explained("logistic", output="label", y=[0, 1])),
    "explain a loss": Case(
        "exact", explained("logistic", output="label", y=[1, 1], criterion="shapley")
    ),
    "explain groups": Case("exact", explained("forest", groups={"a": [0, 3], "b": [1, 2]})),
    "explain a function": Case("exact", explained(of_four, 0, criterion="free_energy_value")),
    "learn FLID": Case("estimate", lesson("flid", "nce", strength=1.0, dimensions=2, redraws=2)),
    "learn FLDC": Case(
        "estimate", lesson("fldc", "pseudolikelihood", dimensions=2, starts=2, redraws=2, steps=100)
    ),
    "learn pairs": Case("estimate", lesson("pairwise", "ratio-matching")),
    "learn pairs by likelihood": Case("exact", lesson("pairwise", "likelihood", strength=0.5)),
    "learn pairs by their odds": Case(
        "exact", lesson("pairwise", "pseudolikelihood", strength=1.0)
    ),
    "learn independent players": Case("exact", lesson("linear", "likelihood")),
}


def readings_of_all() -> Iterator[tuple[str, str, Callable[[], Any], Reading]]:
    """What is read of every game: its name, how it is compared, the game, the reading."""
    for name, make in GAMES.items():
        for each in MAIN if name in VARIANTS else READINGS:
            kind, read = READINGS[each]
            yield f"small {name}: {each}", kind, make, read
    for name, make in LARGE.items():
        for each, (kind, read) in LARGE_READINGS.items():
            if name in SLOW and each in OF_THE_LAW:
                continue
            yield f"large {name}: {each}", kind, make, read
    for name, make in ESTIMATED.items():
        for criterion, (value, samplers) in SAMPLERS.items():
            for sampler in samplers:
                read = valued(value, sampler=sampler, budget=BUDGETS.get(name, 500))
                yield f"{name}: {criterion}, {sampler}", "estimate", make, first(read)
        if name.startswith("function"):
            for each, read in OTHER_ESTIMATES.items():
                yield f"{name}: {each}", "estimate", make, first(read)


def cases() -> Iterator[tuple[str, Case]]:
    """Every case by its name."""
    built = cache(lambda make: make())
    for name, kind, make, read in readings_of_all():
        yield name, Case(kind, lambda make=make, read=read: read(built(make)))
    yield from OTHERS.items()


# ------------------------------------------------------------------------ writing results


def plain(part: Any) -> Any:
    """Numbers as lists of Python's own, whose text gives back every bit; errors as their type."""
    try:
        found = part() if callable(part) else part
    except Exception as error:
        return type(error).__name__
    array = np.asarray(found)
    return (array.astype(int) if array.dtype == bool else array).tolist()


def result(case: Case) -> dict[str, Any]:
    """The numbers of a case by name."""
    try:
        parts = case.read()
    except Exception as error:
        return {"raises": type(error).__name__}
    return {name: plain(part) for name, part in parts.items() if part is not None}


def made_with() -> dict[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "numba", "xgboost-cpu", "lightgbm", "shapiq")
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            processor = next(line.split(":")[1].strip() for line in file if "model name" in line)
    except (OSError, StopIteration):
        processor = platform.processor()
    return {
        "processor": processor,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def write(path: Path, slow: float) -> int:
    """Run every case; one line of the file for each."""
    print(f"fairfield from {Path(ff.__file__).parent}", file=sys.stderr)
    warnings.simplefilter("ignore")
    started, worked = time.perf_counter(), time.process_time()
    lines: dict[str, list[str]] = {"exact": [], "estimate": []}
    for name, case in cases():
        begun = time.perf_counter()
        written = json.dumps(result(case), separators=(",", ":"))
        lines[case.kind].append(f"{json.dumps(name)}: {written}")
        if time.perf_counter() - begun > slow:
            print(f"{time.perf_counter() - begun:6.1f} s  {name}", file=sys.stderr)
    halves = [f'"{kind}": {{\n' + ",\n".join(some) + "\n}" for kind, some in lines.items()]
    head = f'"made with": {json.dumps(made_with())}'
    path.write_text("{" + ",\n".join([head, *halves]) + "}\n", encoding="utf-8")
    print(
        f"{sum(map(len, lines.values()))} cases, {path.stat().st_size:,} bytes, "
        f"{time.perf_counter() - started:.0f} s, {time.process_time() - worked:.0f} s of a processor",
        file=sys.stderr,
    )
    return 0


# ---------------------------------------------------------------------- comparing results


# Small numbers that are differences of larger ones carry the rounding of those: the residual
# and the spread are of probabilities, eigenvalues of numbers around 1, and the worth of all
# players may be a sum that cancels.
DIFFERENCES: dict[str, tuple[str, ...] | float] = {
    "residual": 1.0,
    "spread": 1.0,
    "better": 1.0,
    "saddle_eigenvalue": 1.0,
    "cycle_eigenvalue": 1.0,
    "empty": ("values", "grand"),
    "grand": ("values", "empty"),
    "decoupling_error": ("log_z", "elbo"),
    "total_correlation": ("log_z", "entropy"),
    "reverse_error": ("log_z", "entropy"),
}


def magnitude(part: Any) -> float:
    """The largest size of finite numbers, 0 where there are none."""
    if part is None or isinstance(part, str):
        return 0.0
    sizes = np.abs(np.asarray(part, dtype=float))
    return float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))


def scale(case: Mapping[str, Any], name: str) -> float:
    """What a difference in the array of this name is measured by."""
    *prefix, last = name.split(".")
    known = DIFFERENCES.get(last, ())
    if isinstance(known, float):
        return max(known, magnitude(case[name]))
    siblings = [".".join([*prefix, other]) for other in known]
    return max(magnitude(case.get(each)) for each in (name, "scale", *siblings))


# Estimates that the redesign changed on purpose: in which cases, why, and by how much at most.
MEANT = {
    "function of 12: compare": ("one budget for all criteria", 1.0),
    "function of 30: compare": ("one budget for all criteria", 1.0),
    "large gloves": ("worths are ½(L + R) − ½|L − R|", 1e-12),
}


class Difference(NamedTuple):
    """One array, or one case, that is not what it was."""

    case: str
    what: str
    kind: str
    relative: float | None
    how: str

    @property
    def verdict(self) -> str:
        """Rounding, where exact results may differ by that; meant, and why; or wrong."""
        if self.kind == "exact" and self.relative is not None and self.relative <= TOLERANCE:
            return "rounding"
        for case, (why, most) in MEANT.items():
            if case in self.case and self.relative is not None and self.relative <= most:
                return f"meant: {why}"
        return "WRONG"


def apart(case: str, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Difference:
    """How far two arrays that are not the same text lie apart."""
    found = partial(Difference, case, name, before["kind"])
    old, new = before.get(name), after.get(name)
    if old is None or new is None:
        return found(None, "is new" if old is None else "is missing")
    if isinstance(old, str) or isinstance(new, str):
        errors = (each if isinstance(each, str) else "numbers" for each in (old, new))
        return found(None, " became ".join(errors))
    first_array, second_array = np.asarray(old, dtype=float), np.asarray(new, dtype=float)
    if first_array.shape != second_array.shape:
        return found(None, f"shape {first_array.shape} became {second_array.shape}")
    unlike = first_array != second_array
    finite = np.isfinite(first_array) & np.isfinite(second_array)
    if (unlike & ~finite & ~(np.isnan(first_array) & np.isnan(second_array))).any():
        return found(None, "finite numbers became others, or the other way round")
    gap = np.abs(np.subtract(second_array, first_array, where=finite, out=np.zeros(finite.shape)))
    worst = np.unravel_index(np.argmax(gap), gap.shape)
    largest = float(gap[worst])
    # Zeros of either sign differ in a bit and by nothing.
    relative = largest / max(scale(before, name), scale(after, name)) if largest else 0.0
    return found(relative, f"{float(first_array[worst])!r} became {float(second_array[worst])!r}")


def outcome(case: Mapping[str, Any]) -> str:
    """What came of a case as a whole, in words."""
    return f"{case['kind']} {case.get('raises', 'numbers')}"


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    """Every array and every case that is not the same in all its bits."""
    for case in [*before, *(name for name in after if name not in before)]:
        if case not in before or case not in after:
            yield Difference(case, "", "", None, "is new" if case not in before else "is missing")
            continue
        old, new = before[case], after[case]
        if ("raises" in old) != ("raises" in new) or old["kind"] != new["kind"]:
            yield Difference(case, "", old["kind"], None, f"{outcome(old)} became {outcome(new)}")
            continue
        # Text tells zeros of either sign apart, and finds no NaN unlike itself.
        for name in [*old, *(name for name in new if name not in old)]:
            if json.dumps(old.get(name)) != json.dumps(new.get(name)):
                yield apart(case, name, old, new)


def count_numbers(cases: Mapping[str, Any], kind: str) -> int:
    arrays = [
        np.size(part)
        for case in cases.values()
        if case["kind"] == kind
        for part in case.values()
        if not isinstance(part, str)
    ]
    return int(sum(arrays))


def read(path: Path) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """What a file was written with, and its cases, each with its kind."""
    held = json.loads(path.read_text(encoding="utf-8"))
    made = held.pop("made with")
    return made, {
        name: {"kind": kind, **case} for kind, some in held.items() for name, case in some.items()
    }


def compare(before_path: Path, after_path: Path) -> int:
    """Tables of what differs; 1 if anything differs that must not."""
    (made, before), (made_now, after) = read(before_path), read(after_path)
    found = list(differences(before, after))
    sizes = [each.relative for each in found if each.kind == "exact" and each.relative is not None]
    wrong = [each for each in found if each.verdict == "WRONG"]
    changed = sum(each.kind == "estimate" for each in found)
    rows = []
    for kind in ("exact", "estimate"):
        those = {name: case for name, case in before.items() if case["kind"] == kind}
        rows.append((f"{kind} cases", len(those), sum(c["kind"] == kind for c in after.values())))
        rows.append((f"{kind} numbers", count_numbers(before, kind), count_numbers(after, kind)))
    show("Results before and after", ("", "before", "after"), rows)
    show(
        "Differences",
        ("", "found"),
        [
            ("largest relative difference of exact results", max(sizes, default=0.0)),
            (
                "exact arrays that differ by rounding",
                sum(each.verdict == "rounding" for each in found),
            ),
            ("estimates identical in every bit", "no" if changed else "yes"),
            ("differences that are meant", sum(each.verdict.startswith("meant") for each in found)),
            ("differences that must not be", len(wrong)),
        ],
    )
    if found:
        show(
            "By case",
            ("case", "what", "kind", "relative", "how", "verdict"),
            [
                (
                    each.case,
                    each.what,
                    each.kind,
                    "" if each.relative is None else f"{each.relative:.2g}",
                    each.how,
                    each.verdict,
                )
                for each in sorted(found, key=lambda each: each.verdict == "rounding")
            ],
        )
    others = [name for name in made if made[name] != made_now.get(name)]
    if others:
        seen = ", ".join(f"{name} {made[name]} and {made_now.get(name)}" for name in others)
        print(f"\nThe files were written with different {seen}: bits may differ for that alone.")
    return int(bool(wrong))


def main() -> int:
    parser = argparse.ArgumentParser(description="Write every result, or compare two such files.")
    commands = parser.add_subparsers(required=True)
    writing = commands.add_parser("write")
    writing.add_argument("path", type=Path)
    writing.add_argument("--slow", type=float, default=np.inf, help="name cases slower than this")
    writing.set_defaults(run=lambda given: write(given.path, given.slow))
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.set_defaults(run=lambda given: compare(given.before, given.after))
    given = parser.parse_args()
    return given.run(given)


if __name__ == "__main__":
    sys.exit(main())
