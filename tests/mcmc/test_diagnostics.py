"""What a sampler misses is warned of."""

import pytest

import fairfield as ff
from boltzmann import known_laws
from boltzmann.known_laws import within


@pytest.mark.parametrize("kind", ["needles", "a full house"])
def test_what_is_missed_is_warned_of(kind, rng):
    """Modes that chains from neither base, or those from one of them alone, can find."""
    game = known_laws.needles(rng) if kind == "needles" else known_laws.full_house()
    temperature = 1.0 if kind == "needles" else 0.5
    law = ff.Boltzmann(game, temperature, budget=60_000)
    with pytest.warns(ff.ReliabilityWarning, match="raise the budget"):
        found = law.log_z
    assert law.warnings
    assert not within(found, game.log_z(temperature), 0.1)
