"""The value of each player by one criterion, and how it was found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.core.game import Player
from fairfield.core.writing.terminal import shown_json
from fairfield.results.batched import Batched
from fairfield.results.display import Columns
from fairfield.results.exports import explanation, frame, player_values
from fairfield.results.means import Means
from fairfield.results.saved import as_dict, from_dict, read_plain, write_plain
from fairfield.results.tables import valuation_table
from fairfield.results.valid import check_fields
from fairfield.results.words import PLAYERS, Words, no_player

if TYPE_CHECKING:
    import pandas as pd
    import shap
    import shapiq

# At or below this residual max|σ(g/T) - x| a fixed point counts as reached.
CONVERGED = 1e-10

# The two-sided 95 % point of the normal distribution: intervals are value ± NORMAL · stderr.
NORMAL = 1.959963984540054

# Games of a batch that have names are shown side by side, up to so many, and so are outputs.
SIDE_BY_SIDE, MOST_OUTPUTS = 6, 12

Number = float | FloatArray


@dataclass(frozen=True, repr=False, eq=False)
class Valuation(Batched):
    """The value of each player by one criterion, and how it was found.

    ``values`` are shaped (*batch, n): leading axes are a batch of games, ``v[i]`` is
    one of them, and ``v["name"]`` where ``labels`` name them (rows of a DataFrame).
    Where ``outputs`` name the last axis of the batch (classes, columns), ``v.output("name")``
    is one of them, and so is ``v[:, "name"]``.
    Estimates have a ``stderr``, and the ``covariance`` (*batch, n, n) of the
    values where it is not too large to keep. With a temperature, ``marginals`` are
    σ(value / T), ``elbo`` bounds ``log_z`` from below and their gap is the
    ``decoupling_error`` KL(q ‖ p); both are estimates where there is a ``log_z_stderr``.
    ``words`` say what players and games are called where the valuation is shown.
    ``evaluations`` counts the worths evaluated for these values: those that criteria of one
    comparison read together count for each of them, those found earlier for another do not.
    ``usage`` is what the calls of a service took so far: calls, retries, failures, cost, tokens.
    """

    criterion: str
    players: tuple[Player, ...]
    values: FloatArray
    method: str
    game: str
    stderr: FloatArray | None = None
    covariance: FloatArray | None = None
    marginals: FloatArray | None = None
    temperature: Number | None = None
    elbo: Number | None = None
    log_z: Number | None = None
    log_z_stderr: Number | None = None
    decoupling_error: Number | None = None
    trajectory: FloatArray | None = None
    steps: int | NDArray[np.int64] | None = None
    residual: Number | None = None
    prior: FloatArray | None = None
    stops: NDArray[np.str_] = field(default_factory=lambda: np.array("exact"))
    empty: Number | None = None
    grand: Number | None = None
    data: NDArray[Any] | None = None
    labels: tuple[Any, ...] | None = None
    outputs: tuple[Any, ...] | None = None
    evaluations: int = 0
    usage: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    words: Words = PLAYERS
    per_game: ClassVar = {
        **dict.fromkeys(("stops", "temperature", "elbo", "log_z", "log_z_stderr"), 0),
        **dict.fromkeys(("decoupling_error", "steps", "residual", "empty", "grand"), 0),
        **dict.fromkeys(("values", "stderr", "marginals", "data"), 1),
        "covariance": 2,
    }
    # The fields that hold numbers, or one number.
    numbers: ClassVar = {*per_game, "trajectory", "prior", "seconds"} - {"stops", "steps", "data"}

    @property
    def names(self) -> tuple[Player, ...]:
        """Whose values these are: the players."""
        return self.players

    @property
    def stop(self) -> str:
        """Why the computation stopped: a sentence, or the counts of each over a batch."""
        if not self.batch:
            return str(self.stops)
        counts = Counter(self.stops.ravel().tolist())
        return "; ".join(f"{count} × {sentence}" for sentence, count in counts.most_common())

    @property
    def converged(self) -> bool | NDArray[np.bool_]:
        """Whether the fixed point was reached; criteria without iteration always are."""
        if self.residual is None:
            return np.ones(self.batch, dtype=bool) if self.batch else True
        reached = np.asarray(self.residual) <= CONVERGED
        return reached if self.batch else bool(reached)

    @property
    def half_widths(self) -> FloatArray | None:
        """Half the width of each player's 95 % interval (n,), None where the values are exact.

        Of a batch, the mean over its games: the widest that the interval of their mean can be.
        """
        if self.stderr is None:
            return None
        return np.asarray(NORMAL * self.stderr.reshape(-1, len(self.players)).mean(axis=0))

    @property
    def log_z_half_width(self) -> Number | None:
        """Half the width of the 95 % interval of ``log_z``, None where it is exact."""
        return None if self.log_z_stderr is None else NORMAL * self.log_z_stderr

    def __getitem__(self, index: Any) -> Any:
        """The value of a player; of a batch, the valuation of one game, or of some.

        One index more than the batch has axes is the name of a player: ``v[:, "age"]`` are values.
        """
        if not self.batch:
            return float(self.values[self._place(index)])
        named = isinstance(index, tuple) and len(index) == len(self.batch) + 1
        if named and isinstance(index[-1], str):
            return self[index[:-1]].values[..., self._place(index[-1])]
        return self._taken(*self._places(index))

    def _taken(self, rows: tuple[Any, ...], output: Any) -> Valuation:
        found = super()._taken(rows, output)
        if self.trajectory is None:
            return found
        steps = self.trajectory.reshape(len(self.trajectory), -1, len(self.players))
        return replace(found, trajectory=steps[:, self._numbers(rows, output)])

    def __contains__(self, player: object) -> bool:
        return player in self.players

    def _place(self, player: Any) -> int:
        if player not in self.players:
            raise KeyError(no_player(player, self.players, self.words))
        return self.players.index(player)

    def ranking(self) -> list[Player]:
        """The players from the most to the least valuable; ties keep their order."""
        self._one_game("ranking")
        return [self.players[i] for i in np.argsort(-self.values, kind="stable")]

    def difference(self, first: Player, second: Player) -> Difference:
        """How much more the first player is worth than the second, with its 95 % interval.

        Without a covariance the two errors are taken to add up, the widest they can be.
        """
        self._one_game("difference")
        i, j = self._place(first), self._place(second)
        value = float(self.values[i] - self.values[j])
        error = 0.0 if self.stderr is None else float(self.stderr[i] + self.stderr[j])
        if self.covariance is not None:
            among = self.covariance
            error = float(np.sqrt(max(among[i, i] + among[j, j] - 2 * among[i, j], 0.0)))
        return Difference(value, value - NORMAL * error, value + NORMAL * error)

    def step_differences(self, *, squared: bool = True) -> FloatArray:
        """‖x^k - x^(k-1)‖² / n of each step of the trajectory, as in the paper's table.

        The table printed there in fact holds the norm without the square:
        ``squared=False``.
        """
        if self.trajectory is None:
            raise ValueError(f"{self.criterion} has no trajectory; use variational_values")
        moved = np.sum(np.diff(self.trajectory, axis=0) ** 2, axis=-1)
        return np.asarray((moved if squared else np.sqrt(moved)) / len(self.players))

    def mean(self, by: Sequence[Any] | None = None) -> Means:
        """Mean value and mean |value| over a batch, overall or per label in ``by``.

        Outputs are never mixed: the labels of the means are their names, or pairs of a label
        in ``by`` and such a name.
        """
        return self.means(self.words, by)

    def to_frame(self) -> pd.DataFrame:
        """A DataFrame with one line per player, and per game of a batch, by its name if it has one."""
        columns = {"value": self.values, "stderr": self.stderr, "marginal": self.marginals}
        return frame(self, columns, self.words.noun)

    def to_shap(self) -> shap.Explanation:
        """A ``shap.Explanation`` for shap's plots.

        A criterion that is not efficient gets a last entry "(remainder)", so that the base
        value F(∅) and all entries sum to F(N). shap writes "SHAP value" at its axes.
        """
        return explanation(self, NORMAL)

    def to_shapiq(self) -> shapiq.InteractionValues:
        """shapiq's ``InteractionValues`` of order 1, the features by their places.

        One game; shapiq knows Shapley's and Banzhaf's values.
        """
        self._one_game("to_shapiq")
        return player_values(self)

    @property
    def side_by_side(self) -> dict[str, FloatArray] | None:
        """The values (n,) of each game or output by its name, where there are names and few of them.

        Of the outputs of several games, the mean |value|.
        """
        if self.outputs is not None:
            if len(self.outputs) > MOST_OUTPUTS:
                return None
            one = self.games == len(self.outputs)
            values = self.values.reshape(-1, len(self.players)) if one else self.mean().magnitude
            return dict(zip(map(self.words.output, self.outputs), values, strict=True))
        if len(self.batch) != 1 or self.labels is None or len(self) > SIDE_BY_SIDE:
            return None
        names = map(self.words.game, self.labels)
        return dict(zip(names, self.values, strict=True))

    def _shown(self) -> tuple[Columns, list[str]]:
        return valuation_table(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data that JSON can hold, by the schema ``docs/valuation.schema.json``.

        >>> import fairfield as ff
        >>> held = ff.shapley([0, 1, 1, 4], players=["ann", "bob"]).to_dict()
        >>> held["players"], held["values"]
        (['ann', 'bob'], [2.0, 2.0])
        """
        return as_dict("valuation", self.entries())

    def to_json(self, indent: int | None = None) -> str:
        """The text of :meth:`to_dict` as JSON."""
        text = json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, indent=indent)
        return shown_json(text)

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Valuation:
        """The valuation that :meth:`to_dict` was called on; a ValueError where it does not fit."""
        return from_dict(held, "valuation", cls.numbers, cls.checked)

    def log(self, run: Any, *, step: int | None = None) -> None:
        """Log values, a table, a picture and all as JSON to a run of MLflow or Weights & Biases.

        ``run`` is what ``mlflow.start_run()`` or ``wandb.init()`` returned. The values, of a batch the
        means of |value|, are metrics named "criterion/player".
        """
        from fairfield.tracking import log

        log(self, run, step)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one .npz file of plain arrays and JSON."""
        write_plain(path, "valuation", {"": self.entries()})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Valuation:
        """Read a file written by :meth:`save`; nothing in it is ever executed."""
        return read_plain(path, "valuation", lambda parts: cls.checked(parts[""]))

    @classmethod
    def checked(cls, held: dict[str, Any]) -> Valuation:
        """The valuation of these fields, refused where they do not fit together."""
        check_fields(held, cls.per_game, len(held["players"]))
        return cls(**held)

    def entries(self) -> dict[str, Any]:
        """All fields by name, as they are."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}


class Difference(NamedTuple):
    """A difference of two values and the ends of its 95 % interval, equal where exact."""

    value: float
    low: float
    high: float


def as_number(held: FloatArray) -> Number:
    """One number as a float, an array of them as it is."""
    return float(held) if np.ndim(held) == 0 else held
