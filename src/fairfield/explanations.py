"""The features behind predictions, in one call."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from fairfield.boltzmann.temperature import Temperature
from fairfield.core.game import Game
from fairfield.criteria.criterion import Given, valued
from fairfield.games.features.game import FeatureGame
from fairfield.games.features.groups import Groups
from fairfield.games.features.linear import LinearGame
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.readers.registry import reader_of
from fairfield.results.valuation import Valuation


def explain(
    model: Any,
    X: Any,
    background: Any = None,
    criterion: Given = "variational_index",
    *,
    output: Any = None,
    y: Any = None,
    groups: Groups | None = None,
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
    tree models can be explained. The criterion's own keywords are passed on, and so are
    those of :class:`fairfield.Options`.

    >>> import numpy as np
    >>> v = explain(lambda X: X[:, 0] * X[:, 1], np.array([[2.0, 3.0]]), np.zeros(2), "shapley")
    >>> v.values
    array([[3., 3.]])
    >>> both = lambda X: np.stack([X[:, 0] * X[:, 1], X[:, 0]], axis=1)
    >>> v = explain(both, np.array([[2.0, 3.0]]), np.zeros(2), "shapley", output="all")
    >>> v.values.shape, v.output(1).values
    ((1, 2, 2), array([[2., 0.]]))
    """
    game = game_of(model, X, background, output=output, y=y, groups=groups)
    return valued(criterion, game, temperature=temperature, **options)


def game_of(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    output: Any = None,
    y: Any = None,
    groups: Groups | None = None,
) -> Game:
    """The fastest game for the features of this model.

    >>> import numpy as np
    >>> game_of(lambda X: X.sum(axis=1), np.ones((4, 3)), np.zeros(3))
    FeatureGame: 4 rows of 3 features, for the output of <lambda>
    """
    closed: type[TreeGame] | type[LinearGame] | None = None
    if y is None and output not in ("probability", "label") and not callable(background):
        linear = hasattr(model, "coef_") and hasattr(model, "intercept_")
        closed = TreeGame if reader_of(model) else LinearGame if linear else None
    if closed is None:
        return FeatureGame(model, X, background, output=output, y=y, groups=groups)
    try:
        return closed(model, X, background, output=output, groups=groups)
    except (TypeError, ValueError) as error:
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
