"""Known worths are found again and cost few bytes."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import brute
from fairfield import FunctionGame
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.kept import KeptWorths, pack, unpack
from fairfield.evaluation.options import Options


@pytest.mark.parametrize("players", [1, 7, 8, 9, 80])
def test_packing_loses_nothing(players, rng):
    coalitions = rng.random((50, players)) < 0.4
    assert_array_equal(unpack(pack(coalitions), players), coalitions)
    assert len(set(pack(coalitions).tolist())) == len(np.unique(coalitions, axis=0))


def test_all_coalitions_have_their_own_key():
    assert len(np.unique(pack(brute.coalitions(9)))) == 512


def test_what_was_added_is_found(rng):
    known = KeptWorths(12, 1)
    z = brute.coalitions(12)[rng.permutation(4096)]
    keys, worths = pack(z), rng.standard_normal((4096, 1))
    known.add(keys[:1000], worths[:1000])
    known.add(keys[500:2000], worths[500:2000])
    at, there = known.find(keys)
    assert_array_equal(there, np.arange(4096) < 2000)
    assert_array_equal(known.worths[at[:2000]], worths[:2000])
    assert len(known) == 2000


def test_duplicates_and_known_ones_are_evaluated_once(rng):
    seen = []

    def worth(coalitions):
        seen.extend(pack(coalitions).tolist())
        return coalitions.sum(axis=1)

    z = rng.random((500, 30)) < 0.5
    with Evaluator(FunctionGame(worth, 30), Options()) as evaluator:
        first = evaluator.worths(np.concatenate([z, z[::-1]]))
        assert_array_equal(first, np.concatenate([z, z[::-1]]).sum(axis=1))
        assert evaluator.evaluations == 500
        assert_array_equal(evaluator.worths(z[:10]), z[:10].sum(axis=1))
        assert evaluator.evaluations == 500
    assert len(seen) == len(set(seen)) == 500


def test_a_kept_worth_costs_at_most_64_bytes(rng):
    game = FunctionGame(lambda S: S.sum(axis=1), 80)
    with Evaluator(game, Options(progress=False)) as evaluator:
        batches = [rng.random((20_000, 80)) < 0.5 for _ in range(10)]
        evaluator.worths(batches[0])
        tracemalloc.start()
        for batch in batches[1:]:
            evaluator.worths(batch)
        grown = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    assert evaluator.evaluations == 200_000
    assert grown / 180_000 <= 64
