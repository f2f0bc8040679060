"""Sampled laws against exact ones: within five standard errors, or warned of."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from boltzmann import known_laws
from boltzmann.known_laws import within
from fairfield.boltzmann.exact import ExactLaw
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.evaluation.options import Options
from fairfield.mcmc.sampler import LEAST_VISITS
from fairfield.multilinear.table import TableExtension

READINGS = ("log_z", "marginals", "pair_marginals", "mean", "entropy", "total_correlation")


def exact_and_sampled(game, T, prior=None, **options):
    extension = game.extension()
    logits = None if prior is None else np.log(prior) - np.log1p(-np.asarray(prior))
    table = TableExtension.of(ff.TableGame(game.worths(brute.coalitions(len(game.players)))))
    temperature = np.asarray(T)
    sampled = SampledLaw(game, extension, temperature, logits, Options().changed(options))
    return ExactLaw(table, temperature, logits), sampled


SMALL = {
    "pairs": lambda rng: ff.PairwiseGame(
        rng.normal(size=9), (lambda h: h + h.T)(np.triu(rng.normal(size=(9, 9)), 1))
    ),
    "diversity": lambda rng: ff.FLIDGame(rng.normal(size=10), rng.random((10, 3))),
    "voting": lambda rng: ff.VotingGame(rng.integers(1, 9, 10), quota=25),
    "coverage": lambda rng: ff.CoverageGame(rng.random((8, 9)) < 0.3, rng.random(8)),
}


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("with_prior", [False, True])
def test_all_readings_agree_with_sums_over_all_coalitions(kind, with_prior, rng):
    game = SMALL[kind](rng)
    prior = rng.uniform(0.1, 0.9, len(game.players)) if with_prior else None
    exact, sampled = exact_and_sampled(game, 0.5, prior, seed=3, budget=60_000)
    assert not sampled.warnings
    for reading in READINGS:
        found, error = getattr(sampled, reading), sampled.stderr(reading)
        assert within(found, getattr(exact, reading), error), reading
        assert np.all(error < 0.2), reading
    logits = rng.normal(size=len(game.players))
    assert_allclose(sampled.elbo(logits), exact.elbo(logits), rtol=1e-10)
    assert within(sampled.gap(logits), exact.gap(logits), sampled.stderr("log_z"))
    worths = game.worths(brute.coalitions(len(game.players))[:5])
    assert within(sampled.log_share(worths), exact.log_share(worths), sampled.stderr("log_z"))


@pytest.mark.parametrize("kind", SMALL)
def test_log_odds_agree_however_cold(kind, rng):
    game = SMALL[kind](rng)
    for temperature in (0.02, 0.5):
        exact, sampled = exact_and_sampled(game, temperature, seed=3, budget=60_000)
        error = sampled.stderr("log_odds")
        assert within(sampled.log_odds, exact.log_odds, error)
        assert np.all(np.isfinite(error))


def test_worths_alone_are_enough(rng):
    table = brute.mixed(rng, 8)
    game = ff.FunctionGame(lambda z: table[z @ (1 << np.arange(8))], players=8)
    exact = ExactLaw(TableExtension.of(ff.TableGame(table)), np.asarray(1.0))
    sampled = SampledLaw(game, None, np.asarray(1.0), None, Options(budget=200_000))
    for reading in READINGS:
        assert within(getattr(sampled, reading), getattr(exact, reading), sampled.stderr(reading))
    with pytest.raises(ValueError, match="no closed form"):
        sampled.elbo(np.zeros(8))
    before = sampled.evaluations
    assert before >= 9 * sampled.samples
    assert sum(1 for _ in sampled.estimates.pairs())
    assert sampled.evaluations == before


def test_draws_follow_the_law(rng):
    exact, sampled = exact_and_sampled(SMALL["pairs"](rng), 0.7, budget=60_000)
    drawn = sampled.draw(4000, np.random.default_rng(1)).astype(float)
    errors = np.sqrt(exact.marginals * (1 - exact.marginals) / 4000)
    # Draws share the samples they start at: their errors add to those of independent draws.
    assert within(drawn.mean(axis=0), exact.marginals, errors + sampled.stderr("marginals"))
    assert sampled.draw(0, np.random.default_rng(1)).shape == (0, 9)


def test_players_fixed_by_the_prior_stay(rng):
    game = SMALL["diversity"](rng)
    prior = np.full(10, 0.4)
    prior[[2, 5]] = 1.0, 0.0
    exact = ff.Boltzmann(game, 0.5, prior)
    logits = exact.law.prior
    sampled = SampledLaw(game, game.extension(), np.asarray(0.5), logits, Options(budget=60_000))
    for reading in READINGS:
        found, error = getattr(sampled, reading), sampled.stderr(reading)
        assert within(found, getattr(exact, reading), error), reading
    assert (sampled.marginals[[2, 5]] == [1, 0]).all()
    assert (sampled.draw(7, np.random.default_rng(0))[:, [2, 5]] == [True, False]).all()


@pytest.mark.parametrize(("temperature", "blocks"), [(1.0, 10), (0.6, 20)])
def test_a_hundred_players_in_blocks_of_two_modes(temperature, blocks, rng):
    game = known_laws.two_modes(rng, blocks, 100 // blocks)
    law = ff.Boltzmann(game, temperature, seed=1, budget=100_000)
    assert not law.warnings
    assert within(law.log_z, game.log_z(temperature), law.stderr())
    assert within(law.marginals, game.marginals(temperature), law.stderr("marginals"))
    v = ff.variational_index(game, temperature=temperature)
    assert v.decoupling_error is None
    exact = game.log_z(temperature) - v.elbo
    assert within(law.decoupling_error(v), exact, law.stderr("decoupling_error"))


def test_a_ferromagnet_below_its_critical_temperature():
    game, log_z = known_laws.ferromagnet(100, coupling=6.0, field=0.02)
    law = ff.Boltzmann(game, 1.0, seed=2, budget=100_000)
    assert not law.warnings
    assert within(law.log_z, log_z(1.0), law.stderr())
    assert law.stderr() < 0.1


def test_determinantal_point_processes(rng):
    game = known_laws.determinant(rng, 30)
    law = ff.Boltzmann(game, 1.0, budget=20_000)
    assert not law.warnings
    assert within(law.log_z, game.log_z(), law.stderr())
    assert within(law.marginals, game.marginals(), law.stderr("marginals"))
    k = game.kernel @ np.linalg.inv(game.kernel + np.eye(30))
    pairs = np.outer(np.diag(k), np.diag(k)) - k * k.T
    off = ~np.eye(30, dtype=bool)
    errors = law.stderr("pair_marginals")
    assert within(law.pair_marginals[off], pairs[off], errors[off], errors=6.0)  # of 435 pairs


def test_the_same_seed_gives_the_same_estimates(rng):
    game = known_laws.two_modes(rng, blocks=6, each=5)
    laws = [ff.Boltzmann(game, 1.0, seed=seed, budget=25_000) for seed in (0, 0, 1)]
    assert laws[0].log_z == laws[1].log_z != laws[2].log_z
    assert (laws[0].marginals == laws[1].marginals).all()
    assert (laws[0].draw(5, seed=4) == laws[1].draw(5, seed=4)).all()


def test_questions_that_cannot_be_answered_are_refused(rng):
    game = known_laws.two_modes(rng, blocks=6, each=5)
    with pytest.raises(ValueError, match="budget of 500 is too small"):
        _ = ff.Boltzmann(game, 1.0, budget=500).log_z
    function = ff.FunctionGame(lambda z: z.sum(axis=1), players=40)
    with pytest.raises(MemoryError, match="give a budget"):
        ff.Boltzmann(function, 1.0)
    with pytest.raises(ValueError, match="as a number"):
        ff.Boltzmann(function, ff.relative(1.0), budget=1000)
    with pytest.raises(ValueError, match="no reading 'kl'"):
        ff.Boltzmann(game, 1.0).stderr("kl")


def test_valuations_of_closed_forms_have_log_z_on_request(rng):
    game = known_laws.two_modes(rng, blocks=6, each=5)
    v = ff.variational_index(game, temperature=1.0, decoupling=True, budget=25_000)
    assert within(v.log_z, game.log_z(1.0), v.log_z_stderr)
    assert_allclose(v.decoupling_error, v.log_z - v.elbo, atol=1e-9)
    assert "±" in repr(v)
    both = ff.compare(game, temperature=1.0, decoupling=True, budget=25_000)
    assert both["shapley"].log_z == both["banzhaf"].log_z == v.log_z
    never = ff.variational_index(game, temperature=1.0, decoupling=False)
    assert never.elbo is None
    assert never.log_z is None


def test_draws_take_the_steps_that_the_budget_allows():
    """Nothing is refused after the run: what is too many is refused before, and else warned of."""
    asked = []

    def worths(coalitions):
        """Odd numbers of every five players: blocks of several are often rejected."""
        asked.append(len(coalitions))
        return 2.0 * (coalitions.reshape(-1, 6, 5).sum(axis=2) % 2).sum(axis=1)

    budget = LEAST_VISITS * 31
    law = ff.Boltzmann(worths, 1.0, players=30, budget=budget)
    most = budget // (31 * 4)
    with pytest.raises(ValueError, match=r"draws need at least .* worths, the budget allows"):
        law.draw(most + 1)
    assert not asked
    with pytest.warns(ff.ReliabilityWarning, match="draws are 3 steps from samples of the run"):
        drawn = law.draw(most)
    assert drawn.shape == (most, 30)
