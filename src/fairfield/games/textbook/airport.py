"""Airport games: a coalition pays for the longest runway that one of its members needs."""

from __future__ import annotations

from numpy.typing import ArrayLike

from fairfield.core.checks import nonnegative
from fairfield.core.game import Players
from fairfield.games.set_functions.facility_location import FacilityLocationGame


class AirportGame(FacilityLocationGame):
    """The cost of the runway that the most demanding member of a coalition needs.

        F(S) = max_{i∈S} cost_i,    F(∅) = 0

    The Shapley value charges every player an equal share of each piece of runway that they
    use. Source: Littlechild, Owen, Management Science 20 (1973).

    >>> AirportGame([1, 2, 4]).extension().shapley().round(12).tolist()
    [0.333333333333, 0.833333333333, 2.833333333333]
    """

    def __init__(self, costs: ArrayLike, *, players: Players | None = None) -> None:
        super().__init__(nonnegative(costs, "costs")[:, None], players=players)
