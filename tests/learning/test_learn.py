"""Learning finds the truth where there is one, and says so where there is none."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.learning.learn import OBJECTIVES
from fairfield.learning.observed import Observed, observe

N = 5


def truth(rng, n=N):
    pairs = np.triu(rng.normal(0, 0.7, (n, n)), 1)
    return ff.PairwiseGame(rng.normal(-0.5, 0.7, n), pairs + pairs.T)


def distance(game, learned):
    """KL of the learned law from the true one."""
    z = enumerate_coalitions(len(game.players))
    p, q = (brute.boltzmann(each.worths(z), 1.0) for each in (game, learned))
    return p @ np.log(p / q)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_more_data_come_nearer(objective, rng):
    """KL is about (parameters)/(2 N), more for all but the likelihood."""
    game = truth(rng)
    drawn = ff.Boltzmann(game, 1.0).draw(20_000, seed=1)
    learned = ff.learn(drawn, objective=objective, strength=0.1)
    assert distance(game, learned) < 3 * (N + N * (N - 1) / 2) / (2 * len(drawn))
    if objective == "nce":
        log_z = ff.Boltzmann(learned, 1.0).log_z
        assert learned.constant == pytest.approx(-log_z, abs=0.05)
    else:
        assert learned.constant is None


@pytest.mark.parametrize("model", ["flid", "fldc"])
def test_diversity_models_beat_independent_players(model, rng):
    W, V = rng.random((8, 2)) * 2, rng.random((8, 2)) * (model == "fldc")
    game = ff.FLDCGame(rng.normal(0.5, 0.5, 8), W, V)
    drawn = ff.Boltzmann(game, 1.0).draw(4000, seed=2)
    learned, alone = (
        ff.learn(drawn, kind, "nce", dimensions=2, strength=0.3, starts=2, redraws=2)
        for kind in (model, "linear")
    )
    assert distance(game, learned) < 0.02
    assert distance(game, learned) < distance(game, alone) / 3
    closed = learned.extension()
    assert closed is not None
    assert closed.method.startswith("closed form")


def test_independent_players_are_their_frequencies(rng):
    seen = rng.random((500, 4)) < [0.1, 0.5, 0.7, 0.9]
    k = seen.sum(axis=0)
    expected = np.log((k + 0.5) / (len(seen) - k + 0.5))
    for objective in ("pseudolikelihood", "likelihood"):
        game = ff.learn(seen, "linear", objective)
        assert_allclose(game.form.linear, expected, atol=1e-4)
    v = ff.variational_index(game, temperature=1.0)
    assert_allclose(v.marginals, (k + 0.5) / (len(seen) + 1), atol=1e-4)


def test_held_out_data_choose_the_strength(rng):
    independent = rng.random((300, 12)) < 0.3
    game = ff.learn(independent, seed=1)
    losses = game.fit.held_out
    assert game.fit.strength == min(losses, key=losses.get)
    # Nothing interacts, so strong shrinkage serves best.
    assert game.fit.strength >= 30
    assert game.gain.mean == pytest.approx(0, abs=4 * game.gain.error)
    given = ff.learn(independent, strength=2.0)
    assert (given.fit.held_out, given.gain) == ({}, None)
    assert "nothing was held out" in given.verdict


@pytest.mark.parametrize("model", ["linear", "pairwise", "flid", "fldc"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_players_who_never_vary_have_their_stated_odds(model, objective, rng):
    seen = rng.random((60, 6)) < 0.5
    seen[:, 2], seen[:, 4] = False, True
    game = ff.learn(
        seen, model, objective, strength=1.0, dimensions=2, starts=1, redraws=1, steps=50
    )
    values = ff.variational_index(game, temperature=1.0).values
    assert np.isfinite(values).all()
    assert_allclose(values[[2, 4]], [-np.log(121), np.log(121)])
    assert_allclose(game.extension().hessian(np.full(6, 0.5))[[2, 4]], 0.0)


def test_the_constant_counts_players_who_never_vary(rng):
    seen = rng.random((3000, 4)) < 0.5
    seen[:, 1] = True
    game = ff.learn(seen, objective="nce", strength=1.0)
    assert game.constant == pytest.approx(-ff.Boltzmann(game, 1.0).log_z, abs=0.05)


def test_nobody_varies():
    for model in ("linear", "pairwise", "flid", "fldc"):
        game = ff.learn(np.ones((3, 2)), model)
        assert_allclose(ff.shapley(game).values, np.log(7))
        assert "no player varies" in game.fit.stop
    assert_allclose(ff.shapley(ff.learn([[], []], players=["a"])).values, -np.log(5))
    game = ff.learn(np.ones((3, 2)), objective="nce")
    assert game.constant == pytest.approx(-ff.Boltzmann(game, 1.0).log_z)


def test_players_who_are_never_seen_apart_are_warned_of(rng):
    """One given all others says nothing of how often they are in: only the others' law does."""
    seen = rng.random((200, 4)) < 0.3
    for tied in (seen[:, 0], ~seen[:, 0]):
        twins = np.column_stack([seen, tied])
        for objective in ("pseudolikelihood", "ratio-matching"):
            with pytest.warns(UserWarning, match=r"of the players \{0, 4\} each determines"):
                ff.learn(twins, objective=objective, strength=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ff.learn(twins, "linear")
            ff.learn(twins, objective="nce", strength=1.0)
            ff.learn(seen, strength=1.0)
            ff.learn(np.column_stack([seen, np.zeros((200, 2))]), strength=1.0)


def test_repeated_coalitions_count(rng):
    seen = rng.random((50, 4)) < 0.5
    thrice = ff.learn(np.repeat(seen, 3, axis=0), strength=3.0)
    counted = observe(seen)
    weighted = ff.learn(
        Observed(counted.coalitions, 3 * counted.counts, counted.players), strength=3.0
    )
    assert_allclose(thrice.form.quadratic, weighted.form.quadratic, atol=1e-12)


def test_the_same_seed_gives_the_same_game(rng):
    seen = rng.random((80, 5)) < 0.4
    for objective in ("pseudolikelihood", "nce"):
        one, same, other = (
            ff.learn(
                seen, "flid", objective, dimensions=2, strength=1.0, starts=2, redraws=1, seed=seed
            )
            for seed in (4, 4, 5)
        )
        assert one.describe() == same.describe()
        assert one.describe() != other.describe()


def test_what_cannot_be_learned_is_refused():
    seen = [["a"], ["b"], ["a", "b"]]
    for keywords, message in [
        ({"model": "cubic"}, "no model 'cubic'; choose from linear, pairwise"),
        ({"objective": "luck"}, "no objective 'luck'"),
        ({"strength": -1}, "strength=-1"),
        ({"strength": float("nan")}, "strength=nan"),
        ({"strength": "much"}, "strength='much'"),
        ({"dimensions": 0}, "dimensions=0"),
        ({"noise": 1.5}, "noise=1.5"),
        ({"redraws": -1}, "redraws=-1"),
        ({"held_out": 1.0}, "between 0 and 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            ff.learn(seen, **keywords)
    with pytest.raises(ValueError, match=r"all 2\^30 coalitions"):
        ff.learn(np.eye(30), objective="likelihood", strength=1.0)


def test_progress_and_steps(capsys, rng):
    seen = rng.random((100, 8)) < 0.4
    game = ff.learn(seen, strength=1.0, steps=2, progress=True)
    assert "took all steps" in game.fit.stop
    assert "steps" in capsys.readouterr().err
    assert game.fit.steps == 2
    assert list(game.fit.losses) == sorted(game.fit.losses, reverse=True)
    assert repr(game).startswith("LearnedGame: pairwise by pseudolikelihood, 8 players, strength 1")
