"""The noise of answers, pooled over coalitions."""

import numpy as np
import pytest

from fairfield.evaluation.remote.noise import variances_of


def test_equal_noise_is_pooled_and_single_answers_have_it():
    rng = np.random.default_rng(0)
    answers = [rng.normal(0, 2, 2).tolist() for _ in range(400)] + [[1.0]]
    found = variances_of(answers)
    # A tenth stands out by chance; the others share one variance.
    assert np.mean(np.isclose(found, np.median(found), rtol=0.25)) > 0.85
    assert found[-1] == pytest.approx(4.0, rel=0.25)


def test_noise_that_stands_out_is_kept():
    answers = [[0.0, 0.1], [1.0, 1.1], [2.0, 1.9], [3.0, 3.1], [0.0, 5.0]]
    found = variances_of(answers)
    assert found[-1] == pytest.approx(12.5)
    many = variances_of([np.random.default_rng(k).normal(0, k, 200).tolist() for k in (1, 3)])
    assert many == pytest.approx([1, 9], rel=0.3)


def test_without_repeats_there_is_none():
    assert variances_of([[1.0], [2.0]]).tolist() == [0, 0]
    assert variances_of([[1.0, 1.0], [2.0, 2.0]]).tolist() == [0, 0]


@pytest.mark.parametrize("spread", ["same", "by size"])
def test_intervals_hold_the_truth_with_two_answers(spread):
    """Shapley's error at n = 6 rests on a few coalitions; .90 were held without pooling."""
    import fairfield as ff
    from fairfield.core.coalitions import enumerate_coalitions

    rng, S = np.random.default_rng(1), enumerate_coalitions(6, 0, 64)
    worths = np.sqrt(S @ rng.uniform(0.5, 2, 6))
    deviation = np.full(64, 0.1) if spread == "same" else 0.02 + 0.1 * S.mean(axis=1)
    exact, inside = ff.shapley(worths).values, []
    for _ in range(150):
        answers = worths[:, None] + deviation[:, None] * rng.normal(size=(64, 2))
        table = ff.TableGame(answers.mean(axis=1), variances=variances_of(answers.tolist()) / 2)
        v = ff.shapley(table)
        inside.append(np.abs(v.values - exact) <= 1.96 * v.stderr)
    assert 0.92 <= np.mean(inside) <= 0.98
