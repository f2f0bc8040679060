"""Sentences below the tables."""

import numpy as np

import fairfield as ff


def test_advice_is_given_once():
    v = ff.variational_index(
        lambda S: np.tanh(S @ np.linspace(-1, 2, 12)),
        players=12, temperature=0.01, budget=100, progress=False,
    )  # fmt: skip
    assert v.stop.count(";") > 3
    assert v.stop.count("not to be trusted") == 1
    assert v.stop.count("raise the budget") == 1


def test_a_table_to_paste_brings_its_style_and_runs_nothing(one):
    page = one.to_html()
    assert "<table style=" in page
    assert "<td>" not in page
    assert "&lt;script&gt;" in page
    assert page.count("text-align:left") == 4  # the names and their head
