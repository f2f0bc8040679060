"""Saved results keep what they hold, and what was tampered with is refused in one sentence."""

import datetime
import io
import json
import zipfile
from fractions import Fraction

import numpy as np
import pytest

import fairfield as ff

NAMES = [("a", 1), datetime.date(2024, 2, 29), frozenset({"x"}), b"raw", None, 1.5, True]
NAMES += [datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)]


def changed(path, edit=None, **arrays):
    """The file with its JSON edited, or arrays replaced."""
    with np.load(path) as file:
        held = {name: file[name] for name in file.files}
    about = json.loads(str(held["about"]))
    if edit is not None:
        edit(about)
    held |= {f"/{name}": each for name, each in arrays.items()}
    np.savez(path, **(held | {"about": np.array(json.dumps(about))}))


def test_names_and_cells_keep_their_types(tmp_path):
    game = ff.TableGame(np.arange(2.0 ** len(NAMES)), players=NAMES)
    v, path = ff.shapley(game), tmp_path / "v.npz"
    data = np.empty(len(NAMES), dtype=object)
    for i, cell in enumerate(
        ["text", 3, 2.5, None, (1, 2), (3, 4), datetime.date(2024, 1, 1), b"b"]
    ):
        data[i] = cell
    object.__setattr__(v, "data", data)
    v.save(path)
    found = ff.Valuation.load(path)
    assert found.players == v.players
    assert list(map(type, found.players)) == list(map(type, v.players))
    assert found.data.tolist() == data.tolist()


EDITS = {
    "a newer format": lambda about: about.update(format=99),
    "a missing field": lambda about: about["parts"][""].pop("method"),
    "an unknown field": lambda about: about["parts"][""].update(more=1),
    "players twice": lambda about: about["parts"][""].update(players=[0, 0]),
    "too few players": lambda about: about["parts"][""].update(players=[0]),
    "no names": lambda about: about["parts"][""].update(players=[{"code": "x"}, 1]),
    "a game that is a list": lambda about: about["parts"][""].update(game=[1]),
    "evaluations as text": lambda about: about["parts"][""].update(evaluations="many"),
    "labels of no batch": lambda about: about["parts"][""].update(labels=["a", "b"]),
    "words that are none": lambda about: about["parts"][""].update(words={"noun": 3}),
    "parts that are none": lambda about: about.update(parts=[1]),
}
ARRAYS = {
    "values of text": {"values": np.array(["a", "b"])},
    "values of another shape": {"values": np.zeros((3, 5))},
    "errors of another shape": {"stderr": np.zeros(7)},
    "a trajectory of another shape": {"trajectory": np.zeros((2, 3, 4))},
}


@pytest.mark.parametrize("what", [*EDITS, *ARRAYS])
def test_a_file_that_was_tampered_with_is_refused(what, tmp_path):
    path = tmp_path / "v.npz"
    ff.shapley([0, 1, 1, 4]).save(path)
    changed(path, EDITS.get(what), **ARRAYS.get(what, {}))
    with pytest.raises(ValueError, match="is not a saved valuation of fairfield"):
        ff.Valuation.load(path)


@pytest.mark.parametrize("shape", ["(10000000000000,)", "(4,)"])
def test_sizes_are_checked_before_memory_is_taken(shape, tmp_path):
    path = tmp_path / "v.npz"
    ff.shapley([0, 1, 1, 4]).save(path)
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    raw = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16)
    with zipfile.ZipFile(path) as old:
        kept = {name: old.read(name) for name in old.namelist()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as new:
        for name, content in (kept | {"/values.npy": raw}).items():
            new.writestr(name, content)
    path.write_bytes(file.getvalue())
    with pytest.raises(ValueError, match=r"the size of /values\.npy does not match"):
        ff.Valuation.load(path)


def test_files_of_the_first_format_are_read(tmp_path):
    path = tmp_path / "v.npz"
    v = ff.shapley(ff.TableGame([0, 1, 1, 4], players=["ann", "bob"]))
    v.save(path)
    changed(path, lambda about: about.pop("format"))
    assert ff.Valuation.load(path).players == ("ann", "bob")


@pytest.mark.parametrize("find", [ff.shapley, ff.compare, ff.interactions])
def test_players_that_a_file_would_mix_up_are_told_before_it_is_written(find, tmp_path):
    game = ff.TableGame([0.0, 1.0, 1.0, 4.0], players=[Fraction(1, 3), "1/3"])
    with pytest.raises(
        ValueError, match=r"Fraction\(1, 3\) and '1/3' are both written as '1/3'; give them names"
    ):
        find(game).save(tmp_path / "v.npz")
    assert not list(tmp_path.iterdir())
