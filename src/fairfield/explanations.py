"""The features behind predictions, in one call."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.assemble import presentation
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import elsewhere
from fairfield.core.game import Game
from fairfield.criteria.criterion import Call, Criterion, Given, call_of
from fairfield.criteria.owen import Owen
from fairfield.estimation.received import ends
from fairfield.games.choose import game_of
from fairfield.games.features.background.weights import weighted_rows
from fairfield.games.features.game import FeatureGame
from fairfield.games.features.groups import Groups, columns_of
from fairfield.games.features.linear import LinearGame
from fairfield.games.features.model_output import Function
from fairfield.games.features.pipelines import EncodingError
from fairfield.games.features.rows import as_table
from fairfield.games.trees.game import TreeGame
from fairfield.multilinear.unions import Unions, read_unions
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation

# From more model rows than this a table is not filled unasked: that takes minutes at least.
MOST_ROWS = 2**26
# An estimate that nobody asked for ends at this share of the largest F(N) - F(∅), or after as many
# coalitions as so many model rows allow: at least so many for each feature, at most so many in all.
TOLERANCE, FEWEST, MOST_COALITIONS = 0.01, 20, 2**14


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
    link: str | Function | None = None,
    sample_weight: ArrayLike | None = None,
    temperature: Temperature | None = None,
    **options: Any,
) -> Valuation:
    """What each feature adds to the model's output, for every row of X.

    The game is the fastest that fits the model: ``TreeGame`` for tree ensembles (the raw
    margin of boosted trees), a closed form for linear models (their margin), either also at
    the end of a pipeline whose transformers keep columns apart (in the pipeline's own columns)
    and inside searches, thresholds and calibrations, and ``FeatureGame`` for everything else, for ``output="probability"``, for ``output="label"``
    (the probability of each row's true class in ``y``) and for a background that is drawn.
    ``output`` names a class, or asks for the "margin" or the "probability"; "all" explains all
    classes or columns at once, along a last axis that they name. The valuation's ``game`` says
    which game it was and what was explained (a probability, log-odds, a prediction), and a
    warning why a closed form was refused. Without a ``background`` only tree models can be
    explained, and the refusal of one is an error. ``times`` asks a survival forest for its
    survival function, as :class:`fairfield.TreeGame` does. ``link`` and ``sample_weight`` are those of
    :class:`fairfield.FeatureGame`; with a link the model is always asked itself. The criterion's own keywords are
    passed on, and so are those of :class:`fairfield.Options`. :class:`fairfield.Explainer` is
    for one model and many calls.

    ``groups`` makes several columns one feature. ``unions`` keeps features, or such groups, apart
    and has them join union by union, as :func:`fairfield.owen` does: {union: features}, nested
    or not. The values are then Owen's, exact for any number of features in a closed form.

    Values are exact wherever that is within reach: always by a closed form, up to 25 features
    by the table of all worths, and beyond where rows differ from the background in few
    features (values that no split of a tree model tells apart do not differ). Beyond, and where
    a table takes more than 67 million model rows, they are estimates with standard errors unless
    ``exact=True`` insists: by ``budget``, ``tolerance`` or ``seconds``, and without these to
    within 1 % of the largest difference between a row's output and that of the background, or
    from 16 384 coalitions and two for each feature; a warning says so, and what exact values take.

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
    about = {
        "output": output,
        "y": y,
        "times": times,
        "link": link,
        "sample_weight": sample_weight,
    }
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
        part = replace(call, criterion=Owen(nested))
        if _too_long(part.posed(part_game)) is not None:
            return _value(game, call)  # errors are those of one sample of all features
        found.append(_value(part_game, part))
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
        link: str | Function | None = None,
        sample_weight: ArrayLike | None = None,
        temperature: Temperature | None = None,
        **options: Any,
    ) -> None:
        _check_background(background, "give the criterion by criterion=")
        self._call = call_of(criterion, temperature=temperature, **options)
        _ = self._call.chosen  # options are checked here
        background, weights = weighted_rows(background, sample_weight)
        self._model, self._background = model, background
        self._about = {
            "output": output,
            "groups": groups,
            "times": times,
            "link": link,
            "sample_weight": weights,
        }
        self._first: Game | None = None
        if not (background is None or callable(background) or output == "label"):
            self._keep(_one_of(background))

    def __call__(self, rows: Any, y: Any = None) -> Valuation:
        return _value(self.game(rows, y), self._call)

    def game(self, rows: Any, y: Any = None) -> Game:
        """The game of these rows, which any criterion values."""
        if y is None and self._first is None:
            return self._keep(rows)
        if y is None and isinstance(self._first, FeatureGame | TreeGame | LinearGame):
            with suppress(EncodingError):
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
    """The valuation of a game of features, estimated where exact values would take too long."""
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
        warnings.warn(
            f"{game!r}: exact values {why}, so these are estimated{within} from at most {budget:,} "
            "coalitions, with their errors in stderr; give a tolerance=, budget= or seconds= of your "
            f"own, group features, or {game.info.advice}",
            stacklevel=3,
        )
        problem = call.posed(game)
    return call.answer(problem)


def _too_long(problem: Problem) -> str | None:
    """Why exact values are not computed unasked, where they are not."""
    source, game = problem.source, problem.game
    if not source.tabled or source.evaluated or problem.options.exact:
        return None
    if source.out_of_reach():
        return "are out of reach"
    rows = _model_rows(game)
    asked = "which exact=True would ask for"
    return f"take {rows:,} model rows, {asked}" if rows > MOST_ROWS else None


def _model_rows(game: Game) -> int:
    """The model rows of a table, as far as they are known."""
    return game.model_rows() if isinstance(game, FeatureGame) else 0


def _affordable(game: Game) -> int:
    """The coalitions of an estimate: as many as model rows allow, within bounds."""
    count = len(game.players)
    many = 2 * count + MOST_COALITIONS
    share: int = 2**count * MOST_ROWS // max(_model_rows(game), 1)
    return min(many, max(FEWEST * count, share))
