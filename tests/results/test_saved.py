"""Results on disk are read back as they were, and nothing else is read."""

import dataclasses
import datetime
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import fairfield as ff
from fairfield.results.saved import write_plain
from fairfield.results.words import Words


def same(one, other):
    for entry in dataclasses.fields(one):
        mine, theirs = getattr(one, entry.name), getattr(other, entry.name)
        if isinstance(mine, np.ndarray):
            assert_array_equal(mine, theirs)
        else:
            assert mine == theirs, entry.name


def test_saved_and_loaded_it_is_the_same(one, many, named, classes, tmp_path):
    explained = dataclasses.replace(many, words=Words("feature", "row", "prediction", "euros"))
    for v in (one, many, named, explained, classes, classes[0], classes.output(7)):
        v.save(tmp_path / "v.npz")
        same(ff.Valuation.load(tmp_path / "v.npz"), v)
    both = ff.compare(np.arange(8.0), temperature=1.0)
    both.save(tmp_path / "c.npz")
    loaded = ff.Comparison.load(tmp_path / "c.npz")
    assert list(loaded) == list(both)
    assert (loaded.evaluations, loaded.seconds) == (both.evaluations, both.seconds)
    same(loaded["shapley"], both["shapley"])


def test_what_is_not_a_saved_valuation_is_refused(one, tmp_path):
    path = tmp_path / "file.npz"
    path.write_bytes(b"not a zip file")
    with pytest.raises(ValueError, match="not a saved valuation"):
        ff.Valuation.load(path)
    np.savez(path, values=np.zeros(3))
    with pytest.raises(ValueError, match="not a saved valuation"):
        ff.Valuation.load(path)
    one.save(path)
    with pytest.raises(ValueError, match="holds a valuation"):
        ff.Comparison.load(path)
    np.savez(path, about=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="not a saved valuation"):
        ff.Valuation.load(path)
    whole = tmp_path / "cut.npz"
    one.save(whole)
    whole.write_bytes(whole.read_bytes()[:200])
    with pytest.raises(ValueError, match="not a saved valuation"):
        ff.Valuation.load(whole)


def test_files_without_words_are_of_players(one, tmp_path):
    """Files written before there were words for players and games."""
    entries = one.entries()
    del entries["words"]
    write_plain(tmp_path / "v.npz", "valuation", {"": entries})
    same(ff.Valuation.load(tmp_path / "v.npz"), one)


SCHEMA = Path(__file__).parents[2] / "docs" / "valuation.schema.json"


def test_plain_data_follow_the_schema_and_are_read_back(one, many, named, classes):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    fields = {each.name for each in dataclasses.fields(ff.Valuation)}
    assert set(schema["properties"]) - {"fairfield", "format"} == fields
    strange = dataclasses.replace(
        one,
        players=(("a", 1), datetime.date(2024, 2, 29), b"c"),
        values=np.array([np.nan, np.inf, 1.0]),
        decoupling_error=np.inf,
        data=np.array(["x", None, 2.5], dtype=object),
        usage={"calls": 3},
    )
    estimated = ff.shapley(lambda S: np.sqrt(S.sum(axis=1)), players=9, budget=100)
    for v in (one, many, named, classes, classes[0], classes.output(7), strange, estimated):
        held = json.loads(v.to_json())
        jsonschema.Draft202012Validator(schema).validate(held)
        assert set(held) <= set(schema["properties"])  # which allows what later versions add
        same(ff.Valuation.from_dict(held), v)
        assert v.to_dict() == held
    for kind in (float, int, str, bool):
        data = np.array([1, 0, 1]).astype(kind)
        v = ff.Valuation.from_dict(json.loads(dataclasses.replace(one, data=data).to_json()))
        assert v.data.dtype.kind == data.dtype.kind
    days = np.array(["2024-02-29", "NaT", "2025-01-01"], dtype="datetime64[ns]")
    v = ff.Valuation.from_dict(json.loads(dataclasses.replace(one, data=days).to_json()))
    assert v.data[0] == datetime.datetime(2024, 2, 29)


def test_plain_data_that_do_not_fit_are_refused(one):
    held = one.to_dict()
    for wrong, words in (
        ({}, "not a valuation of fairfield"),
        (held | {"values": [1.0]}, "its values do not fit"),
        (held | {"fairfield": "comparison"}, "it holds a comparison"),
        (held | {"format": 99}, "reads up to 2"),
        (held | {"stderr": ["much", 1, 2]}, "not a valuation of fairfield"),
        (held | {"surprise": 1}, "not a valuation of fairfield"),
    ):
        with pytest.raises(ValueError, match=words):
            ff.Valuation.from_dict(wrong)


def test_a_saved_reason_to_stop_must_be_text(tmp_path):
    """It is shown below the table, so that anything else would break there."""
    found = ff.interactions([0.0, 1.0, 1.0, 5.0], "banzhaf")
    dataclasses.replace(found, stop=5).save(tmp_path / "found.npz")
    with pytest.raises(ValueError, match="stop"):
        ff.Interactions.load(tmp_path / "found.npz")
