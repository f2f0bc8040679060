"""Models behind wrappers and transformers, in the columns that the whole takes.

Transformers are read by what they do, not by what they are called. If every column that they
make depends on one column of the rows, then what they make of a row mixed from two is mixed
from what they make of these; so the closed form of the last step, with the columns that come
from one as one feature, is that of the whole. This is tried on the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.special import expit
from fairfield.games.features.frames import is_frame
from fairfield.games.features.groups import Encoded, Groups
from fairfield.games.features.rows import Tabular, as_table
from fairfield.games.outputs import Output, asks_all, choose_output, classes_of
from fairfield.games.trees.model import TreeModel, picked, quietly
from fairfield.games.trees.readers.registry import absent_entries, read_model

# Where wrappers hold the fitted model whose outputs are theirs.
HELD = {
    "FrozenEstimator": "estimator",
    "FixedThresholdClassifier": "estimator_",
    "TunedThresholdClassifierCV": "estimator_",
}
# Rows that are mixed with others to see what the transformers make of them, and these others.
MIXED, OTHERS = 4096, 64
# Encoded numbers that should be equal differ by rounding, relative to each of them.
ROUNDING = 1e-9


class Inside(NamedTuple):
    """The model at the end of wrappers and pipelines, and what happens to rows before it.

    A calibrated model's log-odds are ``line[0]`` times the output of the one inside plus
    ``line[1]``; where they are not, ``refusal`` says why.
    """

    whole: Any
    model: Any
    transforms: tuple[Callable[[Any], Any], ...] = ()
    line: tuple[float, float] | None = None
    refusal: str = ""

    @property
    def alone(self) -> bool:
        """Whether rows reach the model as they are, and its outputs are those of the whole."""
        return not (self.transforms or self.line or self.refusal)

    def transformed(self, rows: Any) -> Any:
        """What the model sees of rows."""
        try:
            for transform in self.transforms:
                rows = quietly(transform, rows)
        except (TypeError, ValueError):
            raise
        except Exception as error:  # whatever functions of the user's raise
            raise EncodingError(
                f"its transformers raise {type(error).__name__}: {error}"
            ) from error
        return rows

    def encoded(self, rows: Any) -> Any:
        """The same as a dense table."""
        return as_table(self.transformed(rows), None, absent_entries(self.model))[1]

    def calibrated(self, output: Any) -> Output:
        """The log-odds of a calibrated model that ``output=`` asks for."""
        classes = classes_of(self.whole)
        if asks_all(output, classes):
            raise TypeError("it is calibrated, and has one closed form for its two classes")
        return choose_output(type(self.whole).__name__, output, "log-odds", classes, 1)

    def check(self, rows: Any, log_odds: FloatArray) -> None:
        """Refuse log-odds that are not those of a calibrated model's own probabilities."""
        apart = np.abs(expit(log_odds) - self.whole.predict_proba(rows)[:, 1]).max()
        if not apart <= 1e-6:
            raise TypeError(
                "its calibrated probabilities are no function of what is explained of "
                f"{type(self.model).__name__} (they are apart by {apart:.2g})"
            )


def look_inside(model: Any) -> Inside:
    """What is at the end of searches, thresholds, calibrations and pipelines."""
    inner, transforms, line, refusal = model, [], None, ""
    while True:
        searched = any(base.__name__ == "BaseSearchCV" for base in type(inner).__mro__)
        held = HELD.get(type(inner).__name__, "best_estimator_" if searched else "")
        if _has(inner, "named_steps"):
            before = inner[:-1]
            # What draws rows (of imbalanced-learn) does so in fitting alone.
            before.steps = [each for each in before.steps if not hasattr(each[1], "fit_resample")]
            if before.steps:
                if not hasattr(before, "transform"):
                    return Inside(model, model)
                transforms.append(before.transform)
            inner = inner.steps[-1][1]
        elif _has(inner, "calibrated_classifiers_"):
            refusal = refusal or _why_no_line(inner)
            first = inner.calibrated_classifiers_[0]
            line = None if refusal else _line(first)
            inner = first.estimator
        elif held and _has(inner, held):
            inner = getattr(inner, held)
        else:
            return Inside(model, inner, tuple(transforms), line, refusal)


