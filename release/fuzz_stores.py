"""Damaged stores: each is read right or refused in one sentence, never taken for another.

    python release/fuzz_stores.py [attempts]

A sound store is damaged by chance: bytes flipped, parts cut out, pages swapped, cells of its
tables replaced by values of any type. Then it is described, verified and used. An attempt is
lost if a reader raises anything but a StoreError, or if values differ from those of a quiet run
though no reader refused the file. A change of a worth that also mends its checksum is no
accident and is not tried: the four worths that are evaluated again find most of those.
"""

import random
import sqlite3
import sys
import tempfile
import warnings
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np

import fairfield as ff

ATTEMPTS, PLAYERS = 1000, 8
STRANGE = [None, -1, 2**62, 1.5, "", "text", "{", "[]", "3", b"", b"\x00" * 7, "\ud7ff", "é" * 50]


def worth(S):
    return np.sin(S @ np.arange(1.0, PLAYERS + 1))


def flip(path: Path, rng: random.Random) -> str:
    raw = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 4, 64])):
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    path.write_bytes(raw)
    return "bytes flipped"


def cut(path: Path, rng: random.Random) -> str:
    raw = path.read_bytes()
    first, second = sorted(rng.randrange(len(raw) + 1) for _ in range(2))
    path.write_bytes(raw[:first] if rng.random() < 0.5 else raw[:first] + raw[second:])
    return "cut"


def swap(path: Path, rng: random.Random) -> str:
    raw = path.read_bytes()
    pages = [raw[i : i + 4096] for i in range(0, len(raw), 4096)]
    i, j = (rng.randrange(len(pages)) for _ in range(2))
    pages[i], pages[j] = pages[j], pages[i]
    path.write_bytes(b"".join(pages))
    return "pages swapped"


def edit(path: Path, rng: random.Random) -> str:
    with closing(sqlite3.connect(path)) as base, base:
        table = rng.choice(["game", "rounds", "drivers"])
        columns = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
        column = rng.choice(columns)
        try:
            base.execute(f"UPDATE {table} SET {column} = ?", (rng.choice(STRANGE),))
        except sqlite3.Error:  # a key twice, a number that does not fit
            base.execute(f"DELETE FROM {table}")
    return "cells replaced"


def attempt(path: Path, rng: random.Random, true: np.ndarray) -> tuple[str, str, list[str]]:
    """What was done to the store, what came of it, and what is wrong with that."""
    what = rng.choice([flip, cut, swap, edit, edit])(path, rng)
    refused, wrong = 0, []
    for read in (
        lambda: ff.describe_store(path),
        lambda: ff.verify_store(path),
        lambda: ff.shapley(ff.FunctionGame(worth, PLAYERS, name="sine"), store=path),
    ):
        try:
            found = read()
            if isinstance(found, ff.Valuation) and not np.array_equal(found.values, true):
                wrong.append("other values")
        except ff.StoreError as error:
            refused += 1
            if "\n" in str(error):
                wrong.append(f"more than a sentence: {error!r}")
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
    return what, "refused" if refused else "read right", wrong


def main() -> None:
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else ATTEMPTS
    rng, counts, lost = random.Random(0), Counter(), []
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        sound, path = Path(folder) / "sound.db", Path(folder) / "fuzzed.db"
        game = ff.FunctionGame(worth, PLAYERS, name="sine")
        true = ff.shapley(game, store=sound).values
        for number in range(attempts):
            for other in Path(folder).glob("fuzzed*"):
                other.unlink()
            path.write_bytes(sound.read_bytes())
            what, came, wrong = attempt(path, rng, true)
            counts[f"{what}, {came}"] += 1
            lost += [f"attempt {number}, {what}: {each}" for each in wrong]
    for kind, count in sorted(counts.items()):
        print(f"{count:6} {kind}")
    print(*lost[:20], sep="\n")
    print(f"stores: {attempts} attempts, {len(lost)} losses")
    raise SystemExit(bool(lost))


if __name__ == "__main__":
    main()
