"""Results of one game or of a batch of them: how games and outputs are taken and averaged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import spell
from fairfield.core.game import counted, plural, sorted_names
from fairfield.core.labels import is_missing
from fairfield.results.display import Shown
from fairfield.results.means import Means
from fairfield.results.words import Words


class Batched(Shown):
    """A result whose ``values`` have leading axes for a batch of games, outputs last among them."""

    values: FloatArray
    labels: tuple[Any, ...] | None
    outputs: tuple[Any, ...] | None
    words: Words
    game: str
    # The fields with an entry per game of a batch, and how many axes each entry has.
    per_game: ClassVar[Mapping[str, int]]

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes: () for one game."""
        return self.values.shape[:-1]

    @property
    def lead(self) -> tuple[int, ...]:
        """The axes of the batch before that of the outputs: () for one game."""
        return self.batch if self.outputs is None else self.batch[:-1]

    @property
    def games(self) -> int:
        """How many games were valued."""
        return int(np.prod(self.batch, dtype=int))

    @property
    def extent(self) -> str:
        """How many games were valued, in words: "30 rows", "30 rows × 3 classes"."""
        rows = [self.words.games(int(np.prod(self.lead, dtype=int)))]
        if self.outputs is None:
            return rows[0]
        return " × ".join([*rows, counted(len(self.outputs), self.words.output_noun)])

    @property
    def names(self) -> Sequence[Any]:
        """Whose values these are: players, or coalitions."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.batch[0] if self.batch else len(self.names)

    def __iter__(self) -> Iterator[Any]:
        """The players or coalitions of one game; the results of a batch."""
        if self.outputs is not None and not self.lead:
            return iter(self.output(name) for name in self.outputs)
        if not self.batch:
            return iter(self.names)
        return iter(self._taken((i,), slice(None)) for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """A copy of the values: NumPy would else take those who have them."""
        return np.array(self.values, dtype=dtype, copy=True if copy is None else copy)

    def _numbers(self, rows: tuple[Any, ...], output: Any) -> IntArray:
        """The numbers of some games and outputs in the batch, by their places."""
        # Indexing the numbers of the games keeps every index within the batch axes.
        try:
            chosen = np.arange(np.prod(self.lead, dtype=int)).reshape(self.lead)[rows]
        except IndexError:
            given = ", ".join(map(repr, rows))
            raise IndexError(
                f"[{given}] takes nothing from {self.extent}; take {self.one_of_batch}, with i from 0 on, "
                "and then what is wanted of it"
            ) from None
        if self.outputs is None:
            return np.asarray(chosen)
        which = np.arange(len(self.outputs))[output]
        return np.asarray(np.add.outer(chosen * len(self.outputs), which))

    def _taken(self, rows: tuple[Any, ...], output: Any) -> Self:
        """The result of some games and outputs, by their places."""
        chosen = self._numbers(rows, output)
        part: dict[str, Any] = {}
        if self.labels is not None:
            named = np.ravel(np.arange(len(self.labels))[rows])
            part["labels"] = tuple(self.labels[i] for i in named)
        if self.outputs is not None:
            part |= self._of_outputs(np.arange(len(self.outputs))[output])
        for name, axes in self.per_game.items():
            if (held := getattr(self, name)) is not None:
                shape = np.shape(held)[np.ndim(held) - axes :]
                some = np.asarray(np.reshape(held, (-1, *shape))[chosen])
                part[name] = some if some.ndim or name == "stops" else some.item()
        return replace(self, **part)  # type: ignore[type-var]  # each is a dataclass

    def output(self, name: Any) -> Self:
        """The result of one output, by its name: the label of a class, the number of a column."""
        if self.outputs is None:
            raise ValueError(f"these values are of one output, the {self.words.worth_name}")
        return self._taken((slice(None),) * len(self.lead), self._output_named(name))

    def _output_named(self, name: Any) -> int:
        outputs = self.outputs or ()
        if name not in outputs:
            noun, nouns = self.words.output_noun, plural(self.words.output_noun)
            raise KeyError(f"there is no {noun} {name!r}; the {nouns} are {spell(outputs)}")
        return outputs.index(name)

    def _numbered(self) -> bool:
        """Whether the outputs are named by numbers that are not their places."""
        outputs = self.outputs or ()
        whole = all(isinstance(each, (int, float, np.number)) for each in outputs)
        return whole and outputs != tuple(range(len(outputs)))

    def _of_outputs(self, which: Any) -> dict[str, Any]:
        """What is said of the chosen outputs: their names, or what one of them is."""
        outputs = self.outputs or ()
        if np.ndim(which):
            return {"outputs": tuple(outputs[i] for i in which)}
        name, words = outputs[which], self.words
        game = f"{words.output_noun} {name} in {self.game}"
        return {"outputs": None, "words": words.of_output(name), "game": game}

    def _places(self, index: Any) -> tuple[tuple[Any, ...], Any]:
        """An index as one along the games and one along the outputs, names as their places."""
        given = list(index) if isinstance(index, tuple) else [index]
        output: Any = slice(None)
        if self.outputs is not None:
            hidden = [at for at, each in enumerate(given) if each is Ellipsis]
            for at in hidden[:1]:
                given[at : at + 1] = [slice(None)] * (len(self.batch) - len(given) + 1)
            if len(given) == len(self.batch):
                output = given.pop()
            if isinstance(output, str):
                output = self._output_named(output)
            elif isinstance(output, (int, np.integer)) and self._numbered():
                raise IndexError(
                    f"{output} may be a place or one of the {plural(self.words.output_noun)} "
                    f"{spell(self.outputs)}; take one by v.output({output})"
                )
        if given and isinstance(given[0], str):
            given[0] = self._games_named(given[0])
        return tuple(given), output

    def _games_named(self, label: str) -> Any:
        """The place of the game with this name, or the places where several have it."""
        row, rows = self.words.row_noun, self.words.row_nouns
        if self.labels is None or label not in self.labels:
            names = "have no names" if self.labels is None else f"are {spell(self.labels)}"
            raise KeyError(
                f"there is no {row} {label!r}; the {rows} of this batch {names}, take one as v[0]"
            )
        places = [i for i, each in enumerate(self.labels) if each == label]
        return places[0] if len(places) == 1 else places

    def means(self, words: Words, by: Sequence[Any] | None, what: str = "value") -> Means:
        """Means of the values over a batch, or per label in ``by``; ``what`` they are called."""
        if not self.batch:
            raise ValueError(f"this result is of one {self.words.row_noun}; only a batch has means")
        count = int(np.prod(self.lead, dtype=int))
        rows = self.values.reshape(count, -1, len(self.names))
        everyone = {"all": np.ones(count, dtype=bool)}
        groups = everyone if by is None else cohorts_of(by, count, self.words)
        of: Iterable[Any] = groups
        if self.outputs is not None:
            of = self.outputs if by is None else product(groups, self.outputs)
        return Means(
            tuple(self.names),
            tuple(of),
            np.concatenate([rows[own].mean(axis=0) for own in groups.values()]),
            np.concatenate([np.abs(rows[own]).mean(axis=0) for own in groups.values()]),
            words,
            what,
        )

    def _one_game(self, what: str) -> None:
        if self.batch:
            raise ValueError(f"a batch has no single {what}; take {self.one_of_batch}.{what}(…)")

    @property
    def one_of_batch(self) -> str:
        """How one game of the batch is taken, for messages."""
        row, output = self.words.row_noun, self.words.output_noun
        if self.outputs is None:
            return f"one {row}, v[i]"
        name = repr(self.outputs[0])
        if not self.lead:
            return f"one {output}, v.output({name})"
        return f"one {row} and one {output}, v.output({name})[i]"


def cohorts_of(by: Any, count: int, words: Words) -> dict[Any, BoolArray]:
    """Which games have each label, labels in their order; those without one are "missing".

    >>> cohorts_of([2.0, float("nan"), 2.0], 3, Words())
    {2.0: array([ True, False,  True]), 'missing': array([False,  True, False])}
    """
    labels = np.asarray(by)
    if labels.shape != (count,):
        raise ValueError(
            f"by has shape {labels.shape} for {words.games(count)}; give one per {words.row_noun}"
        )
    named = ["missing" if is_missing(each) else each for each in labels.tolist()]
    known = sorted_names(set(named) - {"missing"})
    every = [*known, "missing"] if "missing" in named else known
    return {group: np.array([each == group for each in named]) for group in every}
