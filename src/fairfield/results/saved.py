"""Results on disk: one .npz file of plain arrays and JSON, in which nothing is ever executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.results.words import Words

Entries = Mapping[str, Any]
# Fields whose items may be of any type; what JSON cannot hold is saved as text.
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
                about[name][entry] = {"objects": _plain(held.tolist())}
            elif entry in NAMES and held is not None:
                about[name][entry] = [each if _is_plain(each) else str(each) for each in held]
            elif isinstance(held, Words):
                about[name][entry] = asdict(held)
            elif held is not None:
                about[name][entry] = dict(held) if isinstance(held, Mapping) else held
    text = json.dumps({"fairfield": kind, "parts": about})
    with open(path, "wb") as file:
        np.savez_compressed(file, about=np.array(text), **arrays)  # type: ignore[arg-type]  # names are free


def read_plain(path: str | PathLike[str], kind: str) -> dict[str, dict[str, Any]]:
    """Read what :func:`write_plain` wrote, refusing anything else."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
        if about["fairfield"] != kind:
            raise ValueError(f"it holds a {about['fairfield']}")
        parts: dict[str, dict[str, Any]] = about["parts"]
    except Exception as reason:  # whatever a strange file makes of zip, NumPy and JSON
        if isinstance(reason, OSError) and reason.errno:  # no such file, no permission
            raise
        raise ValueError(f"{path} is not a saved {kind} of fairfield ({reason})") from reason
    for key, array in arrays.items():
        name, entry = key.rsplit("/", 1)
        parts[name][entry] = array
    for held in parts.values():
        held.update({name: tuple(held[name]) for name in NAMES if name in held})
        if "words" in held:
            held["words"] = Words(**held["words"])
        data = held.get("data")
        if isinstance(data, dict):
            held["data"] = np.array(data["objects"], dtype=object)
    return parts


def _plain(held: Any) -> Any:
    """Nested lists of what JSON holds: numbers and texts as they are, anything else as text."""
    if isinstance(held, list):
        return [_plain(each) for each in held]
    if isinstance(held, np.generic):
        held = held.item()
    return held if _is_plain(held) else str(held)


def _is_plain(name: object) -> bool:
    return name is None or isinstance(name, (str, int, float, bool))
