"""Results to draw: games of 12 and of 60 players, one and many."""

from dataclasses import replace

import numpy as np

import fairfield as ff
from fairfield.results.words import Words

EXPLAINED = Words("feature", "row", "log-odds of an income above 50K", "log-odds")
FEATURES = [
    "Age", "Workclass", "Education-Num", "Marital Status", "Occupation", "Relationship", "Race",
    "Sex", "Capital Gain", "Capital Loss", "Hours per week", "Country",
]  # fmt: skip
LONG_NAMES = [f"feature {i:02d}, whose name has forty letters" for i in range(12)]


def names(count):
    return FEATURES if count == 12 else [f"feature {i:02d}" for i in range(count)]


def game(count, players=None):
    """a·z + ½ zᵀJz: any number of players in closed form."""
    rng = np.random.default_rng(0)
    linear = rng.standard_normal(count)
    pairs = np.triu(rng.standard_normal((count, count)) * 0.8 / np.sqrt(count), 1)
    return ff.PairwiseGame(linear, pairs + pairs.T, players=players or names(count))


def one(count, criterion=ff.variational_index, errors=False, players=None):
    """A valuation of one game, with data, and with standard errors where asked."""
    rng = np.random.default_rng(1)
    played = game(count, players)
    played.info = ff.GameInfo(data=np.round(rng.standard_normal(count) * 10, 2))
    found = criterion(played, temperature=1.0)
    return replace(found, stderr=0.05 + 0.2 * rng.random(count)) if errors else found


def many(count, games=200, scale=1.0):
    """A valuation of many games whose values follow the data."""
    rng = np.random.default_rng(2)
    data = np.round(rng.standard_normal((games, count)) * 5)
    slope = rng.standard_normal(count) / (1 + np.arange(count))
    noise = 0.3 * rng.standard_normal((games, count)) / (1 + np.arange(count))
    values = scale * (data * slope / 5 + noise)
    return ff.Valuation(
        criterion="variational_index",
        players=tuple(names(count)),
        values=values,
        method="exact table",
        game="FeatureGame",
        stops=np.full(games, "converged"),
        empty=np.zeros(games),
        grand=values.sum(axis=1),
        data=data,
        words=EXPLAINED,
    )


def gappy(count):
    """Many games in which the first player's value is missing from some."""
    found = many(count)
    data = found.data.copy()
    data[::9, 0] = np.nan
    return replace(found, data=data)


def compared(count, batch=False):
    if not batch:
        return ff.compare(game(count), temperature=1.0)
    first = many(count)
    return ff.Comparison(
        {
            name: replace(
                many(count, scale=scale), criterion=name, values=first.values * scale + shift
            )
            for name, scale, shift in (
                ("variational_index", 1.0, 0.0),
                ("banzhaf", 0.9, 0.01 * np.sin(np.arange(count))),
                ("shapley", 0.8, 0.02 * np.cos(3 * np.arange(count))),
            )
        }
    )


def curve(label, rate):
    fractions = np.linspace(0, 1, 13)
    return ff.Curve(label, fractions, 0.3 + 0.6 * np.exp(-rate * fractions))


def draw(name, count):
    """The axes of one picture."""
    from fairfield import plots

    pictures = {
        "bar": lambda: plots.bar(one(count, errors=True)),
        "bar_batch": lambda: plots.bar(many(count)),
        "waterfall": lambda: plots.waterfall(one(count)),
        "waterfall_efficient": lambda: plots.waterfall(one(count, ff.shapley)),
        "waterfall_features": lambda: plots.waterfall(replace(one(count), words=EXPLAINED)),
        "box": lambda: plots.box(many(count)),
        "box_criteria": lambda: plots.box(compared(count, batch=True)),
        "beeswarm": lambda: plots.beeswarm(many(count)),
        "criteria": lambda: plots.criteria(compared(count)),
        "ranks": lambda: plots.ranks(compared(count)),
        "ranks_batch": lambda: plots.ranks(compared(count, batch=True)),
        "trajectory": lambda: plots.trajectory(
            ff.variational_values(game(count), 10, temperature=0.6)
        ),
        "annealing": lambda: plots.annealing(ff.annealing(game(count))),
        "annealing_marginals": lambda: plots.annealing(ff.annealing(game(count)), what="marginals"),
        "dependence": lambda: plots.dependence(gappy(count), names(count)[0]),
        "heatmap": lambda: plots.heatmap(many(count)),
        "cohorts": lambda: plots.cohorts(many(count), ["left", "right"] * 100),
        "network": lambda: plots.network(ff.interactions(game(count), "banzhaf")),
        "interactions": lambda: plots.interactions(ff.interactions(game(count), "banzhaf")),
    }
    return pictures[name]()


ALL = (
    "bar", "bar_batch", "waterfall", "waterfall_efficient", "waterfall_features", "box", "box_criteria", "beeswarm",
    "criteria", "ranks", "ranks_batch", "trajectory", "annealing", "annealing_marginals",
    "interactions", "dependence", "heatmap", "cohorts", "network",
)  # fmt: skip


class ClassesGame(ff.FunctionGame):
    """Two classes of each of three rows that have names."""

    batch = (3, 2)
    info = ff.GameInfo(
        ("w", "x", "y"), "margin", "log-odds", np.arange(9.0).reshape(3, 1, 3).repeat(2, axis=1), "feature", "row",
        outputs=("low", 7), output_noun="class",
    )  # fmt: skip

    def worths(self, coalitions):
        weights = np.arange(18.0).reshape(3, 2, 3) - 8
        return weights @ coalitions.T + coalitions[:, 0] * coalitions[:, 1]


def classes():
    """The values of three features for two classes of three rows."""
    return ff.shapley(ClassesGame(len, players=["a", "b", "c"]))
