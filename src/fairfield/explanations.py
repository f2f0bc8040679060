"""The features behind predictions, in one call."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import elsewhere
from fairfield.core.game import Game
from fairfield.criteria.criterion import Call, Criterion, Given, call_of
from fairfield.feature_values import feature_values
from fairfield.games.choose import game_of
from fairfield.games.features.background.weights import weighted_rows
from fairfield.games.features.game import FeatureGame
from fairfield.games.features.groups import Groups
from fairfield.games.features.linear import LinearGame
from fairfield.games.features.model_output import Function
from fairfield.games.features.pipelines import EncodingError
from fairfield.games.features.rows import as_table
from fairfield.games.trees.game import TreeGame
from fairfield.multilinear.unions import Unions
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
    or not, or a linkage of SciPy. The values are then Owen's, exact for any number of features in a closed form.

    Values are exact wherever that is within reach: always by a closed form, up to 25 features
    by the table of all worths, and beyond where rows differ from the background in few
    features (values that no split of a tree model tells apart do not differ). Beyond, and where
    a table takes more than 67 million model rows, they are estimates with standard errors unless
    ``exact=True`` insists: by ``budget``, ``tolerance`` or ``seconds``, and without these to
    within 1 % of the largest difference between a row's output and that of the background, or
    from as many coalitions as 67 million model rows allow (20 for each feature at least, 16 384 and
    two for each at most); a warning says so, and what exact values take.

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
    call = _call(criterion, unions, temperature, options)

    def game(groups: Groups | None) -> Game:
        return game_of(model, X, background, groups=groups, **about)

    return feature_values(game(groups), call, game, groups)


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
        unions: Unions | None = None,
        times: Any = None,
        link: str | Function | None = None,
        sample_weight: ArrayLike | None = None,
        temperature: Temperature | None = None,
        **options: Any,
    ) -> None:
        _check_background(background, "give the criterion by criterion=")
        self._call = _call(criterion, unions, temperature, options)
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
        # Those of features joined as the families of unions have them.
        self._joined: dict[Any, Explainer] = {}
        if not (background is None or callable(background) or output == "label"):
            self._keep(_one_of(background))

    def __call__(self, rows: Any, y: Any = None) -> Valuation:
        def joining(groups: Any) -> Game:
            return self._of(groups).game(rows, y)

        return feature_values(self.game(rows, y), self._call, joining, self._about["groups"])

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

    def _of(self, groups: Any) -> Explainer:
        """The explainer of other groups of the same columns."""
        key = tuple((player, *columns) for player, columns in groups.items())
        if key not in self._joined:
            about = {**self._about, "groups": groups}
            self._joined[key] = Explainer(self._model, self._background, **about)
        return self._joined[key]

    def __repr__(self) -> str:
        return f"Explainer: {self._call.criterion.label} of {type(self._model).__name__}"

    def __reduce__(self) -> Any:
        # What was read is read again elsewhere: it holds functions of the model's library.
        call = self._call
        given = {"criterion": call.criterion, "temperature": call.temperature, **call.options}
        return _explainer, (self._model, self._background, {**self._about, **given})


def _explainer(model: Any, background: Any, keywords: dict[str, Any]) -> Explainer:
    return Explainer(model, background, **keywords)


def _call(
    criterion: Given,
    unions: Unions | None,
    temperature: Temperature | None,
    options: dict[str, Any],
) -> Call:
    """The call of a criterion, which with unions is Owen's value."""
    if unions is None:
        return call_of(criterion, temperature=temperature, **options)
    name = getattr(criterion, "__name__", criterion)
    if name not in ("variational_index", "shapley", "owen"):
        raise ValueError(
            f"unions= have Owen's values, which are Shapley's in unions, and criterion={name!r} was "
            "given; leave one of them out"
        )
    return call_of("owen", unions, temperature=temperature, **options)


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
