"""Results can be read, sliced, shown, saved and loaded."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff

NAMES = ["ann", "bob", "<script>"]


@pytest.fixture
def one(rng):
    return ff.variational_index(ff.TableGame(rng.standard_normal(8), NAMES), temperature=0.5)


@pytest.fixture
def many(rng):
    return ff.variational_values(rng.standard_normal((4, 8)), 3, temperature=0.5)


def same(one, other):
    for entry in dataclasses.fields(one):
        mine, theirs = getattr(one, entry.name), getattr(other, entry.name)
        if isinstance(mine, np.ndarray):
            assert_array_equal(mine, theirs)
        else:
            assert mine == theirs, entry.name


def test_it_tells_what_was_done(one):
    assert one.criterion == "variational_index"
    assert one.method == "exact table"
    assert one.game == "TableGame: 3 players"
    assert one.evaluations == 0
    assert one.seconds > 0
    assert one.converged is True
    assert {"fairfield", "numpy", "scipy"} <= set(one.versions)
    assert isinstance(one.decoupling_error, float)


def test_empty_and_grand_are_the_ends(rng):
    table = rng.standard_normal(8)
    v = ff.shapley(table)
    assert (v.empty, v.grand) == (table[0], table[-1])
    assert_allclose(v.values.sum(), v.grand - v.empty)
    assert v.marginals is None
    assert v.decoupling_error is None


def test_ranking_and_difference():
    v = ff.shapley(lambda S: S @ [1.0, 3.0, 2.0], players=NAMES)
    assert v.ranking() == ["bob", "<script>", "ann"]
    assert v.difference("bob", "ann") == (2, 2, 2)


def test_rows_of_a_batch(many):
    assert many.batch == (4,)
    row = many[2]
    assert row.batch == ()
    assert_array_equal(row.values, many.values[2])
    assert_array_equal(row.trajectory, many.trajectory[:, 2])
    assert isinstance(row.elbo, float)
    assert row.stop == "took the steps asked for"
    assert many.stop == "4 × took the steps asked for"
    assert many[1:3].batch == (2,)
    assert len(many.converged) == 4
    assert row[0] == row.values[0]
    with pytest.raises(KeyError, match="no player 'zed'"):
        row["zed"]
    with pytest.raises(ValueError, match="take one game"):
        many.ranking()


def test_a_batch_as_long_as_its_players_is_sliced_right(rng):
    """Square arrays must not be taken for something else."""
    v = ff.variational_index(rng.standard_normal((3, 8)), temperature=1.0)
    assert v[1].players == v.players
    assert_array_equal(v[1].values, v.values[1])
    assert v[1].temperature == 1.0


def test_a_batch_of_two_axes_is_sliced_along_them(rng):
    v = ff.variational_values(rng.standard_normal((2, 3, 8)), 2, temperature=1.0)
    assert v[1].batch == (3,)
    assert_array_equal(v[1, 2].values, v.values[1, 2])
    assert_array_equal(v[..., 0].values, v.values[:, 0])
    assert_array_equal(v[1].trajectory, v.trajectory[:, 1])
    assert v[1, 2].elbo == v.elbo[1, 2]
    assert [row.batch for row in v] == [(3,), (3,)]
    with pytest.raises(IndexError):
        v[0, 0, 0]


def test_one_game_is_read_by_player():
    v = ff.shapley(lambda S: S @ [1.0, 3.0, 2.0], players=NAMES)
    assert v["bob"] == pytest.approx(3)
    assert v.to_dict() == pytest.approx(dict(zip(NAMES, [1, 3, 2], strict=True)))
    assert list(v) == NAMES
    assert len(v) == 3
    assert "ann" in v
    assert "zed" not in v


def test_players_may_be_tuples(tmp_path):
    pytest.importorskip("pandas")
    v = ff.shapley(lambda S: S.sum(axis=1), players=[("a", 1), ("b", 2)])
    assert list(v.to_frame().index) == [("a", 1), ("b", 2)]


def test_means_over_a_batch(many):
    overall = many.mean()
    assert_allclose(overall.mean[0], many.values.mean(axis=0))
    assert_allclose(overall.magnitude[0], np.abs(many.values).mean(axis=0))
    by = many.mean(by=["yes", "no", "no", "no"])
    assert by.labels == ("no", "yes")
    assert_allclose(by.mean[1], many.values[0])
    with pytest.raises(ValueError, match="one per game"):
        many.mean(by=["yes"])
    with pytest.raises(ValueError, match="only a batch"):
        many[0].mean()
    pytest.importorskip("pandas")
    assert by.to_frame().shape == (6, 2)


def test_frames(one, many):
    pytest.importorskip("pandas")
    frame = one.to_frame()
    assert list(frame.columns) == ["value", "marginal"]
    assert list(frame.index) == NAMES
    assert many.to_frame().index.names == ["game", "player"]
    assert many.to_frame().loc[2, "value"].tolist() == many.values[2].tolist()
    both = ff.compare(np.arange(8.0), temperature=1.0).to_frame()
    assert list(both.columns) == ["variational_index", "banzhaf", "shapley"]


def test_text_and_html(one, many):
    text = repr(one)
    assert "decoupling error" in text
    assert "marginal" in text
    assert "converged" in text
    assert "<script>" in text
    page = one._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "mean |value|" in repr(many)
    assert "4 games of 3 players" in repr(many)
    long = ff.banzhaf(lambda S: S.sum(axis=1), players=22, progress=False)
    assert "… 2 more players" in repr(long)
    table = ff.compare(np.arange(8.0), temperature=1.0)
    assert "decoupling error: shapley" in repr(table)
    assert "<table>" in table._repr_html_()


def test_a_comparison_shows_errors_and_why_it_stopped():
    found = ff.compare(
        lambda S: S.sum(axis=1) ** 2.0, players=12, temperature=2.0, budget=60, progress=False
    )
    shown = repr(found)
    shapley = found["shapley"]
    assert shown.count("±") == 3 * 12 + 1
    assert f"± {1.959964 * shapley.stderr[0]:.2g}" in shown
    assert "± is half the width of a 95 % interval" in shown
    assert found.evaluations <= 60
    assert f"temperature 2, {found.evaluations} worths evaluated" in shown
    assert "not to be trusted" in shapley.stop
    for name, v in found.items():
        assert f"{name}: {v.stop}" in shown.splitlines()
        assert f"<div>{name}: {v.stop}</div>" in found._repr_html_()
    assert "± is half the width of a 95 % interval" in repr(shapley)


def test_advice_is_given_once():
    v = ff.variational_index(
        lambda S: np.tanh(S @ np.linspace(-1, 2, 12)),
        players=12, temperature=0.05, budget=100, progress=False,
    )  # fmt: skip
    assert v.stop.count("not to be trusted") > 1
    assert v.stop.count("raise the budget") == 1


def test_exact_comparisons_have_nothing_to_say_of_their_end():
    found = ff.compare(np.arange(8.0), temperature=1.0)
    assert not found.caveats
    assert "±" not in repr(found)
    assert "temperature 1, no worths evaluated" in repr(found)


def test_saved_and_loaded_it_is_the_same(one, many, tmp_path):
    for v in (one, many):
        v.save(tmp_path / "v.npz")
        same(ff.Valuation.load(tmp_path / "v.npz"), v)
    both = ff.compare(np.arange(8.0), temperature=1.0)
    both.save(tmp_path / "c.npz")
    loaded = ff.Comparison.load(tmp_path / "c.npz")
    assert list(loaded) == list(both)
    same(loaded["shapley"], both["shapley"])


def test_what_is_not_a_saved_valuation_is_refused(one, tmp_path):
    path = tmp_path / "file.npz"
    path.write_bytes(b"not a zip file")
    with pytest.raises(ValueError, match="not a saved valuation"):
        ff.Valuation.load(path)
    np.savez(path, values=np.zeros(3))
    with pytest.raises(ValueError, match="not a saved valuation"):
        ff.Valuation.load(path)
    one.save(path)
    with pytest.raises(ValueError, match="holds a valuation"):
        ff.Comparison.load(path)
    np.savez(path, about=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="not a saved valuation"):
        ff.Valuation.load(path)
    whole = tmp_path / "cut.npz"
    one.save(whole)
    whole.write_bytes(whole.read_bytes()[:200])
    with pytest.raises(ValueError, match="not a saved valuation"):
        ff.Valuation.load(whole)


def test_it_cannot_be_changed(one):
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.criterion = "other"


def test_decoupling_can_be_left_out(rng):
    table = brute.mixed(rng, 5)
    v = ff.variational_index(table, temperature=1.0, decoupling=False)
    assert v.log_z is None
    assert v.decoupling_error is None
    assert v.marginals is not None


class Named(ff.FunctionGame):
    """A batch of two games that have names."""

    batch, labels = (2,), ("hits", "loss")

    def worths(self, coalitions):
        return np.stack([coalitions @ [3.0, 2.0, 1.0], coalitions @ [-1.0, 0.0, 5.0]])


@pytest.fixture
def named():
    return ff.shapley(Named(len, players=NAMES))


def test_games_of_a_batch_are_picked_and_shown_by_name(named, tmp_path):
    assert_allclose(named["loss"].values, [-1, 0, 5], atol=1e-12)
    assert "shapley of 'loss' in Named: 2 games of 3 players" in repr(named["loss"])
    head = repr(named).splitlines()[0].split()
    assert head == ["player", "hits", "loss"]
    assert repr(named).splitlines()[1].split() == ["<script>", "1", "5"]
    assert named[::-1].labels == ("loss", "hits")
    with pytest.raises(KeyError, match=r"the games of this batch are \{hits, loss\}"):
        named["accuracy"]
    with pytest.raises(KeyError, match="have no names, take one as v"):
        ff.shapley(np.arange(8.0).reshape(2, 4))["hits"]
    named.save(tmp_path / "v.npz")
    same(ff.Valuation.load(tmp_path / "v.npz"), named)
    head = repr(ff.compare(Named(len, players=NAMES), criteria=["shapley", "banzhaf"]))
    assert head.startswith("player    shapley, hits  shapley, loss  banzhaf, hits  banzhaf, loss")
    assert ff.shapley(2.0 * Named(len, players=NAMES))["loss"]["bob"] == pytest.approx(0)
    pytest.importorskip("pandas")
    assert_allclose(named.to_frame().loc["loss", "value"], [-1, 0, 5], atol=1e-12)


def test_games_that_share_a_name_come_together(named):
    alike = dataclasses.replace(named, labels=("hits", "hits"))
    assert alike["hits"].batch == (2,)
    pytest.importorskip("pandas")
    frame = ff.Comparison({"one": alike, "two": alike}).to_frame()
    assert_array_equal(frame["two"], named.values.ravel())


def test_means_are_shown_and_read_by_player(named):
    means = named.mean()
    assert means["<script>"] == pytest.approx(3)
    by = named.mean(by=["x", "y"])
    assert by["ann"] == pytest.approx({"x": 3, "y": -1})
    assert repr(by).splitlines()[0].split() == ["player", "mean,", "x", "mean,", "y"]
    assert "mean |value|" in repr(means)
    assert "&lt;script&gt;" in means._repr_html_()
    with pytest.raises(KeyError, match="no player 'zed'"):
        means["zed"]
