"""A warning of a model is shown once, and the user's filters stay in force."""

import warnings

import pytest

from fairfield.evaluation.warnings_once import each_once


def test_each_place_is_shown_once_and_says_so():
    shown = set()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(5):
            with each_once(shown):
                warnings.warn("no convergence", stacklevel=1)
                warnings.warn("few rows", stacklevel=1)
    assert [str(each.message).splitlines()[0] for each in seen] == ["no convergence", "few rows"]
    assert all("not shown again" in str(each.message) for each in seen)


def test_filters_of_the_user_stay_in_force():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("ignore")
        with each_once(set()):
            warnings.warn("ignored", stacklevel=1)
    assert not seen
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="an error"), each_once(set()):
            warnings.warn("an error", stacklevel=1)