def _has(model: Any, name: str) -> bool:
    """Whether a model has this by itself: a proxy of one elsewhere answers to every name."""
    return hasattr(type(model), name) or name in getattr(model, "__dict__", {})


def _why_no_line(model: Any) -> str:
    """Why the log-odds of a calibrated model are no multiple of a margin, if they are none."""
    count = len(model.calibrated_classifiers_)
    if count > 1:
        return (
            f"it averages the probabilities of {count} calibrated models (ensemble=False has one)"
        )
    if model.method == "isotonic":
        return "its calibration is isotonic, by steps"
    return "" if len(model.classes_) == 2 else "it calibrates more than two classes"


def _line(calibrated: Any) -> tuple[float, float]:
    """The slope and intercept of log-odds in what was calibrated."""
    (calibrator,) = calibrated.calibrators
    if hasattr(calibrator, "beta_"):  # a temperature, of (-margin, margin)
        return 2 * float(calibrator.beta_), 0.0
    return -float(calibrator.a_), -float(calibrator.b_)


class Encoding:
    """What transformers make of rows, each column of it from one column of the rows.

    Encoded column j comes from column ``owners[j]``; those that are the same in all of the rows
    and background at first belong to none, and have -1. ``numbers`` encodes rows, and so does the
    encoding when it is called, but it refuses rows of which that is not so. Later rows are tried
    again only where a value is missing that never was: imputers make such a value from other columns.
    That no other value of theirs changes where columns come from is taken on trust.
    """

    def __init__(
        self, inside: Inside, numbers: Callable[[Any], FloatArray], rows: Any, background: Any
    ) -> None:
        self._inside, self._numbers = inside, numbers
        tabular = Tabular.of(rows, background, inside.whole)
        cells = np.concatenate([tabular.rows, tabular.background])
        known = numbers(tabular.decode(cells))
        some = np.unique(np.linspace(len(rows), len(cells) - 1, OTHERS).astype(int))
        self._others, self._known = tabular.decode(cells[some]), known[some]
        # For each encoded column a row that differs there from the first one; mixed with that, by
        # the bits of the numbers of columns, it shows the bits of the owner's number.
        apart = ~_same(known, known[0])
        b, pair = np.unique(apart.argmax(axis=0), return_inverse=True)
        every, width = np.arange(known.shape[1]), cells.shape[1]
        owners = np.zeros(known.shape[1], dtype=np.int64)
        for bit in range((width - 1).bit_length()):
            kept = np.arange(width) >> bit & 1 == 1
            mixed = numbers(tabular.decode(np.where(kept, cells[b], cells[0])))
            owners |= _same(mixed[pair, every], known[b[pair], every]).astype(np.int64) << bit
        self.owners = np.where(apart.any(axis=0), owners, -1)
        if self.owners.max() >= width:
            self._refuse(int(self.owners.argmax()))
        # In which columns of the rows and of the background a value was missing.
        self._gaps: list[BoolArray] = []

    def __call__(self, rows: Any) -> FloatArray:
        known, free = self._numbers(rows), self.owners < 0
        if not _same(known[:, free], self._known[0, free]).all():
            raise EncodingError("rows have values that no row had from which columns were followed")
        gaps = _gaps(rows)
        if len(self._gaps) < 2 or (gaps & ~np.logical_or.reduce(self._gaps)).any():
            self._try(rows, known)
            self._gaps.append(gaps)
        return known

    def _try(self, rows: Any, known: FloatArray) -> None:
        """Refuse rows of which what is made is not mixed as they are."""
        tabular = Tabular.of(rows, self._others, self._inside.whole)
        rng, width = np.random.default_rng(0), tabular.rows.shape[1]
        a = np.linspace(0, len(rows) - 1, max(OTHERS, min(len(rows), MIXED))).astype(int)
        b = rng.integers(len(self._known), size=len(a))
        kept = rng.random((len(a), width)) < rng.random((len(a), 1))
        # Any two columns are parted by one of these, either way round: what is made of both shows.
        bits = np.arange(width) >> np.arange(max(1, (width - 1).bit_length()))[:, None] & 1
        parting = np.concatenate([bits == 1, bits == 0])
        pairs = np.arange(len(rows) * len(self._known))
        if len(pairs) * len(parting) > MIXED:
            pairs = rng.choice(pairs, max(1, MIXED // len(parting)), replace=False)
        each = np.repeat(pairs, len(parting))
        a = np.concatenate([a, each // len(self._known)])
        b = np.concatenate([b, each % len(self._known)])
        kept = np.concatenate([kept, np.tile(parting, (len(pairs), 1))])
        mixed = self._numbers(
            tabular.decode(np.where(kept, tabular.rows[a], tabular.background[b]))
        )
        same = _same(mixed, np.where(kept[:, self.owners], known[a], self._known[b]))
        if not same.all():
            self._refuse(int(same.all(axis=0).argmin()))

    def groups(self, groups: Groups | None) -> Encoded:
        """The columns that a feature owns, by what the transformers make of them."""
        return Encoded(np.maximum(self.owners, 0), groups)

    def _refuse(self, column: int) -> None:
        try:
            step = self._inside.transforms[-1].__self__  # type: ignore[attr-defined]
            name = repr(str(step.get_feature_names_out()[column]))
        except Exception:  # transformers of one's own need not have names
            name = f"{column} (counted from 0)"
        raise EncodingError(
            f"column {name} of what the transformers make of rows depends on more than one of their "
            "columns"
        )


class EncodingError(TypeError):
    """A column that transformers make comes from several columns of rows, or from an unknown one."""


def _gaps(rows: Any) -> BoolArray:
    """In which columns a value is missing."""
    missing = rows.isna().to_numpy() if is_frame(rows) else rows != rows
    return np.asarray(np.any(missing, axis=0))


def _same(one: FloatArray, other: FloatArray) -> BoolArray:
    """Where numbers are equal up to rounding, or both missing."""
    return np.isclose(one, other, rtol=ROUNDING, atol=0.0, equal_nan=True)


def trees_inside(
    inside: Inside, rows: Any, background: Any, output: Any, groups: Groups | None
) -> tuple[TreeModel, Groups | None]:
    """The trees at the end of a pipeline as a model of its rows, and the groups that go with it."""
    trees = read_model(inside.model, None if inside.line else output)
    whole = copy(trees)
    whole.model, whole.kind = inside.whole, type(inside.whole).__name__
    whole.forms, whole.gaps = set(), trees.gaps.copy()
    if inside.line is None:
        whole.raw = lambda given: trees.raw(inside.transformed(given))
    else:
        slope, shift = inside.line
        chosen = inside.calibrated(output)

        def log_odds(given: Any) -> FloatArray:
            margin = picked(trees.raw(inside.transformed(given)), trees.outputs)[:, 0]
            inside.check(given, slope * margin + shift)
            return slope * margin + shift

        whole.outputs, whole.raw = (chosen,), log_odds
        whole.nodes = trees.nodes._replace(value=chosen.sign * slope * trees.nodes.value)
        whole.intercept = chosen.sign * (slope * trees.intercept + shift)
    if not inside.transforms:
        return whole, groups
    _, table = as_table(rows, background)
    others = table if background is None else as_table(background, rows)[1]
    encoding = Encoding(inside, lambda given: trees.encode(inside.encoded(given)), table, others)
    splits = trees.nodes.feature[trees.nodes.left >= 0]
    if background is None and (encoding.owners[splits] < 0).any():
        raise TypeError(
            "without a background, the columns that the transformers make are followed to those of "
            "the rows only where rows differ, and some that trees split on do not; give a background"
        )
    whole.columns, whole.encode = table.shape[1], encoding
    names = getattr(inside.whole, "feature_names_in_", None)
    whole.names = None if names is None else tuple(map(str, names))
    return whole, encoding.groups(groups)
