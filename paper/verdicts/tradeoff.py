"""Verdicts on decoupling and fairness over steps K and temperatures T."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import FloatArray
from paper.claims import WRONG, Claim, holds, share

TEMPERATURES, STEPS = (0.1, 0.2, 0.5, 1.0), 10
WHERE = "Sec. 4.2 and 4.4"
EXACT = 1e-9


@dataclass(frozen=True)
class Grid:
    """A game over K = 1 … 10 (columns) and the temperatures (rows).

    ``errors`` are decoupling errors, ``values`` and ``marginals`` standard deviations over the
    players, ``apart`` the largest distance of a K-step value from the index; ``best`` holds
    the index's own error and spreads (T, 3). ``additivity`` are violations of that axiom, in
    units of the worths.
    """

    title: str
    errors: FloatArray
    values: FloatArray
    marginals: FloatArray
    apart: FloatArray
    additivity: FloatArray
    best: FloatArray
    banzhaf: float


def flatter(grids: Sequence[Grid]) -> Claim:
    falls = np.concatenate([np.diff(each.best[:, 2]) <= 1e-12 for each in grids])
    return Claim(
        WHERE,
        "a higher T leads to flatter assignments, a lower one to more concentrated ones",
        "in words",
        f"the spread of the marginals falls in {share(falls)} steps of T",
        holds(bool(falls.all())),
        "standard deviations at T = .1, .2, .5, 1: "
        + "; ".join(
            f"{each.title}: marginals {', '.join(f'{s:.3g}' for s in each.best[:, 2])}, values "
            f"{', '.join(f'{s:.3g}' for s in each.best[:, 1])} (Banzhaf's {each.banzhaf:.3g})"
            for each in grids
        )
        + ". The values T·logit x* do not flatten, they tend to Banzhaf's",
    )


def closer(grids: Sequence[Grid]) -> Claim:
    far = [
        (each.title, T, line)
        for each in grids
        for T, line in zip(TEMPERATURES, each.apart, strict=True)
    ]
    falls = [_closes_in(line) for _, _, line in far]
    stuck = [
        f"{title} at T = {T:g}: {line[-1]:.2g} away after {STEPS} steps"
        for (title, T, line), fell in zip(far, falls, strict=True)
        if not fell
    ]
    return Claim(
        "Sec. 4.2",
        "with more steps the K-step values come closer to the variational index",
        "closer",
        f"at every step in {share(falls)} cases of game and T",
        holds(not stuck, WRONG),
        "where the steps overshoot, Alg. 1 alternates instead of closing in: " + "; ".join(stuck)
        if stuck
        else "",
    )


def two_sided(grids: Sequence[Grid]) -> Claim:
    """Said among the axioms: fewer steps keep one more of them, more steps decouple better.

    Where Alg. 1 does not close in on the index, more steps are no way to it: that is judged above.
    T tunes fairness as equal importance.
    """
    lower = np.array([line[-1] < line[0] for each in grids for line in each.errors])
    closes = np.array([_closes_in(line) for each in grids for line in each.apart])
    first = [line[0] < EXACT < line[1:].min() for each in grids for line in each.additivity]
    flat = [bool((np.diff(each.best[:, 2]) <= 1e-12).all()) for each in grids]
    wider = [line[-1] >= line[0] - 1e-12 for each in grids for line in each.values]
    falling = [bool((np.diff(each.best[:, 0]) <= 0).all()) for each in grids]
    lost = [line[-1] for each in grids for line in each.additivity]
    return Claim(
        WHERE,
        "K and T tune a tradeoff between decoupling and fairness",
        "in words",
        f"from 1 to {STEPS} steps the error falls in {share(lower)} cases, in {share(lower[closes])} where Alg. 1 closes in; "
        f"only K = 1 is additive in {share(first)}; a higher T is flatter in {share(flat)} games",
        holds(bool(closes.any() and lower[closes].all()) and all(first) and all(flat)),
        "the sentence stands among the axioms: one step satisfies additivity too, and more steps give it up (by "
        f"{min(lost):.2g} to {max(lost):.2g} after {STEPS}) for a smaller error; T sets how equal importance is. "
        f"Were fairness equal values, more steps would cost it in {share(wider)} cases, where these spread. With rising T "
        f"the error falls throughout in {share(falling)} games: where marginals flatten as well, T alone trades nothing",
    )  # fmt: skip


def _closes_in(apart: FloatArray) -> bool:
    """Whether every step comes closer to the index."""
    return bool((np.diff(apart) <= 1e-12).all())
