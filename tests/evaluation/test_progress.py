"""The progress bar is shown when it is asked for."""

import re
import time

import fairfield as ff


def test_progress_is_shown_when_asked(capsys):
    def worth(S):
        time.sleep(0.03)
        return S.sum(axis=1)

    ff.shapley(worth, players=8, progress=True)
    shown = capsys.readouterr().err
    # So many of all, how long it took, how long it will take.
    assert re.search(r"worths: .* \d+/256 \[\d\d:\d\d<\d\d:\d\d,", shown)
    ff.shapley(lambda S: S.sum(axis=1), players=4, progress=False)
    assert capsys.readouterr().err == ""


def test_one_bar_spans_the_rounds_of_an_estimate(capsys):
    def worth(S):
        time.sleep(0.001 * len(S))
        return S.sum(axis=1) ** 2.0

    ff.shapley(worth, players=14, budget=300, progress=True)
    shown = capsys.readouterr().err
    assert {int(total) for total in re.findall(r"\d+/(\d+) \[", shown)} == {300}
    counts = [int(count) for count in re.findall(r" (\d+)/300 ", shown)]
    assert counts == sorted(counts)
