"""The features behind predictions, in one call."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from fairfield.assemble import presentation
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import elsewhere
from fairfield.core.game import Game
from fairfield.criteria.criterion import Call, Criterion, Given, call_of
from fairfield.criteria.owen import Owen
from fairfield.games.features.game import FeatureGame
from fairfield.games.features.groups import Groups, columns_of
from fairfield.games.features.linear import LinearGame
from fairfield.games.features.rows import as_table
from fairfield.games.outputs import classes_of, names_quantity
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.readers.registry import reader_of
from fairfield.multilinear.unions import Unions, read_unions
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
    unions: Unions | None = None,
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
    classes or columns at once, along a last axis that they name. The valuation's ``game`` says
    which game it was and what was explained (a probability, log-odds, a prediction), and a
    warning why a closed form was refused. Without a ``background`` only tree models can be
    explained, and the refusal of one is an error. ``times`` asks a survival forest for its
    survival function, as :class:`fairfield.TreeGame` does. The criterion's own keywords are
    passed on, and so are those of :class:`fairfield.Options`. :class:`fairfield.Explainer` is
    for one model and many calls.

    ``groups`` makes several columns one feature. ``unions`` keeps features, or such groups, apart
    and has them join union by union, as :func:`fairfield.owen` does: {union: features}, nested
    or not. The values are then Owen's, exact for any number of features in a closed form.

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
    _check_background(background, "the third argument is the background, the fourth the criterion")
    about = {"output": output, "y": y, "times": times}
    game = game_of(model, X, background, groups=groups, **about)
    if unions is None:
        return _value(game, call_of(criterion, temperature=temperature, **options))
    if criterion not in ("variational_index", "shapley", "owen"):
        raise ValueError(
            f"unions= have Owen's values, and criterion={criterion!r} was given; leave one of them out"
        )
    call = call_of("owen", unions, temperature=temperature, **options)
    if call.chosen.estimates or temperature is not None:
        return _value(game, call)  # one sample, or one law, of all features
    columns = [columns_of(player, groups, X) for player in game.players]
    found, values = [], np.zeros((*game.batch, len(game.players)))
    for family in read_unions(unions, game.players).families():
        # Closed forms and sub-cubes of features are those of joined features, too.
        parts, nested = family.joined()
        joined: dict[Any, list[Any]] = {
            tuple(game.players[i] for i in part): [c for i in part for c in columns[i]]
            for part in parts
        }
        part_game = game_of(model, X, background, groups=joined, **about)
        found.append(_value(part_game, replace(call, criterion=Owen(nested))))
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


class Explainer:
    """The features behind predictions of one model, for any rows: ``explainer(rows)``.

    It reads the model, and counts the background, once; a call explains rows as
    :func:`fairfield.explain` does, one at a time or many, from any number of threads. The
    arguments are those of ``explain``, the keywords of :class:`fairfield.Options` among them; ``y``
    goes with the rows. The Shapley values of one row of a tree model take less than a millisecond,
    after a first call that builds tables for all rows to come. Rows have the columns of the
    background, or those of the first rows where there is none. A model that was fitted anew needs a
    new explainer.

    >>> import numpy as np
    >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], np.zeros(2), criterion="shapley")
    >>> explainer([2.0, 3.0]).values
    array([3., 3.])
    """

    def __init__(
        self,
        model: Any,
        background: Any = None,
        *,
        criterion: Given = "variational_index",
        output: Any = None,
        groups: Groups | None = None,
        times: Any = None,
        temperature: Temperature | None = None,
        **options: Any,
    ) -> None:
        _check_background(background, "give the criterion by criterion=")
        self._call = call_of(criterion, temperature=temperature, **options)
        _ = self._call.chosen  # options are checked here
        self._model, self._background = model, background
        self._about = {"output": output, "groups": groups, "times": times}
        self._first: Game | None = None
        if not (background is None or callable(background) or output == "label"):
            self._keep(_one_of(background))

    def __call__(self, rows: Any, y: Any = None) -> Valuation:
        return _value(self.game(rows, y), self._call)

    def game(self, rows: Any, y: Any = None) -> Game:
        """The game of these rows, which any criterion values."""
        if y is None and self._first is None:
            return self._keep(rows)
        if y is None and isinstance(self._first, FeatureGame | TreeGame):
            return self._first.explaining(rows)
        return game_of(self._model, rows, self._background, y=y, **self._about)

    def _keep(self, rows: Any) -> Game:
        """The game of these rows, with which the games of others will share what they can."""
        game = game_of(self._model, rows, self._background, **self._about)
        if isinstance(game, TreeGame):
            game.forest.diagonal.serve()
        self._first = game
        return game

    def __repr__(self) -> str:
        return f"Explainer: {self._call.criterion.label} of {type(self._model).__name__}"

    def __reduce__(self) -> Any:
        # What was read is read again elsewhere: it holds functions of the model's library.
        call = self._call
        given = {"criterion": call.criterion, "temperature": call.temperature, **call.options}
        return _explainer, (self._model, self._background, {**self._about, **given})


def _explainer(model: Any, background: Any, keywords: dict[str, Any]) -> Explainer:
    return Explainer(model, background, **keywords)


def _check_background(background: Any, advice: str) -> None:
    """Refuse a criterion in the place of the background."""
    name = getattr(background, "__name__", "")
    home = str(getattr(background, "__module__", ""))
    if isinstance(background, str | Criterion) or home.startswith("fairfield.criteria"):
        shown = repr(background) if isinstance(background, str) else name or repr(background)
        raise TypeError(
            f"the background is {shown}, and it must be rows, one row, a function that draws them, or "
            f"None for the path-dependent values of trees; {advice}"
        )


def _one_of(background: Any) -> Any:
    """The first row of a background, which may be a single one."""
    if hasattr(background, "to_frame") or np.ndim(background) == 1:
        return background
    return background[:1] if elsewhere(background) else as_table(background)[1][:1]


def _value(game: Game, call: Call) -> Valuation:
    """The valuation of a game of features, estimated where exact values are out of reach."""
    problem = call.posed(game)
    if call.criterion.is_estimable() and problem.source.out_of_reach():
        budget = 2 * len(game.players) + FEWEST
        warnings.warn(
            f"{game!r}: exact values are out of reach, so these are estimated from {budget:,} "
            "coalitions, with their errors in stderr; give a larger budget= or a tolerance= for "
            f"smaller errors, group features, or {game.info.advice}",
            stacklevel=3,
        )
        problem = replace(call, options={**call.options, "budget": budget}).posed(game)
    return call.answer(problem)


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
        reader = reader_of(model)
        linear = hasattr(model, "coef_") and hasattr(model, "intercept_")
        if output == "probability" and names_quantity(output, classes_of(model)):
            sums = reader is not None and reader.probabilities and classes_of(model) is not None
            closed = TreeGame if sums else None
        else:
            closed = TreeGame if reader else LinearGame if linear else None
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
