"""A game and a batch whose players have names that HTML and CSV must escape."""

import pytest

import fairfield as ff

NASTY = ["<script>alert(1)</script>", "</script><!--", 'say "hi", twice', "ann"]


@pytest.fixture
def game(rng):
    return ff.TableGame(rng.standard_normal(16), players=NASTY)


@pytest.fixture
def batch(rng):
    return ff.TableGame(rng.standard_normal((3, 16)), players=NASTY)
