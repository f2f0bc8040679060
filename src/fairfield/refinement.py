"""Games of many players looked at closely where values are large."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from fairfield.core.checks import whole
from fairfield.criteria.criterion import Given, valued
from fairfield.results.valuation import Valuation

# Players at first: so few that a share of the budget values them well.
FIRST = 16


class Refinable(Protocol):
    """A game whose players can be joined, and divided where values are large."""

    players: tuple[Any, ...]

    def coarser(self: Refined, most: int) -> Refined:
        """The game of at most so many players, each of them several that belong together."""
        ...

    def refined(self: Refined, valuation: Any, most: int) -> Refined:
        """The game in which the players of the largest |value| are divided."""
        ...


Refined = TypeVar("Refined", bound=Refinable)


def refine(
    game: Refined,
    criterion: Given = "shapley",
    *,
    rounds: int = 4,
    most: int = 4,
    budget: int = 4000,
    **options: Any,
) -> tuple[Refined, Valuation]:
    """The game divided where values are large, and the values of its players.

    A picture of hundreds of segments has too many for exact values, and for good estimates from few
    evaluations; most of them do not matter. So segments are joined to 16 at first, and in each of the
    ``rounds`` those ``most`` of the largest \\|value\\| are divided into four, down to the segments of the
    game that was given, or to pixels where it has 16 or fewer. The ``budget`` is that of all rounds, in
    equal shares: values are exact where a share holds all coalitions, and estimates with standard errors
    otherwise. What is not divided is valued as a whole. Other keywords are the criterion's own, or those of
    :class:`fairfield.Options`.

    >>> import numpy as np
    >>> import fairfield as ff
    >>> spot = ff.ImageGame(lambda images: images[:, 5, 9], np.ones((32, 32)), segments=(16, 16), mask=0.0)
    >>> closer, v = refine(spot, most=1)
    >>> found = closer.segments == v.ranking()[0]
    >>> len(spot.players), len(v.players), np.argwhere(found).tolist()
    (256, 22, [[4, 8], [4, 9], [5, 8], [5, 9]])
    """
    if not hasattr(game, "refined"):
        raise TypeError(f"{game!r} has no players that can be divided; give an ImageGame")
    share = whole("budget", budget) // (whole("rounds", rounds) + 1)
    last = min(len(game.players), FIRST) + 3 * whole("most", most) * rounds
    if share < 2 * last + 2:  # as estimates need
        raise ValueError(
            f"budget={budget} is {share} for each of {rounds + 1} valuations, the last of up to {last} "
            f"players; give {(2 * last + 2) * (rounds + 1)} or more, or fewer rounds="
        )
    if len(game.players) > FIRST:
        game = game.coarser(FIRST)
    found = valued(criterion, game, budget=share, **options)
    for _ in range(rounds):
        finer = game.refined(found, most)
        if finer.players == game.players:
            break
        game = finer
        found = valued(criterion, game, budget=share, **options)
    return game, found
