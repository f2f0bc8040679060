"""The readers of tree models: each file of this folder registers its own.

A model is recognised by the package and the name of one of its base classes, so no library
is imported to look for its models. To add a reader, write a file here with a function under
:func:`reads`; the files are found by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from fairfield.core.registry import import_all, refuse_taken
from fairfield.games.trees.model import ELSEWHERE, TreeModel

Read: TypeAlias = Callable[..., TreeModel]


@dataclass(frozen=True)
class Reader:
    """How the trees of some models are read: ``read(model, output)``.

    Models of times until an event are read by ``read(model, output, times)``: they are ``timed``.
    The leaves of classifiers are ``probabilities``, or they are margins.

    The models have one of the ``bases``, classes of the package ``library``; ``models`` says
    in words which they are. They take an entry that a sparse matrix does not have for
    ``absent``, a zero or a missing value.
    """

    library: str
    bases: tuple[str, ...]
    models: str
    read: Read
    absent: float = 0.0
    timed: bool = False
    probabilities: bool = False

    @property
    def classes(self) -> set[tuple[str, str]]:
        """The bases, each with its library."""
        return {(self.library, base) for base in self.bases}


READERS: list[Reader] = []


def reads(
    library: str,
    *bases: str,
    models: str,
    absent: float = 0.0,
    timed: bool = False,
    probabilities: bool = False,
) -> Callable[[Read], Read]:
    """Register a function ``read(model, output)`` for models with these base classes."""

    def register(read: Read) -> Read:
        reader = Reader(library, bases, models, read, absent, timed, probabilities)
        taken = [other for other in READERS if reader.classes & other.classes]
        for other in taken:
            shared = sorted(base for _, base in reader.classes & other.classes)
            what = f"a reader of {library}'s {shared[0]}"
            refuse_taken(what, other.read, read, "leave out one of the two")
        READERS[:] = [*(each for each in READERS if each not in taken), reader]
        return read

    return register


def reader_of(model: Any) -> Reader | None:
    """The reader of this model, if there is one."""
    import_all("fairfield.games.trees.readers")
    own = {(base.__module__.partition(".")[0], base.__name__) for base in type(model).__mro__}
    return next((reader for reader in READERS if own & reader.classes), None)


def absent_entries(model: Any) -> float:
    """What a model, or the one that a method belongs to, takes absent entries of a row for."""
    reader = reader_of(getattr(model, "__self__", model))
    return 0.0 if reader is None else reader.absent


def read_model(model: Any, output: Any = None, times: Any = None) -> TreeModel:
    """The trees of a fitted model, for the output that :func:`choose_output` picks.

    With ``times`` the outputs are those of a function of time, one for each.
    """
    reader = reader_of(model)
    if reader is None:
        raise TypeError(
            f"{type(model).__name__} is not a tree model that can be read, as "
            f"{', '.join(reader.models for reader in READERS)} are; {ELSEWHERE}"
        )
    if times is None:
        return reader.read(model, output)
    if not reader.timed:
        timed = ", ".join(each.models for each in READERS if each.timed)
        raise ValueError(
            f"times= was given, and {type(model).__name__} has no function of time in closed form, as "
            f"{timed} have; leave out times="
        )
    return reader.read(model, output, times)
