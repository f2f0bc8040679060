"""Functions that mean outputs go through: the logit, or one of the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray

Link = Callable[[Any], Any]


def link_of(link: str | Link | None) -> Link | None:
    """The function that mean outputs go through, by name or as it is.

    >>> float(link_of("logit")(0.5))
    0.0
    """
    if link is None or callable(link):
        return link
    if link == "logit":
        return _logit
    raise ValueError(f"there is no link {link!r}; give 'logit' or a function of the mean output")


def linked_name(name: str, unit: str, link: Link | None) -> tuple[str, str]:
    """What an output is called behind a link, and its unit.

    >>> linked_name("probability of class 1", "probability", link_of("logit"))
    ('logit of the probability of class 1', 'log-odds')
    """
    if link is None:
        return name, unit
    log_odds = link is _logit and unit == "probability"
    called = getattr(link, "__name__", "link").lstrip("_")
    return f"{called} of the {name}", "log-odds" if log_odds else ""


def linked(means: FloatArray, link: Link | None) -> FloatArray:
    """Mean outputs behind a link."""
    if link is None:
        return means
    # A copy, since a link may answer in one buffer again and again.
    found = np.array(link(means), dtype=float)
    if found.shape != means.shape:
        raise ValueError(
            f"the link returned shape {found.shape} for {means.shape}; it must work cell by cell"
        )
    return found


def _logit(probability: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(probability) - np.log1p(-np.asarray(probability)))
