"""``describe`` covers every number that the worths of a game depend on.

Each case makes a game from keywords; changing any one of them must change the description,
and the same keywords, given anew, must not.
"""

import importlib
import pkgutil
from contextlib import suppress
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import fairfield as ff
from fairfield.boltzmann.marginal import MarginalGame
from fairfield.core.combined import Combination
from fairfield.games.data.refitted import OneScore
from fairfield.games.features.linear import LinearGame
from fairfield.games.given.conditioned import ConditionedGame
from fairfield.learning.learn import LearnedGame

RNG = np.random.default_rng(0)
X, Y = make_classification(30, 4, n_informative=3, n_redundant=0, random_state=0)
OTHER_X, OTHER_Y = X.copy(), Y.copy()
OTHER_X[3, 2] += 0.5
OTHER_Y[3] = 1 - OTHER_Y[3]
HALVES = np.arange(30) % 3
CHANCES = RNG.dirichlet(np.ones(3), size=(4, 12))
TRUTH = np.arange(12) % 3
PAIRS = np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])


def changed(array, place, by=1.0):
    """A copy in which one number is another."""
    other = np.array(array, dtype=float)
    other[place] += by
    return other


def flat_background(row, kept, rng):
    return np.zeros((1, len(row)))


def table(worths, variances=None):
    return ff.TableGame(worths, variances=variances)


def line(slope, rows, background, groups=None):
    return LinearGame(LinearRegression().fit(X, slope * X.sum(axis=1)), rows, background,
                      groups=groups)  # fmt: skip


def tree(depth, rows, background, groups=None):
    model = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, X[:, 0] * X[:, 1])
    return ff.TreeGame(model, rows, background, groups=groups)


def fits(C=1.0, X=X, y=Y, X_test=X[:9], y_test=Y[:9], **more):
    return ff.DataGame(LogisticRegression(C=C), X, y, X_test, y_test, **{"groups": HALVES, **more})


def columns(C=1.0, X=X, y=Y, **more):
    return ff.ColumnGame(LogisticRegression(C=C), X, y, **{"cv": 2, **more})


def voices(votes=CHANCES, truth=TRUTH, **more):
    return ff.EnsembleGame(votes, None, truth, **{"labels": [0, 1, 2], **more})


def learned(strength):
    return ff.learn(40 * [[0, 1], [0, 1], [0], [2], [2, 1], []], strength=strength)


def held(worths, inside):
    return ConditionedGame(table(worths), np.array(inside))


def staying(worths, who):
    return ConditionedGame(table(worths), outside=~np.array(who))


def marginal(worths, gone, temperature, prior):
    return MarginalGame(table(worths), None, np.array(gone), temperature, prior)


def total(worths, factor):
    return factor * table(worths) + table(np.arange(8.0))


WORTHS = np.arange(8.0) ** 2
TABLE = {"worths": (WORTHS, changed(WORTHS, 3))}
TWO_GROUPS = {"a": [0, 1], "b": [2, 3]}, {"a": [0], "b": [1, 2, 3]}

