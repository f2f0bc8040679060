"""The features behind predictions, in one call."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fairfield.criteria.compare import Criterion, criterion_of
from fairfield.energy.temperature import Temperature
from fairfield.game import Game
from fairfield.games.features import FeatureGame
from fairfield.games.linear import LinearGame
from fairfield.games.tabular import Groups
from fairfield.valuation import Valuation


def explain(
    model: Any,
    X: Any,
    background: Any = None,
    criterion: str | Criterion = "variational_index",
    *,
    output: Any = None,
    groups: Groups | None = None,
    temperature: Temperature | None = None,
    **how: Any,
) -> Valuation:
    """What each feature adds to the model's output, for every row of X.

    The game is the fastest that fits the model: ``TreeGame`` for tree ensembles (the raw
    margin of boosted trees), a closed form for linear models (their margin), and
    ``FeatureGame`` for everything else, for ``output="probability"`` and for a background
    that is drawn. The valuation's ``game`` says which. Without a ``background`` only tree
    models can be explained. The criterion's own keywords are passed on.

    >>> import numpy as np
    >>> v = explain(lambda X: X[:, 0] * X[:, 1], np.array([[2.0, 3.0]]), np.zeros(2), "shapley")
    >>> v.values
    array([[3., 3.]])
    """
    game = game_of(model, X, background, output=output, groups=groups)
    heat = {} if temperature is None else {"temperature": temperature}
    return criterion_of(criterion)(game, **heat, **how)


def game_of(
    model: Any, X: Any, background: Any = None, *, output: Any = None, groups: Groups | None = None
) -> Game:
    """The fastest game for the features of this model.

    >>> import numpy as np
    >>> game_of(lambda X: X.sum(axis=1), np.ones((4, 3)), np.zeros(3))
    FeatureGame: 4 games of 3 players
    """
    refusals = []
    if output != "probability" and not callable(background):
        for closed in (_tree_game, LinearGame):
            try:
                return closed(model, X, background, output=output, groups=groups)
            except (TypeError, ValueError) as reason:
                refusals.append(f"{closed.__name__.strip('_')}: {reason}")
    try:
        return FeatureGame(model, X, background, output=output, groups=groups)
    except (TypeError, ValueError) as error:
        for refusal in refusals:
            error.add_note(f"no closed form either, {refusal}")
        raise


def _tree_game(model: Any, rows: Any, background: Any, **rest: Any) -> Game:
    try:
        kind: Callable[..., Game] = import_module("fairfield.games.trees").TreeGame
    except ModuleNotFoundError as reason:
        if reason.name != "fairfield.games.trees":
            raise
        raise TypeError("tree models have no closed form here") from reason
    return kind(model, rows, background, **rest)
