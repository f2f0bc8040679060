"""Values of features, as exact as is within reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fairfield.assemble import presentation
from fairfield.core.game import Game
from fairfield.core.runtime.notices import warn
from fairfield.criteria.criterion import Call
from fairfield.criteria.owen import Owen
from fairfield.estimation.received import ends
from fairfield.games.features.game import FeatureGame
from fairfield.games.features.groups import Groups, columns_of
from fairfield.games.features.importance import ImportanceGame
from fairfield.multilinear.unions import Unions, UnionTree, read_unions
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation

# From more model rows than this a table is not filled unasked: that takes minutes at least.
MOST_ROWS = 2**26
# An estimate that nobody asked for ends at this share of the largest F(N) - F(∅), or after as many
# coalitions as so many model rows allow: at least so many for each feature, at most so many in all.
TOLERANCE, LEAST_EACH, MOST_COALITIONS = 0.01, 20, 2**14


def feature_values(
    game: Game,
    call: Call,
    joining: Callable[[Any], Game] | None = None,
    groups: Groups | None = None,
) -> Valuation:
    """The valuation of a game of features, estimated where exact values would take too long.

    ``joining`` makes of other groups, in place of these ``groups``, the game of the same columns.
    """
    if joining is not None and isinstance(call.criterion, Owen):
        found = _by_families(game, call, call.criterion.unions, joining, groups)
        if found is not None:
            return found
    problem = call.posed(game)
    why = _too_long(problem) if call.criterion.is_estimable() else None
    if why is not None:
        budget, within = _affordable(game), ""
        call = replace(call, options={**call.options, "budget": budget})
        gains = np.diff(game.worths(ends(len(game.players))), axis=-1)
        if gains.any():
            tolerance = float(f"{TOLERANCE * np.abs(gains).max():.2g}")
            call = replace(call, options={**call.options, "tolerance": tolerance})
            within = f" to within ±{tolerance:g}"
        warn(
            f"{game!r}: exact values {why}, so these are estimated{within} from at most {budget:,} "
            f"coalitions ({_model_rows(game, budget):,} model rows), with their errors in stderr; give a "
            f"tolerance=, budget= or seconds= of your own, group features, or {game.info.advice}"
        )
        problem = call.posed(game)
    return call.answer(problem)


def _by_families(
    game: Any,
    call: Call,
    unions: Unions | UnionTree,
    joining: Callable[[Any], Game],
    groups: Groups | None,
) -> Valuation | None:
    """Owen's values, family by family: closed forms and sub-cubes are those of joined features, too.

    None where all features have to be valued together.
    """
    if call.chosen.estimates or call.temperature is not None:
        return None  # one sample, or one law, of all features
    columns = [columns_of(player, groups, game.columns) for player in game.players]
    found, values = [], np.zeros((*game.batch, len(game.players)))
    for family in read_unions(unions, game.players).families():
        parts, nested = family.joined()
        joined: dict[Any, list[Any]] = {
            tuple(game.players[i] for i in part): [c for i in part for c in columns[i]]
            for part in parts
        }
        part_game, part = joining(joined), replace(call, criterion=Owen(nested))
        # Trees may be refused or not as their features are joined; their unit is another then.
        if type(part_game) is not type(game):
            return None
        problem = part.posed(part_game)
        if _too_long(problem) is not None:
            return None  # errors are those of one sample of all features
        found.append(part.answer(problem))
        own = family.union.alone
        values[..., list(own)] = found[-1].values[..., : len(own)]
    return replace(
        found[-1],
        values=values,
        players=game.players,
        evaluations=sum(each.evaluations for each in found),
        seconds=sum(each.seconds for each in found),
        **presentation(game),
    )


def _too_long(problem: Problem) -> str | None:
    """Why exact values are not computed unasked, where they are not."""
    source, game = problem.source, problem.game
    if not source.tabled or source.evaluated or problem.options.exact:
        return None
    if source.out_of_reach():
        return "are out of reach"
    rows = _model_rows(game)
    # Of few features an estimate would ask for all coalitions, too.
    if rows <= MOST_ROWS or 2 ** len(game.players) <= _affordable(game):
        return None
    return f"take {rows:,} model rows, which exact=True would ask for"


def _model_rows(game: Game, coalitions: int | None = None) -> int:
    """The model rows of a table, or of so many worths, as far as they are known."""
    return game.model_rows(coalitions) if isinstance(game, FeatureGame | ImportanceGame) else 0


def _affordable(game: Game) -> int:
    """The coalitions of an estimate: as many as model rows allow, within bounds."""
    count = len(game.players)
    many = 2 * count + MOST_COALITIONS
    share: int = 2**count * MOST_ROWS // max(_model_rows(game), 1)
    return min(many, max(LEAST_EACH * count, share))
