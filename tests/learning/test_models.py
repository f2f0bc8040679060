"""Models, losses and slopes agree with their games, with brute force and with differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

import brute
import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.learning.fitting import Penalised
from fairfield.learning.members import Listed, Members
from fairfield.learning.models import Diversity, Linear, Pairwise
from fairfield.learning.objectives import Contrast, Flips, Likelihood
from fairfield.learning.observed import observe

N = 6
MODELS = {
    "linear": Linear(N),
    "pairwise": Pairwise(N),
    "flid": Diversity(N, 3),
    "fldc": Diversity(N, 3, 2),
}
OBJECTIVES = {
    "pseudolikelihood": lambda model, seen: Flips(model, seen),
    "ratio-matching": lambda model, seen: Flips(model, seen, squared=True),
    "nce": lambda model, seen: Contrast.of(model, seen, 3, np.random.default_rng(0)),
    "likelihood": Likelihood,
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]


@pytest.fixture
def theta(model, rng):
    start = rng.normal(size=N + model.interactions)
    if model.nonnegative:
        start[N:] = np.abs(start[N:]) * (rng.random(model.interactions) < 0.9)
    return start


def all_seen():
    return observe(enumerate_coalitions(N))


def test_worths_and_gains_are_those_of_the_game(model, theta):
    seen = all_seen()
    game = model.game(theta, seen)
    inside = seen.coalitions.astype(float)
    table = game.worths(enumerate_coalitions(N))
    assert_allclose(
        model.worths(theta, Members.of(inside))[0], game.worths(seen.coalitions), atol=1e-12
    )
    gains = np.array([brute.gradient(table, row) for row in inside])
    assert_allclose(model.gains(theta, inside)[0], gains, atol=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_slopes_are_differences(model, theta, objective, rng):
    seen = observe(rng.random((40, N)) < rng.random(N))
    # Nudged off zero, where a maximum has a kink.
    theta = theta + 0.01 * rng.random(len(theta))
    loss = OBJECTIVES[objective](model, seen)
    at = loss.start(theta)
    penalised = Penalised(loss, model, 2.5)
    slope = penalised(at)[1]
    differences = approx_fprime(at, lambda t: penalised(t)[0], 1e-7)
    assert_allclose(slope, differences, atol=2e-6 * (1 + abs(slope).max()))


def test_losses_are_their_definitions(rng):
    model, seen = Pairwise(N), observe(rng.random((30, N)) < 0.4)
    theta = rng.normal(size=N + model.interactions)
    table = model.worths(theta, Members.of(enumerate_coalitions(N)))[0]
    law = brute.boltzmann(table, 1.0)
    rows = seen.coalitions @ (1 << np.arange(N))
    flips = rows[:, None] ^ (1 << np.arange(N))
    stay = law[rows][:, None] / (law[rows][:, None] + law[flips])
    share = seen.counts / seen.total
    assert_allclose(Flips(model, seen)(theta)[0], -share @ np.log(stay).sum(axis=1))
    assert_allclose(
        Flips(model, seen, squared=True)(theta)[0], share @ ((1 - stay) ** 2).sum(axis=1)
    )
    assert_allclose(Likelihood(model, seen)(theta)[0], -share @ np.log(law[rows]))
    contrast = Contrast.of(model, seen, 4, np.random.default_rng(1))
    assert contrast.noise.total == 4 * seen.total
    noise = np.where(
        enumerate_coalitions(N), seen.shrunk_frequencies(), 1 - seen.shrunk_frequencies()
    )
    c = 0.3
    real = np.exp(table + c) / (np.exp(table + c) + 4 * noise.prod(axis=1))
    others = np.concatenate(
        [some.matrix().astype(int) @ (1 << np.arange(N)) for some, _ in contrast.noise.blocks()]
    )
    expected = -share @ np.log(real[rows])
    expected -= contrast.noise.counts / seen.total @ np.log(1 - real[others])
    assert_allclose(contrast(np.append(theta, c))[0], expected)


def test_many_blocks_give_one_answer(monkeypatch, rng, model, theta):
    seen = observe(rng.random((200, N)) < 0.4)
    losses = [make(model, seen) for make in OBJECTIVES.values()]
    whole = [loss(loss.start(theta)) for loss in losses]
    monkeypatch.setattr("fairfield.learning.objectives.BLOCK", 60)
    monkeypatch.setattr("fairfield.learning.members.BLOCK", 60)
    for loss, (value, slope) in zip(losses, whole, strict=True):
        again = loss(loss.start(theta))
        assert_allclose(again[0], value)
        assert_allclose(again[1], slope, atol=1e-12)


def test_few_members_and_many_are_worth_the_same(monkeypatch, rng):
    model = Pairwise(N)
    theta, slope = rng.normal(size=N + model.interactions), rng.normal(size=2**N)
    every = Members.of(enumerate_coalitions(N))
    answers = []
    for dense in (0, 10**9):
        monkeypatch.setattr("fairfield.learning.models.DENSE", dense)
        worths, pullback = model.worths(theta, every)
        answers.append((worths, pullback(slope)))
    for one, other in zip(*answers, strict=True):
        assert_allclose(one, other, atol=1e-12)


def test_noise_is_drawn_in_parts_and_counted(monkeypatch, rng):
    monkeypatch.setattr("fairfield.learning.members.UNPACKED", 50)
    chances = np.array([0.0, 1.0, 0.3, 0.6, 0.5])
    noise = Listed.drawn(chances, 4000, rng)
    inside = np.concatenate([some.matrix() for some, _ in noise.blocks()])
    assert noise.total == 4000
    assert len(inside) == len(np.unique(inside, axis=0)) == 8
    shares = noise.counts @ inside / 4000
    assert np.all(np.abs(shares - chances) <= 5 * np.sqrt(chances * (1 - chances) / 4000))


def test_fldc_is_flid_less_its_complement(rng):
    u, W, V = rng.normal(size=5), rng.random((5, 2)), rng.random((5, 3))
    both = ff.FLDCGame(u, W, V, players="abcde".__iter__())
    sum_of_two = ff.FLIDGame(u, W) - ff.FLIDGame(np.zeros(5), V)
    z = enumerate_coalitions(5)
    assert_allclose(both.worths(z), sum_of_two.worths(z))
    assert both.players == tuple("abcde")
    with pytest.raises(ValueError, match="one row per player"):
        ff.FLDCGame(u, W, V[:4])
