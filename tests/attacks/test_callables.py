"""What user functions do to their arguments and outputs never shows in the numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff


@pytest.mark.parametrize("n_jobs", [1, None])
def test_an_output_buffer_that_is_used_again_gives_the_same_values(n_jobs):
    buffer = np.empty(1 << 12)

    def worth(S):
        found = buffer[: len(S)]
        np.dot(S, np.arange(1.0, 11.0), out=found)
        return found

    for options in ({}, {"budget": 200}):
        found = ff.shapley(worth, players=10, n_jobs=n_jobs, **options)
        assert_allclose(found.values, np.arange(1.0, 11.0), atol=1e-9)


def test_a_function_that_writes_into_its_argument_is_harmless():
    def worth(S):
        found = S @ np.arange(1.0, 7.0)
        S[:] = False
        return found

    assert_allclose(ff.shapley(worth, players=6).values, np.arange(1.0, 7.0))


def test_fractions_are_not_cut_off_by_whole_numbers():
    rows = np.array([[3, 10], [5, 20]])
    game = ff.FeatureGame(lambda X: X.sum(axis=1), rows, np.array([[1.5, 2.25]]))
    assert_allclose(game.worths(np.zeros((1, 2), dtype=bool))[:, 0], 3.75)
    flags = ff.FeatureGame(lambda X: X[:, 0] * 1.0, np.array([[True, False]]), [[0.5, 0.5]])
    assert_allclose(flags.worths(np.zeros((1, 2), dtype=bool))[:, 0], 0.5)


def test_a_function_of_names_may_answer_in_one_array():
    answer = np.zeros(())

    def worth(names):
        answer[...] = len(names) ** 2
        return answer

    rows = np.tri(3, dtype=bool)
    assert ff.FunctionGame(worth, 3, takes="names").worths(rows).tolist() == [1.0, 4.0, 9.0]


@pytest.mark.parametrize("as_worth", [False, True])
def test_a_service_may_answer_in_one_array_and_one_record(as_worth, tmp_path):
    """Answers were read, and records written, when the driver came to them: after later calls."""
    answer, record = np.zeros(()), {"messages": [0.0]}

    async def worth(names):
        answer[...] = record["messages"][0] = float(sum(names) ** 2)
        return ff.Worth(answer, record=record) if as_worth else answer

    def exact(S):
        return (S @ np.arange(6.0)) ** 2

    game, store = ff.RemoteGame(worth, 6, concurrency=16, name="squares"), tmp_path / "s.db"
    wanted = ff.shapley(exact, players=6).values
    assert_allclose(ff.shapley(game, store=store).values, wanted, atol=1e-12)
    if as_worth:
        judged = ff.rescore(store, lambda kept: kept["messages"][0])
        assert_allclose(ff.shapley(judged).values, wanted, atol=1e-12)


def test_a_scorer_of_importances_may_write_into_what_it_is_given(rng):
    X = rng.normal(size=(12, 3))
    y = X @ [1.0, 2.0, 3.0]

    def scoring(spoils):
        def scored(model, X, y):
            found = model.predict(X)
            found -= y
            again = -float(np.mean((model.predict(X) - y) ** 2))
            if spoils:
                X[...], y[...] = 0.0, 7.0
            return again

        return scored

    def predict(X):
        return X @ [1.0, 2.0, 3.0]

    polite, other = (ff.importance(predict, X, y, scoring=scoring(s)).values for s in (0, 1))
    assert_allclose(other, polite)
    assert_allclose(polite, ff.importance(predict, X, y).values)


class Answering(ff.Game):
    players = (0, 1)

    def __init__(self, answer):
        self.answer = answer

    def worths(self, coalitions):
        return self.answer(coalitions)


def masked(S):
    return np.ma.array(S.sum(axis=1) * 1.0, mask=S.all(axis=1))


ANSWERS = {
    "text": lambda S: S.sum(axis=1).astype(str),
    "text among objects": lambda S: np.array([str(each) for each in S.sum(axis=1)], dtype=object),
    "dates": lambda S: S.sum(axis=1).astype("timedelta64[s]"),
    "complex": lambda S: S.sum(axis=1) * (1 + 1j),
    "masked": masked,
}


@pytest.mark.parametrize("what", ANSWERS)
def test_what_is_no_number_is_no_worth(what):
    """Masked worths lost their mask, texts were read as numbers, imaginary parts dropped."""
    answer, row = ANSWERS[what], np.ones(2)
    for ask in (
        lambda: ff.shapley(answer, players=2),
        lambda: ff.shapley(Answering(answer)),
        lambda: ff.shapley(ff.FeatureGame(lambda X: answer(X > 0.5), row, np.zeros((1, 2)))),
    ):
        refused = TypeError, ValueError, ff.WorthError
        with pytest.raises(refused, match=r"were returned|values of type|nan"):
            ask()
