"""What each feature adds to how well a model predicts, in one call."""

from __future__ import annotations

from typing import Any

from fairfield.boltzmann.temperature import Temperature
from fairfield.criteria.criterion import Given, call_of
from fairfield.feature_values import feature_values
from fairfield.games.features.groups import Groups
from fairfield.games.features.importance import ImportanceGame
from fairfield.results.valuation import Valuation


def importance(
    model: Any,
    X: Any,
    y: Any,
    background: Any = None,
    criterion: Given = "shapley",
    *,
    scoring: Any = None,
    by: Any = None,
    groups: Groups | None = None,
    temperature: Temperature | None = None,
    **options: Any,
) -> Valuation:
    """What each feature adds to the score of a model on X and y: SAGE, by Shapley's value.

    The score is that of the mean outputs of the model over background rows, as
    :class:`fairfield.ImportanceGame` has it: minus the log-loss of a classifier, minus the mean squared
    error of any other model, unless ``scoring`` says otherwise. A value above 0 is of a feature that
    makes predictions better; the values add up to what all of them do. ``background=None`` takes
    X itself, ``by`` gives the values of each cohort.

    Exact up to 25 features, from Σ 2^d model rows, d the features in which a row and a background
    row differ; a few hundred background rows do. Beyond, and where that takes more than 67 million
    model rows, it is estimated as :func:`fairfield.explain` does, with standard errors and a
    warning, unless ``exact=True`` insists; ``budget``, ``tolerance`` or ``seconds`` choose another
    precision. The criterion's own keywords are passed on, and so
    are those of :class:`fairfield.Options`. ``ff.interactions(ff.ImportanceGame(…))`` has the interactions.

    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> importance(lambda X: X[:, 0] + 2 * X[:, 1], X, y=[0.0, 2.0, 1.0, 3.0]).values
    array([0.25, 1.  ])
    """
    game = ImportanceGame(model, X, y, background, scoring=scoring, by=by, groups=groups)
    return feature_values(game, call_of(criterion, temperature=temperature, **options))
