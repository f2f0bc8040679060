"""Small games with closed forms, of all kinds: each must agree with its own table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.games.given.table import TableGame
from fairfield.multilinear.table import TableExtension

rng = np.random.default_rng(20220425)


def table_of(game: Game) -> TableExtension:
    """The extension of the game's own worths."""
    return TableExtension.of(TableGame(game.worths(enumerate_coalitions(len(game.players)))))


def closed_form(game: Game) -> Extension:
    extension = game.extension()
    assert extension is not None
    return extension


def some_points(players: int, count: int = 20) -> np.ndarray:
    """Random points, with players who are surely in or out."""
    x = rng.random((count, players))
    kind = rng.integers(0, 6, x.shape)
    return np.where(kind == 0, 0.0, np.where(kind == 1, 1.0, x))


def assert_same(actual: np.ndarray, expected: np.ndarray, within: float = 1e-10) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=within)


def assert_same_game(here: Game, there: Game, rng: np.random.Generator) -> None:
    """Games on two devices have the same worths, extension and values."""
    coalitions = rng.random((20, len(here.players))) < 0.4
    np.testing.assert_allclose(there.worths(coalitions), here.worths(coalitions), atol=1e-13)
    x = rng.random((3, len(here.players)))
    for of in ("value", "gradient", "hessian"):
        found, wanted = (getattr(game.extension(), of)(x) for game in (there, here))
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    for criterion in (ff.shapley, ff.variational_index):
        found, wanted = criterion(there, temperature=0.5), criterion(here, temperature=0.5)
        np.testing.assert_allclose(found.values, wanted.values, atol=1e-11)


def symmetric(players: int) -> np.ndarray:
    """A symmetric matrix with a zero diagonal."""
    half = np.triu(rng.normal(size=(players, players)), 1)
    return half + half.T


def cover(elements: int, players: int) -> np.ndarray:
    """Chances to cover, many of them 0 and some of them 1."""
    chances = rng.random((elements, players)) * (rng.random((elements, players)) < 0.6)
    return np.where(chances > 0.5, 1.0, chances)


def hard_votes(models: int, rows: int) -> ff.EnsembleGame:
    truth = rng.integers(0, 2, rows)
    labels = np.where(rng.random((models, rows)) < 0.7, truth, 1 - truth)
    return ff.EnsembleGame(labels, None, truth, vote="hard")


def undecided_votes(models: int, rows: int) -> ff.EnsembleGame:
    """Probabilities 0, ½ and 1, which need no rounding."""
    truth = rng.integers(0, 2, rows)
    return ff.EnsembleGame(rng.integers(0, 3, (models, rows)) / 2, None, truth, labels=[0, 1])


def shares_of_truth(models: int, rows: int) -> ff.EnsembleGame:
    """Probabilities 0 and 1 of three classes."""
    truth = rng.integers(0, 3, rows)
    chances = np.eye(3)[rng.integers(0, 3, (models, rows))]
    return ff.EnsembleGame(chances, None, truth, vote="rozemberczki", fallback=0.4, labels=range(3))


GAMES: dict[str, Callable[[], Game]] = {
    "voting": lambda: ff.VotingGame(rng.integers(1, 20, 11), quota=70),
    "voting, high quota": lambda: ff.VotingGame(rng.integers(1, 20, 10), quota=95),
    "voting, low quota": lambda: ff.VotingGame(rng.integers(1, 20, 10), quota=12),
    "voting, signed": lambda: ff.VotingGame(rng.integers(-9, 12, 11), quota=3),
    "voting, real quota": lambda: ff.VotingGame(2 * rng.integers(0, 9, 10), quota=31.5),
    "voting, all win": lambda: ff.VotingGame([1, 2, 3], quota=0),
    "voting, none wins": lambda: ff.VotingGame([1, 2, 3], quota=7),
    "voting, no weight": lambda: ff.VotingGame([0, 0, 0], quota=0),
    "one voter": lambda: ff.VotingGame([1], quota=1),
    "FLID": lambda: ff.FLIDGame(rng.normal(size=11), rng.random((11, 4))),
    "FLID, signed": lambda: ff.FLIDGame(rng.normal(size=10), rng.normal(size=(10, 5))),
    "FLID, all negative": lambda: ff.FLIDGame(rng.normal(size=9), -rng.random((9, 3))),
    "FLID, ties": lambda: ff.FLIDGame(rng.normal(size=10), rng.integers(-2, 3, (10, 4))),
    "FLDC": lambda: ff.FLDCGame(rng.normal(size=10), rng.random((10, 3)), rng.normal(size=(10, 2))),
    "facilities": lambda: ff.FacilityLocationGame(rng.random((10, 7))),
    "one facility": lambda: ff.FacilityLocationGame([[2.0, -3.0]]),
    "pairs": lambda: ff.PairwiseGame(rng.normal(size=12), symmetric(12)),
    "pairs, sparse": lambda: ff.PairwiseGame(rng.normal(size=9), csr_array(symmetric(9))),
    "cut": lambda: ff.CutGame(rng.random((10, 10))),
    "cut, sparse": lambda: ff.CutGame(csr_array(cover(10, 10))),
    "coverage": lambda: ff.CoverageGame(cover(30, 11), rng.random(30)),
    "coverage, sparse": lambda: ff.CoverageGame(csr_array(cover(9, 10)), rng.normal(size=9)),
    "coverage, nothing": lambda: ff.CoverageGame(np.zeros((2, 3)), [1.0, 2.0]),
    "cardinality": lambda: ff.CardinalityGame(rng.normal(size=12)),
    "airport": lambda: ff.AirportGame([4, 4, 1, 0, 7, 2.5]),
    "gloves": lambda: ff.GlovesGame(left=4, right=7),
    "gloves, one left": lambda: ff.GlovesGame(left=1, right=5),
    "gloves, one right": lambda: ff.GlovesGame(left=6, right=1),
    "bankruptcy": lambda: ff.BankruptcyGame(rng.integers(1, 30, 11), estate=100),
    "bankruptcy, real estate": lambda: ff.BankruptcyGame(3 * rng.integers(0, 9, 9), estate=40.5),
    "bankruptcy, no estate": lambda: ff.BankruptcyGame([1, 2, 3], estate=0),
    "bankruptcy, all paid": lambda: ff.BankruptcyGame([1, 2, 3], estate=8),
    "unanimity": lambda: ff.UnanimityGame([1, 4, 5, 8], players=10),
    "unanimity of one": lambda: ff.UnanimityGame([2], players=4),
    "hard votes": lambda: hard_votes(models=10, rows=40),
    "soft votes": lambda: undecided_votes(models=9, rows=30),
    "shares of the true class": lambda: shares_of_truth(models=10, rows=25),
    "a sum": lambda: (
        2 * ff.FLIDGame(rng.normal(size=10), rng.normal(size=(10, 3)))
        + ff.PairwiseGame(rng.normal(size=10), symmetric(10))
    ),
}
