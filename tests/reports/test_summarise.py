"""What a report says, as plain data."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fairfield as ff
import pictures
from fairfield.reports.summarise import summarise
from fairfield.results.words import Words

NASTY = ["<script>alert(1)</script>", "</script><!--", 'say "hi", twice', "ann"]


def test_numbers_are_those_of_the_comparison(game):
    found = ff.compare(game, temperature=0.5)
    summary = summarise(found)
    assert summary["players"] == NASTY
    for each in summary["criteria"]:
        v = found[each["name"]]
        assert each["values"] == [v.values.tolist()]
        assert each["marginals"] == [v.marginals.tolist()]
        assert each["decoupling_error"] == [v.decoupling_error]
        assert (each["empty"], each["grand"]) == ([v.empty], [v.grand])
        assert each["stop"] == v.stop
    assert summary["about"]["temperature"] == [0.5]
    assert summary["warnings"] == []
    assert [each["caveat"] for each in summary["criteria"]] == [None] * 3
    assert summary["notes"][0].startswith("exact table, temperature 0.5, no coalitions evaluated, ")
    assert summary["notes"][1].startswith("decoupling error: Variational index ")


def test_a_batch_starts_with_its_mean(batch):
    found = ff.compare(batch)
    summary = summarise(found, interactions=ff.interactions(batch))
    assert summary["rows"] == ["mean of 3 games", "game 0", "game 1", "game 2"]
    shapley = next(each for each in summary["criteria"] if each["name"] == "shapley")
    values = found["shapley"].values
    assert_array_equal(shapley["values"][1:], values)
    assert_allclose(shapley["values"][0], values.mean(axis=0))
    assert_allclose(shapley["magnitude"], np.abs(values).mean(axis=0))
    matrix = ff.interactions(batch).matrix()
    assert_allclose(
        summary["interactions"]["matrix"][0], np.abs(matrix).mean(axis=0), rtol=1e-5, atol=1e-12
    )
    assert summary["interactions"]["means"] == 1
    assert_allclose(summary["interactions"]["matrix"][2], matrix[1], rtol=1e-5)


def test_trajectories_curves_and_larger_coalitions(game):
    def eight(problem):
        return ff.variational_values(problem, 8)

    found = ff.compare(game, criteria=["shapley", eight], temperature=1.0)
    curve = ff.removal_curve(game, found["shapley"])
    triples = ff.interactions(game, order=3)
    summary = summarise(found, curves=curve, interactions=triples)
    (steps,) = summary["trajectories"]
    assert steps["criterion"] == "variational_values(8)"
    assert np.shape(steps["marginals"]) == (9, 1, 4)
    assert summary["curves"][0]["worths"] == curve.worths.tolist()
    strongest, value = triples.top(1)[0]
    assert summary["interactions"]["strongest"][0] == [list(strongest), value]


def test_lists_and_foreign_batches_of_interactions_are_mean_magnitudes(game, batch):
    triples = ff.interactions(batch, order=3)
    held = summarise(ff.compare(batch), interactions=triples)["interactions"]
    assert held["means"] == 1
    assert held["strongest"][0] == [[*map(str, triples.coalitions[0])], triples.magnitude[0]]
    alone = summarise(ff.compare(batch), interactions=ff.interactions(batch)[0])["interactions"]
    assert (alone["means"], len(alone["matrix"])) == (0, 1)


def test_estimates_have_their_own_evaluations_and_exact_values_share_theirs(game):
    found = ff.compare(game, temperature=1.0)
    valued = {name: replace(v, evaluations=16) for name, v in found.items()}
    assert summarise(ff.Comparison(valued))["about"]["evaluations"] == 16
    estimated = {name: replace(v, stderr=np.full(4, 0.1)) for name, v in valued.items()}
    assert summarise(ff.Comparison(estimated))["about"]["evaluations"] == 48


def test_what_did_not_settle_is_warned_of():
    def redundancy(coalitions):
        return coalitions.any(axis=1) - 0.2 * coalitions.sum(axis=1)

    cycling = ff.variational_index(redundancy, players=3, temperature=0.2, solver="synchronous")
    found = summarise(cycling)
    (warning,) = found["warnings"]
    assert warning.startswith("Variational index did not settle: ")
    assert found["criteria"][0]["caveat"] is None  # the warning has given it


def test_results_of_different_games_are_refused(game, batch):
    other = ff.TableGame([0, 1, 1, 3])
    with pytest.raises(ValueError, match="annealing= is of TableGame: 2 players"):
        summarise(ff.compare(game), annealing=ff.annealing(other))
    with pytest.raises(ValueError, match="interactions= are of TableGame: 2 players"):
        summarise(ff.compare(game), interactions=ff.interactions(other))
    with pytest.raises(ValueError, match="results of one game"):
        summarise(ff.compare(game), annealing=ff.annealing(batch))
    with pytest.raises(ValueError, match="at least one criterion"):
        summarise(ff.Comparison({}))


def test_explanations_speak_of_features_and_rows(batch):
    words = Words("feature", "row", "probability of class 1", "probability")
    found = {name: replace(v, words=words) for name, v in ff.compare(batch).items()}
    summary = summarise(ff.Comparison(found))
    assert summary["rows"] == ["mean of 3 rows", "row 0", "row 1", "row 2"]
    assert summary["words"] == {
        "player": "feature", "players": "features", "row": "row", "rows": "rows",
        "worth": "probability of class 1", "unit": "probability",
        "empty": "no features", "grand": "all features",
    }  # fmt: skip
    assert summary["notes"][:2] == ["mean of 3 rows", "unit of the values: probability"]
    meanings = " ".join(each["meaning"] for each in summary["criteria"])
    assert "player" not in meanings
    assert "the values sum to the probability of class 1 with all features minus" in meanings


def test_each_output_has_its_rows_and_its_mean():
    every = pictures.classes()
    summary = summarise(every)
    assert (summary["means"], summary["outputs"]) == (2, ["low", "class 7"])
    assert summary["rows"][:4] == [
        "mean of 3 rows, low", "mean of 3 rows, class 7", "w, low", "w, class 7",
    ]  # fmt: skip
    (shapley,) = summary["criteria"]
    assert_allclose(shapley["values"][:2], every.values.mean(axis=0))
    assert_allclose(shapley["values"][2:], every.values.reshape(6, 3))
    assert_allclose(shapley["magnitude"], np.abs(every.values).mean(axis=0))
    assert summary["data"][:2] == [None, None]
    assert summary["about"]["games"] == 3
    one = summarise(every[0])
    assert (one["means"], one["rows"]) == (0, ["low", "class 7"])
    assert one["criteria"][0]["magnitude"] is None
    pairs = ff.interactions(pictures.ClassesGame(len, players=["a", "b", "c"]))
    assert len(summarise(every, interactions=pairs)["interactions"]["matrix"]) == 8
    triples = ff.interactions(pictures.ClassesGame(len, players=["a", "b", "c"]), order=3)
    with pytest.raises(ValueError, match="of several outputs and no pairs"):
        summarise(every, interactions=triples)
