"""Every test draws the same, whatever ran before it."""

import pytest

from games.ensembles.examples import rng

START = rng.bit_generator.state


@pytest.fixture(autouse=True)
def same_draws():
    rng.bit_generator.state = START
