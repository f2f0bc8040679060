"""The progress bar is shown when it is asked for."""

import re
import time
from types import SimpleNamespace

import fairfield as ff
from fairfield.evaluation import progress


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


def test_worths_that_are_timed_first_move_the_bar_once(monkeypatch):
    counts = []
    monkeypatch.setattr(progress.RunBar, "update", lambda self, count: counts.append(count))
    v = ff.shapley(lambda S: S.sum(axis=1), players=14, budget=60, seconds=100)
    assert sum(counts) == v.evaluations == 60


def test_a_bar_that_learns_of_more_is_not_shown_before_its_time(monkeypatch):
    bar = SimpleNamespace(total=0)  # which cannot be refreshed
    monkeypatch.setattr(progress, "bar", lambda *arguments: bar)
    shown = progress.RunBar(None, None, None)
    shown.expect(3)
    shown.expect(4)
    assert bar.total == 7
