"""A comparison as one file: HTML that needs no network, JSON, CSV or text.

:func:`~fairfield.reports.summarise.summarise` makes plain data of the results; each writer only
puts that data into its form.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from fairfield.core.writing.files import write_file
from fairfield.criteria.annealing import Annealing
from fairfield.curves import Curve
from fairfield.learning.scores import ScoreTable
from fairfield.reports.page import html
from fairfield.reports.plain import csv, json, text
from fairfield.reports.summarise import summarise
from fairfield.results.comparison import Comparison
from fairfield.results.interactions import Interactions
from fairfield.results.valuation import Valuation

WRITERS = {".html": html, ".htm": html, ".json": json, ".csv": csv, ".txt": text}
# Players a page shows; other forms hold all of them.
MOST_PLAYERS = 5000


def report(
    comparison: Comparison | Valuation,
    path: str | PathLike[str],
    *,
    annealing: Annealing | None = None,
    interactions: Interactions | None = None,
    curves: Curve | Iterable[Curve] | None = None,
    scores: ScoreTable | None = None,
    title: str | None = None,
) -> Path:
    """The path of a report: one file of what was found, for people (HTML) or programs (JSON).

    The ending of ``path`` picks the form: ``.html`` is an interactive page in one file that
    needs no network (plotly inside, about 2 MB), ``.json``, ``.csv`` and ``.txt`` are plain.
    ``annealing`` gives the page its temperature slider, ``interactions`` a heat map,
    ``curves`` the worths as players leave or join, ``scores`` how well a learned game predicts.
    ``title`` stands above it all, the game where it is left out.

    >>> import tempfile, fairfield as ff
    >>> found = ff.compare([0, 1, 1, 5], temperature=1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ff.report(found, f"{folder}/report.csv").read_text().splitlines()[0]
    'player,variational_index,variational_index marginal,banzhaf,banzhaf marginal,shapley,shapley marginal'
    """
    place = Path(path)
    if place.suffix.lower() not in WRITERS:
        raise ValueError(
            f"a report cannot be written to {place.name!r}; end the name in {', '.join(WRITERS)}"
        )
    writer = WRITERS[place.suffix.lower()]
    found = summarise(
        comparison,
        annealing=annealing,
        interactions=interactions,
        curves=curves,
        scores=scores,
        title=title,
        most_players=MOST_PLAYERS if writer is html else None,
    )
    write_file(place, writer(found))
    return place
