"""The parts of the public comparison at tiny sizes: model, store, scores, page."""

import json

import numpy as np
import pytest

pytest.importorskip("sklearn")

from benchmarks.comparison import cases, page, words
from benchmarks.comparison.__main__ import stages
from benchmarks.comparison.ours import METHODS, values
from benchmarks.comparison.scores import collect
from benchmarks.comparison.store import Found, Job, fill, read

TINY = ("wine", "moons")


@pytest.fixture
def small(monkeypatch):
    """Two data sets of 30 training rows."""
    for name in TINY:
        monkeypatch.setitem(cases.SETS, name, (30, cases.SETS[name][1]))


def test_the_model_is_where_the_gradient_vanishes(small):
    case = cases.make_case("wine", "labels", 0)
    model = cases.Logistic(case.classes).fit(case.X, case.y)
    A = np.column_stack([case.X, np.ones(30)])
    p = 1 / (1 + np.exp(-A @ model.weights_.T))
    slopes = A.T @ ((case.y[:, None] == np.arange(3)) - p) - model.weights_.T
    assert np.abs(slopes).max() < 1e-5


def test_cases_are_seeded_and_changed_where_they_say(small):
    first, again = (cases.make_case("moons", "labels", 3) for _ in range(2))
    assert first.digest() == again.digest() != cases.make_case("moons", "labels", 4).digest()
    clean = cases.make_case("moons", "shift", 3)
    assert (first.y != clean.y).tolist() == first.bad.tolist()
    assert first.bad.sum() == 3
    assert ((first.X != clean.X).any(axis=1) == clean.bad).all()
    assert clean.bad.sum() == 6


def test_every_method_of_ours_values_every_row(small):
    case = cases.make_case("moons", "labels", 0)
    for library, methods in METHODS.items():
        for name in methods:
            if name not in ("Shapley", "Banzhaf", "Banzhaf, accuracy"):  # slow: their own tests
                found = values(case, Job("moons", "labels", 0, library, name, 20))
                assert np.isfinite(found.values).all(), name
                assert found.values.shape == (30,)
                assert found.fits <= max(20, 32), name


def test_a_store_is_filled_once_and_survives_a_kill(small, tmp_path):
    store, asked = tmp_path / "store.jsonl", []
    jobs = [Job(data, "labels", 0, "baseline", "random order", 0) for data in TINY]

    def counted(case, job):
        asked.append(job)
        return values(case, job)

    assert not fill(store, -1, jobs, counted)
    assert fill(store, 60, jobs, counted)
    whole = store.read_bytes()
    store.write_bytes(whole[:-20])  # killed while it wrote the second line
    assert fill(store, 60, jobs, counted)
    assert asked == [*jobs, jobs[1]]
    assert [line["values"] for line in read(store).values()] == [
        line["values"] for line in map(json.loads, whole.decode().splitlines())
    ]


def test_the_page_says_who_found_what(small, tmp_path):
    """One method knows the bad rows, all others go by chance."""
    refitted = ("fairfield", "leave-one-out", 0)
    methods = [words.CHANCE, words.MARGINS, *words.NEIGHBORS.values(), refitted]
    jobs = [
        Job("moons", kind, seed, *method)
        for kind in ("labels", "shift")
        for seed in range(2)
        for method in methods
    ]

    def value(case, job):
        if job[3:] == words.NEIGHBORS["index"]:
            return Found(-1.0 * case.bad, 0)
        rng = np.random.default_rng([job.seed, *job.method.encode()])
        return Found(rng.random(30), 1)

    fill(tmp_path / "store.jsonl", 60, jobs, value)
    results = collect(tmp_path / "store.jsonl", jobs)
    assert results.mean("labels: found", words.NEIGHBORS["index"]) == (1.0, 0.0)
    assert results.ranks("shift: found")[words.NEIGHBORS["index"]] == 1
    pages = ("data-comparison.md", "criteria.md", "beyond-the-paper.md")
    for name in pages:
        (tmp_path / name).write_text("a\n<!-- comparison -->\nOLD\n<!-- end of comparison -->\nb")
    page.write(results, tmp_path)
    found = [(tmp_path / name).read_text(encoding="utf-8") for name in pages]
    assert all(each.startswith("a\n") and each.endswith("\nb") for each in found)
    assert not any("OLD" in each for each in found)
    assert "best is fairfield neighbours, index, 1.000" in found[0]
    assert page.filled(found[0], "comparison", page.body(results)) == found[0]


def test_a_quick_run_is_part_of_the_full_one():
    quick, full = ({job for jobs in stages(full) for job in jobs} for full in (False, True))
    assert quick < full
    assert len({job.data for job in full}) >= 10
    assert len({job[3:5] for job in full}) >= 10