# Kind of game, what makes it, and for each keyword what is given and another value.
CASES = {
    "table": (ff.TableGame, table, {**TABLE, "variances": (np.ones(8), changed(np.ones(8), 5))}),
    "function": (
        ff.FunctionGame,
        ff.FunctionGame,
        {"function": (np.sum, np.mean), "players": (3, 4)},
    ),
    "named function": (
        ff.FunctionGame,
        lambda name: ff.FunctionGame(np.sum, 3, name=name),
        {"name": ("one", "other")},
    ),
    "remote": (
        ff.RemoteGame,
        ff.RemoteGame,
        {
            "worth": (len, sorted),
            "players": (3, 4),
            "always": ((), ("question",)),
            "empty": (None, 0.5),
            "name": (None, "other"),
        },
    ),
    "sum": (Combination, total, {**TABLE, "factor": (2.0, 3.0)}),
    "held": (
        ConditionedGame,
        held,
        {**TABLE, "inside": ([True, False, False], [False, True, False])},
    ),
    "part": (
        ConditionedGame,
        staying,
        {**TABLE, "who": ([True, True, False], [True, False, True])},
    ),
    "marginal": (
        MarginalGame,
        marginal,
        {
            **TABLE,
            "gone": ([True, False, False], [False, True, False]),
            "temperature": (1.0, 2.0),
            "prior": (np.zeros(3), np.ones(3)),
        },
    ),
    "voting": (
        ff.VotingGame,
        ff.VotingGame,
        {
            "weights": ([1.5, 2, 3.25], [1.5, 2, 3.5]),
            "quota": (4, 5),
            "resolution": (1000, 2),
        },
    ),
    "cardinality": (
        ff.CardinalityGame,
        ff.CardinalityGame,
        {"worth_by_size": ([0, 1, 3], [0, 1, 4])},
    ),
    "airport": (ff.AirportGame, ff.AirportGame, {"costs": ([1, 2, 4], [1, 2, 5])}),
    "gloves": (ff.GlovesGame, ff.GlovesGame, {"left": (2, 3), "right": (3, 2)}),
    "bankruptcy": (
        ff.BankruptcyGame,
        ff.BankruptcyGame,
        {"claims": ([1.5, 2], [1.5, 3]), "estate": (2, 2.5), "resolution": (1000, 1)},
    ),
    "unanimity": (
        ff.UnanimityGame,
        ff.UnanimityGame,
        {"carrier": ([0], [1]), "players": (3, 4)},
    ),
    "pairs": (
        ff.PairwiseGame,
        ff.PairwiseGame,
        {"linear": ([1, 2, 3], [1, 2, 4]), "quadratic": (PAIRS, 2 * PAIRS)},
    ),
    "sparse pairs": (
        ff.PairwiseGame,
        ff.PairwiseGame,
        {"linear": ([1, 2, 3], [1, 2, 4]), "quadratic": (csr_array(PAIRS), csr_array(2 * PAIRS))},
    ),
    "cut": (ff.CutGame, ff.CutGame, {"weights": (PAIRS, 2 * PAIRS)}),
    "FLID": (
        ff.FLIDGame,
        ff.FLIDGame,
        {"gains": ([1, 2], [1, 3]), "weights": ([[1, 2], [0, 1]], [[1, 2], [0, 2]])},
    ),
    "FLDC": (
        ff.FLDCGame,
        ff.FLDCGame,
        {
            "gains": ([1, 2], [1, 3]),
            "weights": ([[1], [0]], [[1], [2]]),
            "complements": ([[1], [0]], [[2], [0]]),
        },
    ),
    "facilities": (
        ff.FacilityLocationGame,
        ff.FacilityLocationGame,
        {"weights": ([[1, 2], [0, 1]], [[1, 2], [0, 2]])},
    ),
    "coverage": (
        ff.CoverageGame,
        ff.CoverageGame,
        {"cover": ([[0.5, 1]], [[0.25, 1]]), "importance": ([1], [2])},
    ),
    "features": (
        ff.FeatureGame,
        ff.FeatureGame,
        {
            "predict": (LogisticRegression().fit(X, Y), LogisticRegression(C=9).fit(X, Y)),
            "rows": (X[:3], OTHER_X[1:4]),
            "background": (X[:9], OTHER_X[:9]),
            "output": (0, 1),
            "groups": TWO_GROUPS,
            "link": (None, "logit"),
        },
    ),
    "drawn features": (
        ff.FeatureGame,
        ff.FeatureGame,
        {
            "predict": (LogisticRegression().fit(X, Y), LogisticRegression(C=9).fit(X, Y)),
            "rows": (X[:3], OTHER_X[1:4]),
            "background": (flat_background, lambda row, kept, rng: np.ones((1, len(row)))),
        },
    ),
    "labelled features": (
        ff.FeatureGame,
        partial(ff.FeatureGame, output="label"),
        {
            "predict": (LogisticRegression().fit(X, Y), LogisticRegression(C=9).fit(X, Y)),
            "rows": (X[:4], OTHER_X[:4]),
            "background": (X[:9], OTHER_X[:9]),
            "y": (Y[:4], OTHER_Y[:4]),
        },
    ),
    "importance": (
        ff.ImportanceGame,
        ff.ImportanceGame,
        {
            "model": (LogisticRegression().fit(X, Y), LogisticRegression(C=9).fit(X, Y)),
            "X": (X, OTHER_X),
            "y": (Y, OTHER_Y),
            "background": (X[:4], OTHER_X[:4]),
            "scoring": ("neg_log_loss", "accuracy"),
            "by": (HALVES, HALVES[::-1]),
            "groups": TWO_GROUPS,
        },
    ),
    "texts": (
        ff.TextGame,
        ff.TextGame,
        {
            "predict": (lambda texts: [len(t) for t in texts], lambda texts: [1 for t in texts]),
            "text": ("Yes. No", "Yes. Not"),
            "split": ("words", list),
            "mask": (None, "…"),
        },
    ),
    "images": (
        ff.ImageGame,
        ff.ImageGame,
        {
            "predict": (lambda all_: all_.sum(axis=(1, 2)), lambda all_: all_.max(axis=(1, 2))),
            "image": (X[:4], OTHER_X[:4]),
            "segments": ((2, 2), (2, 1)),
            "mask": ("mean", 0.5),
        },
    ),
    "linear": (
        LinearGame,
        line,
        {
            "slope": (1.0, 2.0),
            "rows": (X[:4], OTHER_X[:4]),
            "background": (X[:9], OTHER_X[:9]),
            "groups": TWO_GROUPS,
        },
    ),
    "tree": (
        ff.TreeGame,
        tree,
        {
            "depth": (2, 3),
            "rows": (X[:4], OTHER_X[:4]),
            "background": (X[:9], OTHER_X[:9]),
            "groups": TWO_GROUPS,
        },
    ),
    "columns": (
        ff.ColumnGame,
        columns,
        {
            "C": (1.0, 2.0),
            "X": (X, OTHER_X),
            "y": (Y, OTHER_Y),
            "cv": (2, 3),
            "scoring": ("accuracy", "neg_log_loss"),
            "groups": ([0, 0, 1, 1], [0, 1, 0, 1]),
            "repeats": (2, 3),
            "seed": (0, 1),
        },
    ),
    "one score": (
        OneScore,
        lambda score, X: fits(X=X, scoring={"hits": "accuracy", "log": "neg_log_loss"})[score],
        {"score": ("hits", "log"), "X": (X, OTHER_X)},
    ),
    "regression": (
        ff.RegressionGame,
        ff.RegressionGame,
        {
            "X": (X, OTHER_X),
            "y": (X.sum(axis=1), OTHER_X.sum(axis=1)),
            "window": (10, 12),
            "step": (1, 2),
        },
    ),
    "data": (
        ff.DataGame,
        fits,
        {
            "C": (1.0, 2.0),
            "X": (X, OTHER_X),
            "y": (Y, OTHER_Y),
            "X_test": (X[:9], OTHER_X[:9]),
            "y_test": (Y[:9], OTHER_Y[:9]),
            "scoring": ("accuracy", "neg_log_loss"),
            "groups": (HALVES, np.arange(30) // 10),
            "fallback": (0.25, 0.5),
            "on_error": ("raise", "fallback"),
            "repeats": (2, 3),
            "seed": (0, 1),
        },
    ),
    "neighbours": (
        ff.NeighborGame,
        ff.NeighborGame,
        {
            "X": (X, OTHER_X),
            "y": (Y, OTHER_Y),
            "X_test": (X[:9], OTHER_X[:9]),
            "y_test": (Y[:9], OTHER_Y[:9]),
            "k": (2, 3),
            "task": ("classification", "regression"),
            "metric": ("euclidean", "cityblock"),
            "weights": ("distance", "uniform"),
            "vote": ("hard", "soft"),
            "bits": (3, 2),
        },
    ),
    "soft votes": (
        ff.EnsembleGame,
        voices,
        {
            "votes": (CHANCES, CHANCES[:, :, [1, 0, 2]]),
            "truth": (TRUTH, changed(TRUTH, 0).astype(int)),
            "fallback": (0.0, 0.5),
            "labels": ([0, 1, 2], [1, 0, 2]),
        },
    ),
    "averaged votes": (
        ff.EnsembleGame,
        partial(voices, vote="mean", labels=None),
        {
            "votes": (CHANCES[..., 0], changed(CHANCES[..., 0], (1, 2))),
            "truth": (TRUTH, changed(TRUTH, 0)),
            "scoring": ("r2", "neg_mean_squared_error"),
            "fallback": (0.0, 0.5),
        },
    ),
    "scored votes": (
        ff.EnsembleGame,
        voices,
        {
            "votes": (CHANCES, CHANCES[:, :, [1, 0, 2]]),
            "truth": (TRUTH, changed(TRUTH, 0).astype(int)),
            "scoring": ("f1_macro", "balanced_accuracy"),
            "labels": ([0, 1, 2], [1, 0, 2]),
        },
    ),
    "two-class votes": (
        ff.EnsembleGame,
        voices,
        {
            "votes": (CHANCES[..., 0], changed(CHANCES[..., 0], (1, 2), -0.1)),
            "truth": (TRUTH % 2, 1 - TRUTH % 2),
            "resolution": (100, 10),
            "vote": ("soft", "rozemberczki"),
            "labels": ([0, 1], [1, 0]),
        },
    ),
    "learned": (LearnedGame, learned, {"strength": (1.0, 2.0)}),
}


@pytest.mark.parametrize(
    ("name", "keyword"),
    [(name, keyword) for name, (_, _, keywords) in CASES.items() for keyword in keywords],
)
def test_a_changed_number_changes_the_description(name, keyword):
    _, make, keywords = CASES[name]
    given = {each: values[0] for each, values in keywords.items()}
    other = {**given, keyword: keywords[keyword][1]}
    assert make(**given).describe() != make(**other).describe()


@pytest.mark.parametrize("name", CASES)
def test_equal_games_have_equal_descriptions(name):
    kind, make, keywords = CASES[name]
    given = {each: values[0] for each, values in keywords.items()}
    game = make(**given)
    assert type(game) is kind
    assert game.describe() == game.describe() == make(**deepcopy(given)).describe()


def test_every_kind_of_game_is_here():
    for module in pkgutil.walk_packages(ff.__path__, "fairfield."):
        if module.name.startswith(("fairfield.games", "fairfield.core", "fairfield.learning")):
            with suppress(ModuleNotFoundError):  # neural set functions need PyTorch
                importlib.import_module(module.name)
    kinds, found = [ff.Game], set()
    while kinds:
        more = kinds.pop().__subclasses__()
        kinds += more
        found |= {each for each in more if each.__module__.startswith("fairfield.")}
    # The set functions of a neural network are described in the tests of learning; Refitted is
    # what games of rows and columns share, and a study keeps its answers as those of a RemoteGame.
    missing = {each.__name__ for each in found} - {kind.__name__ for kind, _, _ in CASES.values()}
    assert missing <= {"DeepSetsGame", "LogisticGame", "Refitted", "_Studied"}
