"""Results as plain data: one .npz file of arrays and JSON, or a dict; nothing in them is ever executed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict
from os import PathLike
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairfield.core.runtime.memory import fits
from fairfield.core.writing.files import write_file
from fairfield.core.writing.terminal import shown
from fairfield.results.plain import decoded, encoded, nested
from fairfield.results.words import Words

Entries = Mapping[str, Any]
Result = TypeVar("Result")
# 2: names keep their types, as do cells of data. Files of 1 are read.
FORMAT = 2
# Fields whose items may be of any type.
NAMES = ("players", "labels", "outputs")


def write_plain(path: str | PathLike[str], kind: str, parts: Mapping[str, Entries]) -> None:
    """Write the fields of results under their names into one .npz file."""
    arrays: dict[str, NDArray[Any]] = {}
    about: dict[str, dict[str, Any]] = {}
    for name, entries in parts.items():
        about[name] = {}
        for entry, held in entries.items():
            if isinstance(held, np.ndarray) and held.dtype != object:
                arrays[f"{name}/{entry}"] = held
            elif isinstance(held, np.ndarray):
                cells = [encoded(each) for each in held.ravel()]
                about[name][entry] = {"cells": cells, "shape": held.shape}
            elif held is not None:
                about[name][entry] = _written(entry, held)
    text = json.dumps({"fairfield": kind, "format": FORMAT, "parts": about})
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(text), **arrays)  # type: ignore[arg-type]  # names are free
    write_file(path, file.getvalue())


def _written(entry: str, held: Any) -> Any:
    """A field that is no array, as JSON has it."""
    if entry in NAMES:
        names = [encoded(each) for each in held]
        if entry == "players":
            _check_distinct(held, names)
        return names
    if isinstance(held, Words):
        return asdict(held)
    return dict(held) if isinstance(held, Mapping) else held


def _check_distinct(players: Sequence[Any], written: list[Any]) -> None:
    """Refuse players that are one when they are read again, which no file could be loaded with."""
    seen: dict[Any, Any] = {}
    for player, held in zip(players, written, strict=True):
        other = seen.setdefault(decoded(held), player)
        if other is not player:
            raise ValueError(
                f"the players {shown(repr(other))} and {shown(repr(player))} are both written as "
                f"{shown(repr(decoded(held)))}; give them names that differ as text"
            )


def as_dict(kind: str, entries: Entries) -> dict[str, Any]:
    """The fields that are there as JSON has them, arrays as lists."""
    found: dict[str, Any] = {"fairfield": kind, "format": FORMAT}
    for entry, held in entries.items():
        if isinstance(held, np.ndarray | float):
            array = np.asarray(held)
            if array.dtype.kind in "mM":  # finer ones would be whole numbers
                array = array.astype(f"{array.dtype.type.__name__}[us]")
            found[entry] = nested(encoded, array.tolist())
        elif held is not None:
            found[entry] = _written(entry, held)
    return found


def from_dict(
    given: Mapping[str, Any], kind: str, numbers: Set[str], made: Callable[[Any], Result]
) -> Result:
    """What is ``made`` of the fields that :func:`as_dict` wrote, those of ``numbers`` as arrays of them."""
    with _refused("this dict", kind):
        held = dict(given)
        _check_kind(held, kind)
        del held["fairfield"], held["format"]
        for entry in numbers & held.keys():
            read = nested(decoded, held[entry])
            held[entry] = np.array(read, dtype=float) if isinstance(read, list) else float(read)
        if isinstance(held.get("steps"), list):
            held["steps"] = np.array(held["steps"], dtype=np.int64)
        if "stops" in held:
            held["stops"] = np.array(held["stops"], dtype=str)
        if "data" in held:
            held["data"] = _read_data(held["data"], np.shape(held["values"]))
        return made(_read_names(held))


def _read_data(held: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Data as they were: numbers, texts, or objects of several types."""
    cells: list[Any] = []
    nested(lambda cell: cells.append(decoded(cell)), held)
    kinds = set(map(type, cells))
    if kinds <= {int, float} or kinds in ({str}, {bool}):
        return np.array(cells).reshape(shape)
    return _objects(cells).reshape(shape)


def read_plain(
    path: str | PathLike[str], kind: str, made: Callable[[dict[str, dict[str, Any]]], Result]
) -> Result:
    """What is ``made`` of the parts that :func:`write_plain` wrote; anything else is refused."""
    with open(path, "rb"):  # no such file, no permission: errors that say it themselves
        pass
    with _refused(path, f"saved {kind}"):
        parts = {name: _read_names(held) for name, held in _parts(path, kind).items()}
        for held in parts.values():
            if isinstance(held.get("data"), dict):
                held["data"] = _cells(held["data"])
        return made(parts)


@contextmanager
def _refused(what: object, kind: str) -> Iterator[None]:
    """Whatever a strange file makes of zip, NumPy and JSON, as one sentence."""
    try:
        yield
    except Exception as reason:
        said = str(reason).partition("\n")[0] or type(reason).__name__
        raise ValueError(f"{shown(what)} is not a {kind} of fairfield ({shown(said)})") from reason


def _read_names(held: dict[str, Any]) -> dict[str, Any]:
    """The fields with names and words as they were."""
    held.update({name: tuple(map(decoded, held[name])) for name in NAMES if name in held})
    if "words" in held:
        held["words"] = Words(**_texts(held["words"]))
    return held


def _parts(path: str | PathLike[str], kind: str) -> dict[str, dict[str, Any]]:
    _check_sizes(path)
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(str(arrays.pop("about")))
    _check_kind(about, kind)
    parts: dict[str, dict[str, Any]] = about["parts"]
    for key, array in arrays.items():
        name, entry = key.rsplit("/", 1)
        parts[name][entry] = array
    return parts


def _check_kind(about: Mapping[str, Any], kind: str) -> None:
    if about["fairfield"] != kind:
        raise ValueError(f"it holds a {about['fairfield']}")
    version = about.get("format", 1)
    if version not in range(1, FORMAT + 1):
        raise ValueError(f"it has format {version}, and this version reads up to {FORMAT}")


def _check_sizes(path: str | PathLike[str]) -> None:
    """Refuse arrays that are not as large as they say, or larger than memory, before any is made."""
    total = 0
    with zipfile.ZipFile(path) as file:
        for member in file.infolist():
            with file.open(member) as raw:
                version = np.lib.format.read_magic(raw)
                read = np.lib.format.read_array_header_1_0
                if version != (1, 0):
                    read = np.lib.format.read_array_header_2_0
                shape, _, dtype = read(raw)
                size = int(np.prod(shape, dtype=object)) * dtype.itemsize
                if dtype.hasobject or raw.tell() + size != member.file_size:
                    raise ValueError(f"the size of {member.filename} does not match")
            total += size
    if not fits(total // 8):
        raise ValueError(f"it unpacks to {total / 1e9:.3g} GB, more than half of the free memory")


def _texts(held: Any) -> dict[str, str]:
    if not all(isinstance(each, str) for each in held.values()):
        raise ValueError("its words are no texts")
    return dict(held)


def _cells(held: dict[str, Any]) -> NDArray[Any]:
    """Data of any type, an object each."""
    if "objects" in held:  # format 1
        return np.array(held["objects"], dtype=object)
    return _objects([decoded(cell) for cell in held["cells"]]).reshape(held["shape"])


def _objects(given: list[Any]) -> NDArray[Any]:
    cells = np.empty(len(given), dtype=object)
    for place, cell in enumerate(given):  # at once, tuples would be taken for rows
        cells[place] = cell
    return cells
