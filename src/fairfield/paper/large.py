"""The paper's experiment with more players: 80 training points of a synthetic problem.

No code and no temperature were published for it (and its printed table names player 18
twice in one row), so the settings are those of the paper's other synthetic experiment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.criteria.compare import compare
from fairfield.evaluation.options import Keywords
from fairfield.games.data.game import DataGame
from fairfield.mean_field.elbo import sigmoid
from fairfield.results.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLAYERS, TEMPERATURE, BUDGET, SHOWN = 80, 0.5, 4000, 15
QUICK = 240
CRITERIA = ("variational_index", "banzhaf", "shapley")
FEATURES, IMPORTANT, TESTS = 10, 4, 100
# At 1.1^30 = 17 labels are all but certain.
MOST_RAISES = 30


@dataclass(frozen=True)
class Large:
    """The values of all players by the three criteria, estimated."""

    comparison: Comparison

    def best(self, count: int = SHOWN) -> dict[str, list[Any]]:
        """The best players by each criterion, the most valuable first: the paper's table."""
        return {name: v.ranking()[:count] for name, v in self.comparison.items()}

    def shared(self, count: int = SHOWN) -> dict[tuple[str, str], int]:
        """How many of their best players any two criteria share."""
        best = {name: set(players) for name, players in self.best(count).items()}
        names = list(best)
        pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
        return {(a, b): len(best[a] & best[b]) for a, b in pairs}

    def distances(self) -> dict[tuple[str, str], float]:
        """The mean distance between the ranks that any two criteria give a player.

        Over all players, so that it does not hang on who is the fifteenth.
        """
        places = {name: np.argsort(np.argsort(-v.values)) for name, v in self.comparison.items()}
        return {(a, b): float(np.abs(places[a] - places[b]).mean()) for a, b in self.shared()}


def large(*, quick: bool = False, **options: Unpack[Keywords]) -> Large:
    """The paper's table of the 15 best of 80 players, by three criteria.

    Cost: ``budget`` fits of a logistic regression for each criterion (4000; ``quick``: 240).
    """
    options.setdefault("budget", QUICK if quick else BUDGET)
    game = synthetic_game(PLAYERS)
    return Large(compare(game, criteria=CRITERIA, temperature=TEMPERATURE, **options))


def synthetic_game(players: int, seed: int = 0) -> DataGame:
    """The paper's data valuation of single synthetic points."""
    from sklearn.linear_model import LogisticRegression

    X, y = synthetic(players + TESTS, seed, players)
    model = LogisticRegression(solver="liblinear", max_iter=5000, random_state=666)
    parts = X[:players], y[:players], X[players:], y[players:]
    return DataGame(model, *parts, fallback="paper")


def synthetic(rows: int, seed: int, training: int) -> tuple[FloatArray, BoolArray]:
    """The paper's generator: normal features, labels by a quadratic form of four of them.

    P(y = 1) = σ(c·score), the score standardised, and c raised from 1 by 10 % until a model
    that is fitted on the first ``training`` rows is right on more than 70 % of the others; a
    quadratic form on which no c makes it so is drawn anew.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import PolynomialFeatures

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, FEATURES))
    terms = PolynomialFeatures(2, include_bias=False).fit_transform(X[:, :IMPORTANT])
    while True:
        score, chance = terms @ rng.normal(size=terms.shape[1]), rng.random(rows)
        score = (score - score.mean()) / score.std()
        for times in range(MOST_RAISES):
            y: NDArray[np.bool_] = chance < sigmoid(1.1**times * score)
            if y[:training].min() == y[:training].max():
                continue
            model = LogisticRegression(solver="liblinear").fit(X[:training], y[:training])
            if model.score(X[training:], y[training:]) > 0.7:
                return X, y


def draw(found: Large) -> Figure:
    """The values of the best players."""
    from matplotlib.figure import Figure

    from fairfield import plots

    figure = Figure(figsize=(9, 7), layout="constrained")
    plots.criteria(found.comparison, figure.subplots(), most=SHOWN)
    return figure
