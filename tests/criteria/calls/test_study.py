"""Ask and tell: any criterion, in any order, with repeats, from a store."""

import numpy as np
import pytest

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions

RNG = np.random.default_rng(0)
W = RNG.uniform(0.5, 2, 10)


def worth(S):
    # Row by row, so that the bits do not depend on how many rows there are.
    return np.sqrt((S * W[: S.shape[1]]).sum(axis=1))


def driven(study, k=7, of=worth):
    while len(S := study.ask(k)):
        assert len(S) <= k
        study.tell(S, of(S))
    assert study.done
    return study.result()


CASES = [
    ("shapley", {}),
    ("banzhaf", {}),
    (ff.semivalue, {"weights": ff.beta(2, 1)}),
    ("variational_index", {"temperature": 0.5}),
    ("variational_index", {}),
    (ff.variational_values, {"steps": 3, "temperature": 0.5}),
    ("shapley", {"sampler": "permutation"}),
]


@pytest.mark.parametrize(("criterion", "keywords"), CASES)
def test_a_study_ends_as_the_direct_call(criterion, keywords):
    direct = ff.RemoteGame(lambda names: worth(np.isin(range(8), names)[None])[0], 8)
    value = getattr(ff, criterion) if isinstance(criterion, str) else criterion
    wanted = value(direct, budget=90, **keywords)
    found = driven(ff.Study(criterion, 8, budget=90, **keywords))
    np.testing.assert_array_equal(found.values, wanted.values)
    np.testing.assert_array_equal(found.stderr, wanted.stderr)
    assert found.stop.split(";")[0] == wanted.stop.split(";")[0]
    assert found.evaluations == wanted.evaluations


@pytest.mark.parametrize(
    "criterion", ["shapley", "variational_index", "leave_one_out", "free_energy_value"]
)
@pytest.mark.parametrize("players", [3, 5])
def test_small_games_are_exact(criterion, players):
    found = driven(ff.Study(criterion, players, temperature=0.5))
    exact = getattr(ff, criterion)(worth, players=players, temperature=0.5)
    assert found.values == pytest.approx(exact.values, abs=1e-10)
    assert found.method.startswith("exact") or criterion == "leave_one_out"


def test_any_order_and_a_result_at_any_moment():
    study, exact = ff.Study("shapley", 6), ff.shapley(worth, players=6).values
    with pytest.raises(ff.WorthError, match="an estimate needs"):
        study.result()
    given = study.ask(40)
    assert len(study.pending) == 40
    back = given[::-1]
    study.tell(back[:30], worth(back[:30]))
    assert len(study.pending) == 10
    assert len(study.ask(100)) == 64 - 40  # small enough for the first round to be all of it
    study.tell(back[30:], worth(back[30:]))
    early = study.result()
    assert "no answer for coalition" in early.stop
    assert (np.abs(early.values - exact) <= 5 * early.stderr + 1e-9).all()
    assert not study.done
    study.tell(study.pending, worth(study.pending))
    assert len(study.ask()) == 0
    assert study.done
    assert study.result().values == pytest.approx(exact, abs=1e-10)


def test_noisy_repeats_and_what_was_never_asked_for():
    noise = np.random.default_rng(1)
    study, S = ff.Study("shapley", 5), enumerate_coalitions(5, 0, 32)
    study.tell(S, [ff.Worth(w + noise.normal(0, 0.1), cost=0.5) for w in worth(S)])
    once = study.result()
    assert once.stderr is None
    assert once.usage["cost"] == 16
    for _ in range(3):
        study.tell(S[5:15], worth(S[5:15]) + noise.normal(0, 0.1, 10))
    noisy = study.result()
    exact = ff.shapley(worth, players=5).values
    assert (np.abs(noisy.values - exact) < 5 * noisy.stderr).all()
    assert 0.02 < noisy.stderr.mean() < 0.1


