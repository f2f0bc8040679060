"""The closed form of nearest-neighbour games, against the table of their worths."""

import numpy as np
import pytest

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.neighbors import extension as neighbor_extension
from fairfield.games.neighbors import lists as neighbor_lists
from fairfield.games.neighbors import search as neighbor_search
from games.neighbors.examples import big_game, corners, small_game, sorted_rows, table_of

# Test points of a class that no row has are worth 0 throughout.
pytestmark = pytest.mark.filterwarnings("ignore:.*a label that no training row has")
KINDS = ("labels", "soft labels", "answers", "ties")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (9, 1), (10, 3), (12, 5), (11, 11), (7, 9)])
def test_closed_form_equals_table(rng, n, k, kind):
    game, _ = small_game(rng, n, k, kind)
    closed, table = game.extension(), table_of(game)
    x = corners(rng, (4, 5, n))
    np.testing.assert_allclose(closed.value(x), table.value(x), atol=1e-12)
    np.testing.assert_allclose(closed.gradient(x), table.gradient(x), atol=1e-12)
    np.testing.assert_allclose(closed.hessian(x), table.hessian(x), atol=1e-12)
    np.testing.assert_allclose(closed.shapley(), table.shapley(), atol=1e-12)
    value, slopes = closed.centred(x)
    np.testing.assert_allclose(value + closed.offset, table.value(x), atol=1e-12)
    np.testing.assert_array_equal(slopes, closed.gradient(x))
    assert closed.value(np.zeros(n)) == 0.0


def test_lists_end_without_loss(rng):
    """Lists cut at P < 1e-16 against the same recursions over all the rows."""
    game = big_game(rng, n=400)
    closed = game.extension()
    points = rng.random((3, 400)) * 0.6 + 0.4
    points[:, ::7] = 1.0
    answers = [closed.gradient(points), closed.value(points), closed.hessian(points[0])]
    assert closed.reach < 200
    assert 0 < closed.truncation < 2e-16
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbor_extension, "NEGLIGIBLE", -1.0)
        whole = [closed.gradient(points), closed.value(points), closed.hessian(points[0])]
        assert closed.reach == 400
    for cut, full in zip(answers, whole, strict=True):
        np.testing.assert_allclose(cut, full, atol=1e-15)


def test_certain_neighbours_do_not_end_a_list_too_early():
    """With x = 1 the nearest row is surely in, yet its own slope asks for the next one."""
    game = ff.NeighborGame(np.arange(30.0)[:, None], np.arange(30) % 2, [[-1.0]], [0], k=1)
    slopes = game.extension().gradient(np.ones(30))
    np.testing.assert_array_equal(slopes, np.eye(30)[0])
    pairs = game.extension().hessian(np.ones(30))
    corners = np.ones((4, 30), dtype=bool)
    corners[:, :2] = enumerate_coalitions(2)
    none, first, second, both = game.worths(corners)
    assert pairs[0, 1] == pairs[1, 0] == both - first - second + none == 1.0


def test_lists_grow_where_few_rows_come_in(rng):
    game = big_game(rng, n=6000, tests=12)
    closed = game.extension()
    closed.gradient(np.full(6000, 0.5))
    short = len(game._lists.nearest(slice(0, 12), 1).rows)
    x = np.full(6000, 0.02)
    slopes, value = closed.gradient(x), closed.value(x)
    assert closed.reach > 1500
    assert short < 200 < len(game._lists.nearest(slice(0, 12), 1).rows)
    full = ff.NeighborGame(*game._inputs, neighbors=sorted_rows(*game._inputs[::2])).extension()
    np.testing.assert_allclose(slopes, full.gradient(x), atol=1e-14)
    assert value == pytest.approx(float(full.value(x)), abs=1e-13)
    again = closed.gradient(np.full(6000, 0.5))
    assert closed.reach < 100
    np.testing.assert_allclose(again, full.gradient(np.full(6000, 0.5)), atol=1e-15)


def test_memory_is_bounded_by_splitting(rng, monkeypatch):
    """Nothing kept, little held: lists of all rows, few test points at a time."""
    game = big_game(rng, n=300, tests=33)
    x = rng.random(300) * 0.1
    closed = game.extension()
    expected = closed.gradient(x), closed.value(x), closed.shapley(), closed.hessian(x)
    every = rng.random((20, 300)) < 0.1
    worths = game.worths(every)
    for room in (
        (neighbor_extension, "HELD", 3000),
        (neighbor_extension, "PAIRS", 10**5),
        (neighbor_lists, "KEPT", 100),
        (neighbor_search, "DISTANCES", 700),
    ):
        monkeypatch.setattr(*room)
    monkeypatch.setattr("fairfield.games.neighbors.game.FLAGS", 2000)
    tight = ff.NeighborGame(*game._inputs, k=5)
    closed = tight.extension()
    found = closed.gradient(x), closed.value(x), closed.shapley(), closed.hessian(x)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-15)
    np.testing.assert_allclose(tight.worths(every), worths, atol=1e-15)


def test_worth_at_the_ends_needs_no_long_lists(rng):
    game = big_game(rng, n=6000)
    grand = game.worths(np.ones((1, 6000), dtype=bool))
    assert float(game.extension().value(np.zeros(6000))) == 0.0
    assert game.extension().value(np.ones(6000)) == pytest.approx(grand[0], abs=1e-14)
    assert game.worths(np.zeros((1, 6000), dtype=bool))[0] == 0.0
    assert len(game._lists.nearest(slice(0, 40), 1).rows) < 200


def test_shapley_is_efficient(rng):
    game = big_game(rng, n=5000, tests=30)
    grand = game.worths(np.ones((1, 5000), dtype=bool))[0]
    assert game.extension().shapley().sum() == pytest.approx(grand, abs=1e-13)


def test_bad_points_and_sizes(rng):
    closed = big_game(rng, n=6000).extension()
    with pytest.raises(ValueError, match="for 6000 players"):
        closed.gradient(np.zeros(7))
    with pytest.raises(MemoryError, match=r"takes 2,880,000,000 bytes"):
        closed.hessian(np.zeros((10, 6000)))


def test_index_is_solved_over_the_rows_within_reach(rng, monkeypatch):
    """Lists grow while it is solved, and further rows come within reach."""
    game = big_game(rng, n=1500, tests=4)
    closed = game.extension()
    temperature = 0.3 * ff.banzhaf(game).values.max()
    before = len(closed.reachable()[0])
    found = ff.variational_index(game, temperature=temperature, prior=0.2)
    assert before < len(closed.reachable()[0]) < 1500
    monkeypatch.setattr(neighbor_lists.Neighborhoods, "reached", lambda lists: None)
    whole = ff.variational_index(game, temperature=temperature, prior=0.2)
    np.testing.assert_allclose(found.values, whole.values, atol=1e-10 * temperature)
    np.testing.assert_allclose(found.marginals, whole.marginals, atol=1e-10)
    assert found.stop == whole.stop == "converged"
    assert found.elbo == pytest.approx(whole.elbo, abs=1e-9)
