"""The features behind predictions, in one call."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from fairfield.boltzmann.temperature import Temperature
from fairfield.core.game import Game
from fairfield.criteria.criterion import Call, Given, call_of, valued
from fairfield.evaluation.options import Options
from fairfield.games.features.game import FeatureGame
from fairfield.games.features.groups import Groups
from fairfield.games.features.linear import LinearGame
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.readers.registry import read_model, reader_of
from fairfield.multilinear.choose import Source
from fairfield.results.valuation import Valuation

# Beside two for each feature, an estimate that nobody asked for uses so many coalitions.
FEWEST = 2048


def explain(
    model: Any,
    X: Any,
    background: Any = None,
    criterion: Given = "variational_index",
    *,
    output: Any = None,
    y: Any = None,
    groups: Groups | None = None,
    times: Any = None,
    temperature: Temperature | None = None,
    **options: Any,
) -> Valuation:
    """What each feature adds to the model's output, for every row of X.

    The game is the fastest that fits the model: ``TreeGame`` for tree ensembles (the raw
    margin of boosted trees), a closed form for linear models (their margin), and
    ``FeatureGame`` for everything else, for ``output="probability"``, for ``output="label"``
    (the probability of each row's true class in ``y``) and for a background that is drawn.
    ``output`` names a class, or asks for the "margin" or the "probability"; "all" explains all
    classes or columns at once, along a last axis that they name. The valuation's ``game`` says which game it was and what was explained (a probability, log-odds, a
    prediction), and a warning why a closed form was refused. Without a ``background`` only
    tree models can be explained, and the refusal of one is an error. ``times`` asks a survival
    forest for its survival function, as :class:`fairfield.TreeGame` does. The criterion's own
    keywords are passed on, and so are those of :class:`fairfield.Options`.

    Values are exact wherever that is within reach: always by a closed form, up to 25 features
    by the table of all worths, and beyond where rows differ from the background in few
    features (values that no split of a tree model tells apart do not differ). Else, unless
    ``budget``, ``tolerance`` or ``seconds`` are given, they are estimates from 2n + 2048
    coalitions of the n features, with standard errors, and a warning says so.

    >>> import numpy as np
    >>> v = explain(lambda X: X[:, 0] * X[:, 1], np.array([[2.0, 3.0]]), np.zeros(2), "shapley")
    >>> v.values
    array([[3., 3.]])
    >>> both = lambda X: np.stack([X[:, 0] * X[:, 1], X[:, 0]], axis=1)
    >>> v = explain(both, np.array([[2.0, 3.0]]), np.zeros(2), "shapley", output="all")
    >>> v.values.shape, v.output(1).values
    ((1, 2, 2), array([[2., 0.]]))
    """
    game = game_of(model, X, background, output=output, y=y, groups=groups, times=times)
    budget = _default_budget(game, call_of(criterion, temperature=temperature, **options))
    if budget is not None:
        options = {**options, "budget": budget}
        warnings.warn(
            f"{game!r}: exact values are out of reach, so these are estimated from {budget:,} "
            "coalitions, with their errors in stderr; give a larger budget= or a tolerance= for "
            f"smaller errors, group features, or {game.info.advice}",
            stacklevel=2,
        )
    return valued(criterion, game, temperature=temperature, **options)


def _default_budget(game: Game, call: Call) -> int | None:
    """The budget of what is to be estimated although nobody asked for that; else None."""
    # A store is spoken of where it is used.
    options = Options().changed({**call.options, "store": None})
    if not call.criterion.is_estimable() or not Source(game, options).out_of_reach():
        return None
    return 2 * len(game.players) + FEWEST


def game_of(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    output: Any = None,
    y: Any = None,
    groups: Groups | None = None,
    times: Any = None,
) -> Game:
    """The fastest game for the features of this model.

    >>> import numpy as np
    >>> game_of(lambda X: X.sum(axis=1), np.ones((4, 3)), np.zeros(3))
    FeatureGame: 4 rows of 3 features, for the output of <lambda>
    """
    if times is not None:  # no other game has functions of time
        if y is not None:
            raise ValueError(
                "times= and y= were given; y= goes with output='label', so leave it out"
            )
        return TreeGame(model, X, background, output=output, groups=groups, times=times)
    closed: type[TreeGame] | type[LinearGame] | None = None
    if y is None and output != "label" and not callable(background):
        linear = hasattr(model, "coef_") and hasattr(model, "intercept_")
        if output == "probability":
            closed = TreeGame if _sums_probabilities(model) else None
        else:
            closed = TreeGame if reader_of(model) else LinearGame if linear else None
    if closed is None:
        return FeatureGame(model, X, background, output=output, y=y, groups=groups)
    try:
        return closed(model, X, background, output=output, groups=groups)
    except (TypeError, ValueError) as error:
        if background is None and closed is TreeGame:  # a linear model needs one in any case
            error.add_note("with a background, FeatureGame explains the model by calling it")
            raise
        refusal = str(error)
    try:
        game = FeatureGame(model, X, background, output=output, groups=groups)
    except (TypeError, ValueError) as error:
        error.add_note(f"{closed.__name__} refused, too: {refusal}")
        raise
    game.info = replace(game.info, advice=f"fix what {closed.__name__} refused ({refusal})")
    warnings.warn(
        f"FeatureGame explains the {game.info.worth_name} ({game.output.name}), which may have "
        f"another unit, since {closed.__name__} refused: {refusal}",
        stacklevel=2,
    )
    return game


def _sums_probabilities(model: Any) -> bool:
    """Whether the leaves of a tree model are probabilities, as those of a forest."""
    if reader_of(model) is None:
        return False
    try:
        read_model(model, "probability")
    except (TypeError, ValueError):
        return False
    return True
