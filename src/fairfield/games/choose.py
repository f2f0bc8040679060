"""Which game is the fastest for the features of a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.core.game import Game
from fairfield.core.runtime.notices import warn
from fairfield.games.features.background.weights import copies, weighted_rows
from fairfield.games.features.frames import is_frame
from fairfield.games.features.game import FeatureGame
from fairfield.games.features.groups import Groups
from fairfield.games.features.linear import LinearGame, NoNumberError
from fairfield.games.features.model_output import Function
from fairfield.games.features.pipelines import Inside, look_inside, trees_inside
from fairfield.games.features.rows import as_table
from fairfield.games.outputs import classes_of, names_quantity
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.model import ELSEWHERE
from fairfield.games.trees.readers.registry import reader_of


def game_of(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    output: Any = None,
    y: Any = None,
    groups: Groups | None = None,
    times: Any = None,
    link: str | Function | None = None,
    sample_weight: ArrayLike | None = None,
) -> Game:
    """The fastest game for the features of this model.

    >>> import numpy as np
    >>> game_of(lambda X: X.sum(axis=1), np.ones((4, 3)), np.zeros(3))
    FeatureGame: 4 rows of 3 features, for the output of <lambda>
    """
    background, weights = weighted_rows(background, sample_weight)
    if times is not None:  # no other game has functions of time
        for name, given in (("y", y), ("link", link), ("sample_weight", weights)):
            if given is not None:
                raise ValueError(f"times= and {name}= were given, which do not go together")
        return TreeGame(model, X, background, output=output, groups=groups, times=times)
    inside, closed = look_inside(model), None
    about = {"output": output, "groups": groups, "sample_weight": weights}
    if y is None and link is None and output != "label" and not callable(background):
        closed = _closed_kind(inside, output)
    if closed is None:
        whole = inside.model if inside.alone else model
        return FeatureGame(whole, X, background, y=y, link=link, **about)
    try:
        return _closed(closed, inside, X, background, **about)
    except NoNumberError:  # called instead, the model would refuse the same rows in more words
        raise
    except (TypeError, ValueError) as error:
        if background is None and closed is TreeGame:  # a linear model needs one in any case
            error.add_note("with a background, FeatureGame explains the model by calling it")
            raise
        refusal = str(error).removesuffix(f"; {ELSEWHERE}")
    try:
        game = FeatureGame(model, X, background, **about)
    except (TypeError, ValueError) as error:
        error.add_note(f"{closed.__name__} refused, too: {refusal}")
        raise
    game.info = replace(game.info, advice=f"fix what {closed.__name__} refused ({refusal})")
    warn(
        f"FeatureGame explains the {game.info.worth_name} ({game.output.name}), which may have "
        f"another unit, since {closed.__name__} refused: {refusal}"
    )
    return game


def _closed_kind(inside: Inside, output: Any) -> type[TreeGame] | type[LinearGame] | None:
    """The closed form that a model has, if any, or the one inside of it."""
    model = inside.model
    reader = reader_of(model)
    if output == "probability" and names_quantity(output, classes_of(model)):
        plain = not (inside.line or inside.refusal)
        sums = reader is not None and reader.probabilities and classes_of(model) is not None
        return TreeGame if sums and plain else None
    linear = hasattr(model, "coef_") and hasattr(model, "intercept_")
    return TreeGame if reader else LinearGame if linear else None


def _closed(
    kind: type[TreeGame] | type[LinearGame],
    inside: Inside,
    X: Any,
    background: Any,
    output: Any,
    groups: Groups | None,
    sample_weight: FloatArray | None,
) -> Game:
    """The game in closed form of a model, or of what is inside of it in the columns of the whole."""
    if inside.refusal:
        raise TypeError(inside.refusal)
    if kind is LinearGame:
        return LinearGame(
            inside.whole, X, background, output=output, groups=groups, sample_weight=sample_weight
        )
    model = inside.model
    if not inside.alone:
        model, groups = trees_inside(inside, X, background, output, groups)
    if sample_weight is not None:
        places = np.repeat(np.arange(len(sample_weight)), copies(sample_weight))
        table = as_table(background, X)[1]
        background = table.iloc[places] if is_frame(table) else table[places]
    return TreeGame(model, X, background, output=output, groups=groups)
