"""Baskets from text files."""

from __future__ import annotations

import csv
from os import PathLike

import numpy as np

from fairfield.learning.observed import Observed, observe

BITS = {"0", "1"}


def read_baskets(path: str | PathLike[str], separator: str | None = None) -> Observed:
    """The baskets of a text file: the names of its items on each line, or columns of 0 and 1.

    ``separator`` is found in the first lines where it is not given: a semicolon, a tab, a
    comma, or else blanks. If every line below the first holds nothing but 0 and 1, one per
    name in the first, these are the columns. An item that a basket names twice counts
    once; an empty line is an empty basket, but for those at the end of the file.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "baskets.csv"
    >>> _ = file.write_text("tea,milk\\nbread\\ntea,milk\\n")
    >>> read_baskets(file)
    3 observed coalitions of 3 players, 2 distinct
    """
    with open(path, newline="", encoding="utf-8-sig") as file:
        text = file.read().rstrip().splitlines()
    if separator is None:
        separator = next((s for s in ";\t," if any(s in line for line in text[:100])), " ")
    lines = [
        [cell.strip() for cell in line]
        for line in csv.reader(text, delimiter=separator, skipinitialspace=True)
    ]
    if not lines:
        raise ValueError(f"{path} is empty; it must hold one basket per line")
    head, body = lines[0], lines[1:]
    binary = all(len(line) == len(head) and set(line) <= BITS for line in body)
    if body and binary and not set(head) <= BITS:
        return observe(np.array(body) == "1", players=head)
    return observe([sorted({cell for cell in line if cell}) for line in lines])