def test_it_goes_on_from_its_store_and_shares_that_of_a_game(tmp_path):
    path = tmp_path / "s.db"
    game = ff.RemoteGame(
        lambda names: ff.Worth(float(len(names)) ** 2, record={"n": len(names)}), 12, name="n2"
    )
    first = ff.Study("shapley", game, budget=80, store=path)
    S = first.ask(50)
    first.tell(S, S.sum(axis=1) ** 2.0)
    second = ff.Study("shapley", game, budget=80, store=path)
    asked = second.ask(100)
    assert len(asked) == 30
    assert not {row.tobytes() for row in asked} & {row.tobytes() for row in S}
    v = ff.shapley(game, budget=80, store=path)
    assert v.usage["calls"] == 30
    third = ff.Study("shapley", game, budget=80, store=path)
    assert third.done
    assert third.result().values == pytest.approx(v.values)
    assert len(ff.describe_store(path).drivers) == 1  # of the direct call
    with pytest.raises(ff.StoreError, match="another game"):
        ff.Study("shapley", 12, store=path, budget=80)


def test_money_and_a_tolerance_end_it():
    study = ff.Study("shapley", 10, spend=60)
    while len(S := study.ask(16)):
        study.tell(S, [ff.Worth(w, cost=1.0) for w in worth(S)])
    assert study.done
    assert study.result().usage["cost"] == 60
    loose = driven(ff.Study("shapley", 10, tolerance=0.05), k=1000)
    assert "within ±0.05" in loose.stop


def test_money_is_counted_as_in_a_direct_call():
    study = ff.Study("shapley", ff.RemoteGame(len, 6, price=0.5), spend=9)
    while len(S := study.ask(4)):
        study.tell(S, [ff.Worth(w, tokens=None) for w in worth(S)])
    assert study.done
    v = study.result()
    assert (v.usage["calls"], v.usage["cost"]) == (18, 9.0)
    assert v.stop.startswith("spend=9 allows no further call")
    assert "18 calls, cost 9" in v.stop
    unpriced = ff.Study("shapley", 6, spend=9)
    with pytest.raises(ValueError, match="spend=9 needs to know what a worth cost"):
        unpriced.tell(unpriced.ask(), [1.0])


def test_worths_of_a_local_game_stay_in_sight(tmp_path):
    path, game = tmp_path / "w.db", ff.FunctionGame(worth, 4)
    ff.shapley(game, store=path)
    study = ff.Study("shapley", game, store=path)
    study.tell(S := study.ask(3), worth(S))
    held = ff.describe_store(path)
    assert (held.worths, held.answers) == (16, 3)
    assert ff.verify_store(path, game) == 19


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (([[0, 1, 1]], [1.0]), "type int64 were told; give a bool array"),
        (([[True, False]], [1.0]), r"shape \(1, 2\)"),
        (([[True, False, True]], [1.0, 2.0]), "1 coalitions were told with 2 worths"),
        (([[True, False, True]], [np.nan]), r"coalition \{0, 2\}: its worth is nan"),
        (([[True, False, True]], [ff.Worth("0.7")]), r"coalition \{0, 2\}.*the text '0.7'"),
    ],
)
def test_what_is_told_is_checked(told, sentence):
    with pytest.raises(ValueError, match=sentence):
        ff.Study("shapley", 3).tell(*told)


def test_arguments_are_checked(tmp_path):
    with pytest.raises(ValueError, match="is a directory"):
        ff.Study("shapley", 3, store=tmp_path)
    with pytest.raises(TypeError, match="seconds= is for worths that fairfield evaluates"):
        ff.Study("shapley", 3, seconds=3)
    with pytest.raises(ValueError, match="a batch of games"):
        ff.Study("shapley", ff.TableGame(np.zeros((2, 4))))
    with pytest.raises(MemoryError, match=r"Study: 40 players: .*budget="):
        ff.Study("shapley", 40)
    for criterion in ("shapley", "variational_index", "leave_one_out"):
        with pytest.raises(ValueError, match=r"Study: 5 players: .*budget"):
            ff.Study(criterion, 5, budget=3)


def test_what_a_study_was_told_is_no_store(tmp_path):
    study = ff.Study("shapley", 2)
    study.tell(study.ask(4), [0, 1, 1, 3.0])
    assert study.result().method == "exact table"
    assert study.result().game == repr(study) == "Study: 2 players"


def test_a_study_that_waits_for_repeats_says_so():
    study = ff.Study("shapley", ff.RemoteGame(len, 2, repeats=3))
    study.tell([[False, False]], [1.0])
    with pytest.raises(ff.WorthError, match=r"1 of 3 answers for coalition \{\} are known"):
        study.result()
