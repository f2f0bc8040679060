"""Damaged results: each is read as it was or refused in one sentence.

    python release/fuzz_results.py [attempts]

Saved valuations, comparisons and interactions are damaged by chance: bytes flipped or cut out,
arrays of other shapes and types, JSON of other types. An attempt is lost if reading raises
anything but a ValueError of one sentence, or what was read cannot be shown.
"""

import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import fairfield as ff

ATTEMPTS = 3000
STRANGE = [
    None,
    -1,
    10**30,
    1.5,
    "",
    "text",
    [],
    [[1]],
    {},
    {"tuple": 3},
    {"date": "x"},
    True,
    [0, 0],
]
ARRAYS = [
    np.zeros(0),
    np.zeros((2, 9)),
    np.array("text"),
    np.array(3),
    np.zeros(3, bool),
    np.ones(64),
]


def sound(folder: Path) -> dict[Path, type]:
    """A saved result of each kind."""
    table = np.random.default_rng(0).normal(size=(2, 16))
    batch = ff.TableGame(table, players=["a", ("b", 1), 2, frozenset({3})])
    one = ff.TableGame(table[0])
    made = {
        "one": ff.variational_values(one, 2, temperature=1.0),
        "batch": ff.shapley(batch),
        "estimate": ff.banzhaf(lambda S: S.sum(axis=1) ** 2, players=12, budget=300),
        "comparison": ff.compare(one, temperature=1.0),
        "interactions": ff.interactions(one),
    }
    for name, result in made.items():
        result.save(folder / f"{name}.npz")
    return {folder / f"{name}.npz": type(result) for name, result in made.items()}


def damaged(raw: bytes, rng: random.Random) -> bytes:
    """Bytes flipped, cut out or doubled."""
    given = bytearray(raw)
    if rng.random() < 0.6:
        for _ in range(rng.choice([1, 1, 4, 64])):
            given[rng.randrange(len(given))] ^= 1 << rng.randrange(8)
        return bytes(given)
    first, second = sorted(rng.randrange(len(given) + 1) for _ in range(2))
    return bytes(
        rng.choice([given[:first], given[:first] + given[second:], given + given[first:second]])
    )


def rewritten(path: Path, place: Path, rng: random.Random) -> None:
    """A file that NumPy reads, with an entry of another type or an array of another shape."""
    with np.load(path) as file:
        held = {name: file[name] for name in file.files}
    about = json.loads(str(held["about"]))
    if rng.random() < 0.5:
        part = rng.choice(list(about["parts"].values()) or [about])
        target = rng.choice([about, part, part, part])
        target[rng.choice([*target, "more"])] = rng.choice(STRANGE)
        held["about"] = np.array(json.dumps(about))
    else:
        held[rng.choice(sorted(held))] = rng.choice(ARRAYS)
    np.savez(place, **held)


def main() -> None:
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else ATTEMPTS
    rng, counts, lost = random.Random(0), Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        files = sound(Path(folder))
        place = Path(folder) / "fuzzed.npz"
        for number in range(attempts):
            path, kind = rng.choice(list(files.items()))
            if rng.random() < 0.5:
                place.write_bytes(damaged(path.read_bytes(), rng))
            else:
                rewritten(path, place, rng)
            try:
                found = kind.load(place)
                repr(found), found._repr_html_()
                counts["read"] += 1
            except ValueError as error:
                counts["refused"] += 1
                if "is not a saved" not in str(error) or "\n" in str(error):
                    lost.append(f"attempt {number}, {path.stem}: {error!r}")
            except Exception as error:
                lost.append(f"attempt {number}, {path.stem}: {type(error).__name__}: {error}")
    print(dict(counts))
    print(*lost[:20], sep="\n")
    print(f"results: {attempts} attempts, {len(lost)} losses")
    raise SystemExit(bool(lost))


if __name__ == "__main__":
    main()
