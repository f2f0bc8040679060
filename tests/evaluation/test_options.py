"""Options are checked when they are made."""

import numpy as np
import pytest

import fairfield as ff


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"budget": 0}, "budget=0 was given; it must be a whole number, 1 or more"),
        ({"seed": -1}, "seed=-1 was given"),
        ({"n_jobs": 0}, "n_jobs=0 was given; give 1 or more, or -1 for all cores"),
        ({"tolerance": 0}, r"tolerance=0 was given; give a number above 0, or separate_top\(k\)"),
        ({"seconds": float("inf")}, "seconds=inf was given; give a number above 0"),
        ({"seconds": ff.separate_top(2)}, "give a number above 0"),
        ({"sampler": 3}, "sampler=3 was given; give the name of a sampler"),
        ({"decoupling": "yes"}, "decoupling='yes' was given; give True, False or None"),
        ({"progress": 1}, "progress=1 was given; give True, False or None"),
        ({"budget": True}, "budget=True was given; it must be a whole number, 1 or more"),
        ({"jobs": 2}, r"unknown keyword 'jobs' \(did you mean n_jobs\?\); choose from budget, "),
        ({"buget": 2}, r"'buget' \(did you mean budget\?\); choose from budget, tolerance, "),
        ({"temprature": 2}, r"'temprature' \(did you mean temperature\?\); choose from budget, "),
        ({"karma": 2}, "unknown keyword 'karma'; choose from budget, tolerance, "),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(given, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        ff.Options().changed(given)


def test_numbers_of_numpy_become_plain_ones():
    options = ff.Options(budget=np.int64(7), tolerance=np.float32(0.5), seconds=2)
    assert [type(each) for each in (options.budget, options.tolerance, options.seconds)] == [
        int,
        float,
        float,
    ]


def test_any_limit_permits_an_estimate():
    assert not ff.Options(seed=3, n_jobs=2).estimates
    for limit in ({"budget": 9}, {"tolerance": ff.separate_bottom(1)}, {"seconds": 1.0}):
        assert ff.Options().changed(limit).estimates


def test_a_separation_leaves_somebody_to_separate_from():
    ff.Options(tolerance=ff.separate_top(3)).check_players(4)
    ff.Options(tolerance=0.1).check_players(1)
    sentence = r"separate_bottom\(4\) of 4 players leaves nobody .*; give at most 3"
    with pytest.raises(ValueError, match=sentence):
        ff.Options(tolerance=ff.separate_bottom(4)).check_players(4)
