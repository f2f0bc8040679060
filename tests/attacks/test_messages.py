"""What a user may get wrong is answered in one sentence, and what is shown is not misleading."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

import fairfield as ff
from fairfield.cli.commands.doctor import _facts
from fairfield.system import machine


@pytest.fixture(scope="module")
def results():
    game = ff.TableGame(np.arange(8.0) ** 2, players=["a", "b", "c"])
    v = ff.shapley(game)
    return {
        "Valuation": v,
        "Interactions": ff.interactions(game),
        "Comparison": ff.compare(game),
        "Annealing": ff.annealing(game),
        "Curve": ff.removal_curve(game, v),
        "int": 3,
        "NoneType": None,
    }


TAKES = {
    "annealing": "Annealing",
    "bar": "Valuation or Means",
    "beeswarm": "Valuation",
    "box": "Valuation or Comparison",
    "cohorts": "Valuation",
    "dependence": "Valuation",
    "heatmap": "Valuation",
    "image": "Valuation",
    "network": "Interactions",
    "text": "Valuation",
    "criteria": "Comparison",
    "curves": "Curve",
    "interactions": "Interactions",
    "ranks": "Comparison",
    "trajectory": "Valuation",
    "waterfall": "Valuation",
}

MORE = {"cohorts": ([1],), "dependence": ("a",), "image": (None,)}


@pytest.mark.parametrize("picture", ff.plots.__all__)
def test_pictures_name_the_results_that_they_take(picture, results):
    for name, result in results.items():
        if name not in TAKES[picture]:
            with pytest.raises(TypeError) as refused:
                getattr(ff.plots, picture)(result, *MORE.get(picture, ()))
            sentence = f"{picture} takes a result of type {TAKES[picture]}; {name} was given"
            assert str(refused.value).startswith(sentence)


def test_a_picture_of_the_strongest_interactions_says_that_there_are_more(rng):
    found = ff.interactions(ff.TableGame(rng.normal(size=2**7)), order=3)
    ax = ff.plots.interactions(found)
    assert ax.get_title(loc="left") == "the strongest 20 of 35 coalitions"
    plt.close(ax.figure)


@pytest.mark.parametrize("index", [(0, "a", "b"), 9, (0, 0), 1.5])
def test_indices_that_take_nothing_are_answered(index):
    batch = ff.TableGame(np.arange(16.0).reshape(2, 8) ** 2, players=["a", "b", "c"])
    for found in (ff.interactions(batch), ff.shapley(batch)):
        with pytest.raises(IndexError, match=r"takes nothing from 2 games; take one game, v\[i\]"):
            found[index]
    one = ff.interactions(ff.TableGame(np.arange(8.0), players=["a", "b", "c"]))
    for wrong in (slice(0, 1), (["a"],)):
        with pytest.raises(KeyError, match="there is no interaction of"):
            one[wrong]


def test_all_outputs_of_one_row_are_shown_with_their_signs():
    def two(X):
        return np.stack([-X[:, 0], X[:, 1]], axis=1)

    game = ff.FeatureGame(two, np.array([[2.0, 3.0]]), np.zeros(2), output="all")
    for shown in (repr(ff.shapley(game)), repr(ff.compare(game, criteria=["shapley"]))):
        assert "-2" in shown
        assert "|value|" not in shown


@pytest.mark.parametrize("given", [None, 3, [], "nope"])
def test_what_is_no_criterion_is_answered(given):
    for ask in (
        lambda: ff.Explainer(lambda X: X[:, 0], np.zeros(3), criterion=given),
        lambda: ff.compare([0.0, 1.0, 1.0, 3.0], criteria=[given]),
        lambda: ff.axioms.check(given, [0.0, 1.0, 1.0, 3.0]),
    ):
        with pytest.raises(ValueError, match="there is no criterion"):
            ask()


def test_weights_of_a_beta_value_are_a_criterion():
    table = np.arange(8.0) ** 2
    wanted = ff.semivalue(table, ff.beta(2, 1)).values
    assert (ff.compare(table, criteria=[ff.beta(2, 1)])["beta(2, 1)"].values == wanted).all()
    explainer = ff.Explainer(lambda X: X[:, 0] * X[:, 1], np.zeros(2), criterion=ff.beta(2, 1))
    assert explainer([2.0, 3.0]).values.tolist() == [2.0, 2.0]


def test_predictions_and_rows_of_an_ensemble_are_as_many(rng):
    y, votes = rng.integers(0, 2, 30), rng.random((3, 30))
    with pytest.raises(ValueError, match="X_test has 20 rows and y_test 30"):
        ff.EnsembleGame(votes, np.zeros((20, 2)), y)
    with pytest.raises(ValueError, match=r"of \[30, 7\] rows"):
        ff.EnsembleGame([votes[0], votes[1][:7]], np.zeros((30, 2)), y)


def test_calls_of_a_comparison_are_said_once():
    game = ff.RemoteGame(lambda names: ff.Worth(len(names) ** 2.0, cost=0.25), 3)
    shown = repr(ff.compare(game, temperature=1.0))
    assert shown.count("8 calls, cost 2") == 1


def test_what_came_from_a_store_cost_nothing(tmp_path):
    game = ff.RemoteGame(lambda names: ff.Worth(len(names) ** 2.0, cost=0.25), 3, name="squares")
    assert ff.shapley(game, store=tmp_path / "a.db").usage["cost"] == 2
    assert ff.shapley(game, store=tmp_path / "a.db").usage["cost"] == 0


def test_a_study_says_how_many_worths_are_missing():
    study = ff.Study("shapley", 12, budget=100)
    asked = study.ask(16)
    study.tell(asked, asked.sum(axis=1))
    with pytest.raises(ff.WorthError, match="Study: 12 players: 16 of at least 26 worths are told"):
        study.result()


def test_one_version_everywhere(monkeypatch):
    monkeypatch.setattr("fairfield.system.version", lambda name: "0.0.1")
    assert ff.shapley([0.0, 1.0]).versions["fairfield"] == ff.__version__
    shown = dict(_facts(machine()))["fairfield"]
    assert shown.startswith(f"{ff.__version__} (the installed package says 0.0.1")


@pytest.mark.parametrize("given", [None, "worths.csv", 3])
def test_what_is_no_game_is_answered_by_what_may_be_one(given):
    with pytest.raises(TypeError, match=r"was given; give a game of fairfield, a worth function"):
        ff.shapley(given)


def test_what_is_out_of_reach_names_its_own_kind():
    with pytest.raises(ValueError, match=r"only interactions by shapley, .*stii are estimated"):
        ff.interactions(lambda S: S.sum(axis=1), "log_odds", players=8, budget=100)


def test_arguments_of_another_kind_are_refused(results, tmp_path):
    with pytest.raises(TypeError, match=r"curves=3 was given; give a curve"):
        ff.report(results["Comparison"], tmp_path / "r.html", curves=3)
    ff.report(results["Comparison"], tmp_path / "r.html", curves=iter([results["Curve"]]))
    with pytest.raises(ValueError, match=r"timeout is '3'; it must be a finite number"):
        ff.RemoteGame(len, 3, timeout="3")
    rows, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    model = pytest.importorskip("sklearn.linear_model").LinearRegression()
    with pytest.raises(ValueError, match=r"y_test holds nan in row 1; leave that row out"):
        ff.DataGame(model, rows, y, rows, [0.0, np.nan, 1.0, np.nan])


def test_a_quote_of_a_run_that_would_be_refused_is_refused():
    def worth(S):
        return S.sum(axis=1)

    for ask in (ff.quote, ff.shapley):
        with pytest.raises(ValueError, match=r"budget=3 is too small .* at least 62 coalitions"):
            ask(ff.FunctionGame(worth, 30), budget=3)


def test_a_store_in_no_place_says_nothing_of_worths():
    with pytest.raises(ff.StoreError, match=r"could not be used \(.*\); give a place"):
        ff.shapley(lambda S: S.sum(axis=1), players=2, store="/proc/x.db")


def test_an_error_of_several_lines_is_one():
    def worth(S):
        raise ValueError("a\n\tb\n c")

    with pytest.raises(ff.WorthError, match=r"ValueError: a b c$"):
        ff.shapley(worth, players=3)
