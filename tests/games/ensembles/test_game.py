"""Ensembles: what votes are worth, spelled out, and their closed forms."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.given.conditioned import ConditionedGame
from fairfield.games.given.table import TableGame
from fairfield.games.textbook.voting import whole_votes
from fairfield.multilinear.table import TableExtension
from games.ensembles.examples import rng, votes
from games.examples import assert_same, table_of


def share_right(sums: np.ndarray, truth: np.ndarray) -> float:
    """Rows whose true class is ahead of every other one."""
    ahead = [row[t] > np.delete(row, t).max() for row, t in zip(sums, truth, strict=True)]
    return float(np.mean(ahead))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("vote", ["soft", "hard"])
def test_worths_are_shares_of_right_rows(vote: str, classes: int) -> None:
    chances, truth = votes(6, 50, classes)
    game = ff.EnsembleGame(chances, None, truth, vote=vote)
    ballots = chances if vote == "soft" else np.eye(classes)[chances.argmax(axis=-1)]
    coalitions = enumerate_coalitions(6)
    expected = [share_right(ballots[coalition].sum(axis=0), truth) for coalition in coalitions]
    expected[0] = np.bincount(truth).max() / len(truth)
    assert_same(game.worths(coalitions), np.array(expected))
    assert (game.extension() is None) == (classes == 3 or vote == "soft")


@pytest.mark.parametrize("classes", [2, 4])
def test_rozemberczki_counts_rows_whose_truth_gets_half_of_all_models(classes: int) -> None:
    chances, truth = votes(7, 40, classes)
    game = ff.EnsembleGame(chances, None, truth, vote="rozemberczki")
    coalitions = enumerate_coalitions(7)
    own = chances[:, np.arange(40), truth] / 7
    expected = [(own[coalition].sum(axis=0) >= 0.5).mean() for coalition in coalitions]
    assert_same(game.worths(coalitions), np.array(expected))
    assert game.worths(coalitions[:1]) == 0


@pytest.mark.parametrize("vote", ["soft", "rozemberczki"])
@pytest.mark.parametrize("resolution", [30, 1000])
def test_rounded_votes_equal_their_table_and_keep_the_bound(vote: str, resolution: int) -> None:
    n, rows = 8, 60
    chances, truth = votes(n, rows)
    game = ff.EnsembleGame(chances, None, truth, vote=vote, fallback=0.3, resolution=resolution)
    own = chances[:, np.arange(rows), truth].T
    weights, quota = (own, n / 2) if vote == "rozemberczki" else (2 * own - 1, 1e-9)
    rounded = whole_votes(weights, quota, resolution)
    coalitions = enumerate_coalitions(n)
    table = (coalitions @ rounded.weights.T >= rounded.quota).mean(axis=1)
    table[0] = 0.3
    closed, near = game.extension(), TableExtension.of(TableGame(table))
    assert closed is not None
    given = table_of(game)
    x = rng.random((20, n))
    x[::3, :2], x[1::3, 3:5] = 0.0, 1.0
    assert_same(closed.value(x), near.value(x))
    assert_same(closed.gradient(x), near.gradient(x))
    assert_same(closed.hessian(x), near.hessian(x))
    assert_same(closed.shapley(), near.shapley())
    assert (np.abs(closed.value(x) - given.value(x)) <= game.error_bound(x) + 1e-12).all()


def test_few_real_votes_are_left_to_the_exact_table() -> None:
    chances, truth = votes(17, 20)
    assert ff.EnsembleGame(chances, None, truth).extension() is not None
    assert ff.EnsembleGame(chances[:16], None, truth).extension() is None
    assert ff.EnsembleGame(chances[:16], None, truth, resolution=50).extension() is not None
    assert ff.EnsembleGame(chances[:16], None, truth, vote="hard").extension() is not None


def test_alike_rows_are_one_game() -> None:
    labels = rng.integers(0, 2, (4, 1000))
    truth = rng.integers(0, 2, 1000)
    game = ff.EnsembleGame(labels, None, truth, vote="hard")
    closed = game.extension()
    table = table_of(game)
    assert closed is not None
    assert game._whole is not None
    assert len(game._whole[1]) <= 16
    assert game.error_bound(np.full(4, 0.5)) == 0
    assert_same(closed.shapley(), table.shapley())


def test_the_hessian_of_a_forest_stays_within_memory() -> None:
    truth = rng.integers(0, 2, 400)
    labels = np.where(rng.random((120, 400)) < 0.55, truth, 1 - truth)
    closed = ff.EnsembleGame(labels, None, truth, vote="hard").extension()
    assert closed is not None
    x = np.full(120, 0.5)
    tracemalloc.start()
    hessian = closed.hessian(x)
    assert tracemalloc.get_traced_memory()[1] < 100e6
    tracemalloc.stop()
    # The first row of it by differences, exact since f is linear in each player.
    with_him, without = x.copy(), x.copy()
    with_him[0], without[0] = 1.0, 0.0
    assert_same(hessian[0, 1:], (closed.gradient(with_him) - closed.gradient(without))[1:])


def test_ties_are_wrong_even_when_sums_round() -> None:
    # 0.7 + 0.2 + 0.6 is a draw at 1.5; in floating point the margins do not cancel.
    chances = np.array([[0.7], [0.2], [0.6]])
    for truth in ([0], [1]):
        game = ff.EnsembleGame(chances, None, truth, labels=[0, 1])
        assert game.worths(np.ones((1, 3), dtype=bool)) == 0


def test_worths_and_table_call_the_same_margins_ties(rng: np.random.Generator) -> None:
    # Margins whose sum passes a tie although their mean does not, and the other way round.
    lead = rng.choice([0.3e-9, 0.8e-9, 1.2e-9, -0.4e-9], (3, 200))
    chances = np.stack([0.3 + lead, np.full_like(lead, 0.3), np.full_like(lead, 0.1)], axis=-1)
    truth = np.zeros(200, dtype=int)
    game = ff.EnsembleGame(chances, None, truth, labels=range(3))
    coalitions = enumerate_coalitions(3)
    assert_allclose(game.table(), game.worths(coalitions))
    assert len(np.unique(game.table())) > 4


def test_describe_tells_the_truths_apart() -> None:
    pytest.importorskip("sklearn")
    chances, truth = votes(3, 20, 3)
    for scoring in (None, "f1_macro"):
        one, same, other = (
            ff.EnsembleGame(chances, None, y, scoring=scoring, fallback=0.0).describe()
            for y in (truth, truth.copy(), np.roll(truth, 1))
        )
        assert one == same != other


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (([[0.1, 0.2]], None, [0, 1]), {"vote": "loud"}, "vote='loud'"),
        (([[0.1, 0.2]], None, [0, 1]), {"fallback": "none"}, "fallback='none'"),
        (([[0.1, 0.2]], None, [0, 1]), {"fallback": np.nan}, "fallback.* is nan"),
        (([[0.1, 0.2]], None, [0, 1, 1]), {}, "for 3 test rows"),
        (([[0.1, 1.2]], None, [0, 1]), {}, "outside"),
        (([[0.1, np.nan]], None, [0, 1]), {}, "NaN"),
        (([[0.1, 0.2]], None, [[0, 1]]), {}, "one entry per row"),
        (([["a", "b"]], None, ["a", "b"]), {}, "vote='hard' takes labels"),
        (([[0.1, 0.2]], None, ["a", "a"]), {}, "2 classes were given"),
        (([[0, 1]], None, ["0", "1"]), {"vote": "hard"}, "both hold texts, or both numbers"),
        (([["0", "1"]], None, [0, 1]), {"vote": "hard"}, "both hold texts, or both numbers"),
        (([[0.1, 0.2]], None, [0, 1]), {"labels": [0, 0]}, "name each label once"),
        (([[0.1, 0.2]], None, [0, 1]), {"labels": [1, 2]}, "name each label once"),
        (([[0.1, 0.2]], None, [0, 1]), {"labels": ["0", "1"]}, "name each label once"),
        (([[0.1, 0.2]], None, [0, 1]), {"vote": "rozemberczki", "scoring": "f1"}, "own worth"),
        (([[0.1, 0.2]], None, [0, 1]), {"players": ["a", "b"]}, "2 players were named"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    arguments: tuple[object, ...], options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        ff.EnsembleGame(*arguments, **options)  # type: ignore[arg-type]


def test_rounded_votes_are_not_called_exact() -> None:
    chances, truth = votes(17, 60)
    game = ff.EnsembleGame(chances, None, truth)
    bound = game.extension().coarseness
    assert bound > 0
    told = f"a Banzhaf value by at most {1.05 * bound:.2g}"
    for criterion in (ff.banzhaf, ff.shapley, ff.variational_index):
        stop = criterion(game, decoupling=False).stop
        assert told in stop
        assert stop.endswith("these values by an unknown amount") == (criterion is not ff.banzhaf)
        assert stop.split(";")[0] != "exact"
    # Rounding turns rows both ways, which a bound row by row cannot see.
    assert 10 * bound < 2 * game.error_bound(np.full(17, 0.5))
    assert "drawn ensembles" in ff.banzhaf(game).stop
    true = ff.banzhaf(game.table()).values
    assert np.abs(ff.banzhaf(game).values - true).max() <= bound
    assert ff.banzhaf(game + 2.0 * game).stop.endswith(f"{3 * 1.05 * bound:.2g}")
    some = ff.pruning_curve(game).worths
    assert len(some) == 18
    assert ff.shapley(ff.EnsembleGame(chances.round(), None, truth, vote="hard")).stop == "exact"
    real = ff.VotingGame(rng.random(5), 1.2, resolution=20)
    assert "unknown amount" in ff.shapley(ConditionedGame(real, outside=np.arange(5) == 4)).stop


def test_leaving_one_out_reads_no_rounded_votes() -> None:
    """Of one coalition rounding turns more rows than of all on average: values were off by .01."""
    rng = np.random.default_rng(0)
    truth, chances = rng.integers(0, 2, 200), rng.random((18, 200))
    game = ff.EnsembleGame(np.stack([1 - chances, chances], -1), None, truth)
    few = np.vstack([~np.eye(18, dtype=bool), np.ones((1, 18), dtype=bool)])
    worths = game.worths(few)
    found = ff.leave_one_out(game)
    assert found.values.tolist() == (worths[-1] - worths[:-1]).tolist()
    assert (found.stop, found.method) == ("exact", "n + 2 worths")
    assert (found.empty, found.grand) == (game.empty, worths[-1])
    warm = ff.leave_one_out(game, temperature=0.1)
    assert warm.values.tolist() == found.values.tolist()
    assert warm.stop.startswith("exact; the game was rounded for its closed form, from which")


def test_describe_tells_labels_apart_that_a_scoring_reads() -> None:
    chances, _ = votes(3, 20, 2)

    def mean(true: np.ndarray, predicted: np.ndarray) -> float:
        return float(predicted.mean())

    one, same, other = (
        ff.EnsembleGame(chances, None, np.zeros(20), scoring=mean, labels=labels).describe()
        for labels in ([0, 1], [0, 1], [0, 2])
    )
    assert one == same != other


@pytest.mark.parametrize("scoring", ["neg_log_loss", "f1_macro", "roc_auc_ovr", "accuracy"])
def test_scorers_of_scikit_learn(scoring: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    chances, truth = votes(4, 80, 3)
    game = ff.EnsembleGame(chances, None, truth, scoring=scoring)
    coalition = np.array([[True, False, True, True]])
    mean = chances[coalition[0]].mean(axis=0)
    expected = {
        "neg_log_loss": -metrics.log_loss(truth, mean),
        "f1_macro": metrics.f1_score(truth, mean.argmax(axis=1), average="macro"),
        "roc_auc_ovr": metrics.roc_auc_score(truth, mean, multi_class="ovr"),
        "accuracy": (truth == mean.argmax(axis=1)).mean(),
    }
    assert game.worths(coalition)[0] == pytest.approx(expected[scoring])
    assert game.extension() is None
    assert np.isfinite(game.empty)
    with pytest.raises(ValueError, match="no closed form"):
        game.error_bound(np.zeros(4))


def test_functions_as_scores_and_the_best_constant() -> None:
    chances, truth = votes(4, 60)

    def recall(true: np.ndarray, predicted: np.ndarray) -> float:
        return float((predicted[true == 1] == 1).mean())

    game = ff.EnsembleGame(chances, None, truth, scoring=recall)
    everyone = np.ones((1, 4), dtype=bool)
    assert game.worths(everyone)[0] == recall(truth, chances.sum(axis=0).argmax(axis=1))
    assert game.worths(~everyone) == 1


def test_regression_averages_numbers() -> None:
    pytest.importorskip("sklearn")
    truth = rng.normal(size=40)
    numbers = truth + rng.normal(size=(5, 40))

    def loss(true: np.ndarray, predicted: np.ndarray) -> float:
        return -float(np.abs(true - predicted).mean())

    coalition = np.array([[True, True, False, True, False]])
    game = ff.EnsembleGame(numbers, None, truth, vote="mean", scoring=loss)
    assert game.worths(coalition)[0] == loss(truth, numbers[coalition[0]].mean(axis=0))
    assert game.worths(coalition & False)[0] == loss(truth, np.median(truth))
    assert game.extension() is None
    by_r2 = ff.EnsembleGame(numbers, None, truth, vote="mean")
    assert by_r2.worths(coalition & False)[0] == pytest.approx(0.0)


def test_a_scorer_as_well_as_its_name() -> None:
    from sklearn.metrics import get_scorer

    chances, truth = votes(4, 40)
    games = [
        ff.EnsembleGame(chances, None, truth, scoring=scoring)
        for scoring in ("neg_log_loss", get_scorer("neg_log_loss"))
    ]
    assert_allclose(*(ff.shapley(game).values for game in games))


def test_models_and_scores_may_write_into_what_they_get() -> None:
    held = np.empty(6)

    class Line:
        def __init__(self, slope: float) -> None:
            self.slope = slope

        def predict(self, X: np.ndarray) -> np.ndarray:
            np.multiply(X[:, 0], self.slope, out=held)
            X[:] = 0
            return held

    def distance(true: np.ndarray, predicted: np.ndarray) -> float:
        found = -float(np.abs(true - predicted).mean())
        true.sort()
        predicted[:] = 0
        return found

    X, y = np.arange(6.0)[::-1, None].copy(), np.array([3.0, 1, 4, 1, 5, 9])
    models = [Line(1.0), Line(3.0)]
    game = ff.EnsembleGame(models, X, y, vote="mean", scoring=distance, fallback=0.0)
    S = enumerate_coalitions(2)
    means = [np.zeros(6), X[:, 0], 3 * X[:, 0], 2 * X[:, 0]]
    wanted = [0.0, *(-np.abs(y - mean).mean() for mean in means[1:])]
    assert_allclose(game.worths(S), wanted)
    assert_allclose(game.worths(S), wanted)
    assert X[0, 0] == 5
    assert y[0] == 3


@pytest.mark.parametrize("vote", ["soft", "hard", "rozemberczki"])
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_count_votes(vote: str, classes: int) -> None:
    """A model of weight 2 votes as it and its twin do."""
    chances, truth = votes(5, 40, classes)
    weights = np.array([1, 2, 1, 3, 1])
    repeated = np.repeat(np.arange(5), weights)
    coalitions = enumerate_coalitions(5)
    game = ff.EnsembleGame(chances, None, truth, vote=vote, weights=weights)
    twins = ff.EnsembleGame(chances[repeated], None, truth, vote=vote)
    assert_same(game.worths(coalitions), twins.worths(coalitions[:, repeated]))
    if vote == "hard" and classes == 2:
        assert_same(game.extension().shapley(), table_of(game).shapley())
    with pytest.raises(ValueError, match="give each a number above 0"):
        ff.EnsembleGame(chances, None, truth, vote=vote, weights=[1, 0, 1, 1, 1])


def test_weights_of_other_scores() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    chances, truth = votes(3, 40, 3)
    game = ff.EnsembleGame(chances, None, truth, scoring="neg_log_loss", weights=[1, 2, 5])
    mean = (chances[0] + 5 * chances[2]) / 6
    wanted = -metrics.log_loss(truth, mean)
    assert game.worths(np.array([[True, False, True]]))[0] == pytest.approx(wanted)
