"""The examples run and find what they were made to find."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def printed(name, capsys, *given, **changed):
    """What the main function of an example prints, some of its constants being smaller."""
    names = runpy.run_path(str(EXAMPLES / name))
    main = names["main"]
    main.__globals__.update(changed)
    main(*given)
    return capsys.readouterr().out


def test_the_corrupted_vendor_is_worth_least(capsys):
    vendors = ["Acorn", "Birch", "Cedar", "Damson", "Elm", "Fir"]
    text = printed("data_vendors.py", capsys, VENDORS=vendors)
    assert "The least valuable vendor by Shapley is Fir." in text
    assert "Rate of detection: 100%" in text
    assert "shapley, highest removed first" in text


def test_trees_that_learnt_nothing_are_worth_least(capsys):
    text = printed("model_ensemble.py", capsys, 16)
    assert "Found among the lowest by Shapley: 100%" in text
    assert "lowest pruned first" in text


@pytest.mark.parametrize("name", ["quickstart.py", "european_council.py", "noisy_labels.py"])
def test_the_others_run(name, capsys):
    assert printed(name, capsys)


def test_documents_that_carried_an_answer_are_found(capsys):
    text = printed("documents.py", capsys, 7, 16, 0.0)
    top = text.split("The five documents that carried the answer: ")[1].strip().split(", ")
    assert set(top) == {"history", "visitors", "telescope", "comets", "road"}
    assert "no coalitions evaluated" in text  # the other judge


def test_the_agents_that_carried_a_result_are_found(capsys):
    text = printed("team.py", capsys)
    assert "Carried the result: researcher, writer" in text
    assert "F(∅) = 0 was given" in text


def test_the_words_of_a_complaint_are_found(capsys, tmp_path):
    text = printed("words.py", capsys, tmp_path / "letter.png")
    assert "Most of a complaint: came., never, work." in text
    assert (tmp_path / "letter.png").exists()


def test_the_stroke_of_a_digit_is_found(capsys, tmp_path):
    pytest.importorskip("torch")
    picture = tmp_path / "seven.png"
    text = printed("digits.py", capsys, picture, STEPS=40, GRID=(2, 2))
    assert "After a closer look at segments" in text
    assert picture.exists()
