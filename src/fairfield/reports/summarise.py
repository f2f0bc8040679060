"""Results as plain data: what a report shows, before it is put into any form.

Numbers that belong to a game are lists over its rows, also where there is one game: a batch
starts with the mean of its rows, so that whoever draws a row can draw the mean as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.criteria.annealing import Annealing
from fairfield.criteria.criterion import registry
from fairfield.curves import Curve
from fairfield.learning.scores import ScoreTable
from fairfield.reports.layout import MOST_NUMBERS, Layout, plain
from fairfield.reports.temperatures import path_of
from fairfield.results.comparison import Comparison
from fairfield.results.interactions import Interactions
from fairfield.results.tables import comparison_notes
from fairfield.results.valuation import NORMAL, Valuation
from fairfield.results.words import Words

FORMAT = 1
# Players of a heat map, and coalitions of a list where no heat map can be drawn.
MOST_IN_MATRIX = 40
MOST_COALITIONS = 20


def summarise(
    comparison: Comparison | Valuation,
    *,
    annealing: Annealing | None = None,
    interactions: Interactions | None = None,
    curves: Curve | Iterable[Curve] | None = None,
    scores: ScoreTable | None = None,
    title: str | None = None,
    most_players: int | None = None,
) -> dict[str, Any]:
    """What a report shows, as dicts, lists, texts and numbers alone.

    ``most_players`` keeps so many players, those of the largest values by any criterion, and
    of the rows of a batch as many as a page can hold.

    >>> import fairfield as ff
    >>> found = summarise(ff.compare([0, 1, 1, 5], temperature=1.0))
    >>> found["players"], found["criteria"][2]["values"]
    (['0', '1'], [[2.5, 2.5]])
    """
    if isinstance(comparison, Valuation):
        comparison = Comparison({comparison.criterion: comparison})
    if not isinstance(comparison, Comparison):
        raise TypeError(
            f"a report shows values, and {type(comparison).__name__} was given; give "
            "ff.compare(game), or the valuation of one criterion"
        )
    _check_players(comparison, annealing, interactions)
    rungs = len(annealing.comparisons) if annealing else 0
    layout = Layout.of(comparison, most_players, rungs)
    first = comparison.first
    several = curves if isinstance(curves, Iterable) else [] if curves is None else [curves]
    given = list(several)
    if not all(isinstance(each, Curve) for each in given):
        raise TypeError(
            f"curves={curves!r} was given; give a curve, as ff.removal_curve returns it, or a list of them"
        )
    return {
        "fairfield report": FORMAT,
        "title": first.game if title is None else str(title),
        "words": _words(first.words),
        "interval": NORMAL,
        "about": _about(comparison),
        "notes": comparison_notes(comparison, label_of, in_report=True),
        "warnings": [*layout.notes(), *_warnings(comparison)],
        "players": [str(first.players[i]) for i in layout.players],
        "rows": layout.labels,
        "means": layout.means,
        "outputs": None if first.outputs is None else [*map(first.words.output, first.outputs)],
        "axes": layout.axes,
        "cells": layout.cells,
        "data": _data(first, layout),
        "criteria": [_criterion(name, comparison, layout) for name in comparison],
        "temperatures": path_of(comparison, annealing, layout),
        "trajectories": [
            {"criterion": name, "marginals": [layout.per_player(x, digits=7) for x in v.trajectory]}
            for name, v in comparison.items()
            if v.trajectory is not None
        ],
        "interactions": None if interactions is None else _pairs(interactions, layout),
        "curves": [found for each in given for found in _curves(each)],
        "scores": None if scores is None else _scores(scores),
    }


def _check_players(
    comparison: Comparison, annealing: Annealing | None, interactions: Interactions | None
) -> None:
    if not len(comparison):
        raise ValueError("the comparison is empty; compare at least one criterion")
    first = comparison.first
    others: dict[str, Valuation | Interactions] = {
        f"comparison[{name!r}] is": v for name, v in comparison.items()
    }
    if annealing is not None:
        others["annealing= is"] = annealing.comparisons[0].first
    if interactions is not None:
        others["interactions= are"] = interactions
    if interactions is not None and first.outputs is not None and not interactions.square:
        raise ValueError(
            f"interactions= of {interactions.game} are of several outputs and no pairs of all "
            f"{first.words.nouns}; give those and the values of one output"
        )
    for what, other in others.items():
        batch = other.batch if isinstance(other, Valuation) else first.batch
        if (other.players, batch) != (first.players, first.batch):
            raise ValueError(
                f"{what} of {other.game} and the report of {first.game}; give results of one game"
            )


def _words(words: Words) -> dict[str, str]:
    """The nouns of the page."""
    return {
        "player": words.noun,
        "players": words.nouns,
        "row": words.row_noun,
        "rows": words.row_nouns,
        "worth": words.worth_name,
        "unit": words.unit,
        "empty": words.empty,
        "grand": words.grand,
    }


def _about(comparison: Comparison) -> dict[str, Any]:
    """What the head of a report says."""
    first = comparison.first
    return {
        "game": first.game,
        "players": len(first.players),
        "games": int(np.prod(first.lead, dtype=int)),
        "temperature": comparison.temperatures,
        "methods": list(dict.fromkeys(v.method for v in comparison.values())),
        "evaluations": comparison.evaluations,
        "seconds": comparison.seconds,
        "seed": first.seed,
        "versions": dict(first.versions),
    }


def _warnings(comparison: Comparison) -> list[str]:
    """What a reader must know before trusting the numbers."""
    found = []
    for name, v in comparison.items():
        count = np.count_nonzero(~np.ravel(v.converged))
        where = f" in {count} of {v.extent}" if v.batch else ""
        if _unsettled(v):
            found.append(f"{label_of(name)} did not settle{where}: {v.stop}.")
    return found


def _unsettled(v: Valuation) -> bool:
    """Whether an iteration ended away from its fixed point, and was meant to reach it."""
    # K steps of the iteration need not settle; they are what was asked for.
    return v.trajectory is None and not np.all(v.converged)


def label_of(criterion: str) -> str:
    """The name of a criterion as it is read.

    >>> label_of("leave_one_out")
    'Leave one out'
    """
    words = criterion.replace("_", " ")
    return words[:1].upper() + words[1:]


def _meaning(v: Valuation) -> str:
    """What a value says of its player, in the words of the game."""
    criterion = registry().get(v.criterion.partition("(")[0])
    return "" if criterion is None else v.words.spoken(criterion.meaning)


def _criterion(name: str, comparison: Comparison, layout: Layout) -> dict[str, Any]:
    v = comparison[name]
    return {
        "name": name,
        "label": label_of(name),
        "meaning": _meaning(v),
        "values": layout.per_player(v.values),
        # The mean of the rows' errors is the widest that the error of their mean can be.
        "stderr": layout.per_player(v.stderr),
        "marginals": layout.per_player(v.marginals),
        "magnitude": _magnitude(v, layout) if layout.means else None,
        "temperature": layout.per_game(v.temperature),
        "decoupling_error": layout.per_game(v.decoupling_error),
        "empty": layout.per_game(v.empty),
        "grand": layout.per_game(v.grand),
        "steps": layout.per_game(v.steps),
        "stop": v.stop,
        # A reason to stop that a reader should see; a warning has given it already.
        "caveat": None if _unsettled(v) else comparison.caveats.get(name),
        "settled": bool(np.all(v.converged)),
        "method": v.method,
        "evaluations": v.evaluations,
        "seconds": v.seconds,
    }


def _magnitude(v: Valuation, layout: Layout) -> Any:
    """The mean |value| of each player, for each output where there are several."""
    found = v.mean().magnitude[:, layout.players]
    return plain(found[0] if v.outputs is None else found)


def _data(v: Valuation, layout: Layout) -> list[list[Any] | None] | None:
    """The values of the players in the data, row by row; the mean row has none."""
    if v.data is None:
        return None
    table: NDArray[Any] = np.reshape(v.data, (-1, len(v.players)))[layout.rows][:, layout.players]
    return [*[None] * layout.means, *([_cell(each) for each in row] for row in table)]


def _cell(value: Any) -> Any:
    held = value.item() if isinstance(value, np.generic) else value
    if isinstance(held, float) and not np.isfinite(held):
        return str(held)
    return held if isinstance(held, (bool, int, float, str)) or held is None else str(held)


def _pairs(found: Interactions, layout: Layout) -> dict[str, Any]:
    """Pairs as a matrix over the players that interact most; a list of what makes no matrix.

    The first matrices, as many as ``means`` says, and the list of a batch are mean magnitudes.
    """
    about = {"criterion": found.criterion, "label": label_of(found.criterion)}
    if not found.square:
        strongest = [[[*map(str, who)], value] for who, value in found.top(MOST_COALITIONS)]
        means = int(bool(found.batch))
        return {**about, "players": [], "matrix": [], "strongest": strongest, "means": means}
    matrix = found.matrix().reshape(-1, len(found.players), len(found.players))
    strength = np.abs(matrix).mean(axis=0).sum(axis=0)
    chosen = np.sort(np.argsort(-strength, kind="stable")[:MOST_IN_MATRIX])
    matrix = matrix[:, chosen[:, None], chosen]
    shown, means = matrix, 0
    if len(matrix) == layout.games:
        means = layout.means
        few = len(layout.rows) * chosen.size**2 <= MOST_NUMBERS
        rows = matrix[layout.rows] if few or not means else matrix[:0]
        averages = layout.mean_of(np.abs(matrix))[:means]
        shown = np.concatenate([averages, rows])
    elif len(matrix) > 1:
        shown, means = np.abs(matrix).mean(axis=0, keepdims=True), 1
    return {
        **about,
        "players": [str(found.players[i]) for i in chosen],
        "left_out": len(found.players) - len(chosen),
        "matrix": plain(shown, digits=6),
        "strongest": [],
        "means": means,
    }


def _scores(scores: ScoreTable) -> dict[str, Any]:
    games = [{"game": name, **vars(each)} for name, each in scores.items()]
    return {"held_out": scores.held_out, "games": games}


def _curves(curve: Curve) -> list[dict[str, Any]]:
    """The mean curve of a batch of games, or one for each of several outputs or scores."""
    means = curve.apart()
    games = int(np.prod(np.shape(curve.worths)[:-1], dtype=int)) // len(means)
    fractions = plain(curve.fractions)
    return [
        {"label": each.label, "fractions": fractions, "worths": plain(each.worths), "games": games}
        for each in means
    ]
