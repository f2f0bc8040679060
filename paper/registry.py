"""The one list of experiments: a file in ``paper/experiments`` registers its own.

@experiment("flid", "FLID games with known marginals.")
def find(run: Run) -> Finding: ...
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fairfield.core.registry import import_all, refuse_taken
from paper.claims import Finding
from paper.run import Run

Find = Callable[[Run], Finding]


@dataclass(frozen=True)
class Experiment:
    """What can be run: its name, one sentence, and the function that runs it.

    ``place`` orders the page. Long experiments run after all others. ``problems`` names the
    problems of data valuation it can be restricted to. ``not_run`` is the finding, given the
    reason, where its data cannot be had and other experiments are to go on.
    """

    name: str
    sentence: str
    find: Find
    place: int = 100
    long: bool = False
    problems: tuple[str, ...] = ()
    not_run: Callable[[str], Finding] | None = None


REGISTERED: dict[str, Experiment] = {}


def experiment(
    name: str,
    sentence: str,
    *,
    place: int = 100,
    long: bool = False,
    problems: tuple[str, ...] = (),
    not_run: Callable[[str], Finding] | None = None,
) -> Callable[[Find], Find]:
    """Register the decorated function as an experiment; the fields of ``Experiment``."""

    def register(find: Find) -> Find:
        held = REGISTERED.get(name)
        refuse_taken(f"an experiment {name!r}", held and held.find, find)
        REGISTERED[name] = Experiment(name, sentence, find, place, long, problems, not_run)
        return find

    return register


def experiments() -> list[Experiment]:
    """All experiments, in the order of the page."""
    import_all("paper.experiments")
    return sorted(REGISTERED.values(), key=lambda each: (each.place, each.name))
