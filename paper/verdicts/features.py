"""Verdicts on feature valuation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from paper.claims import CODE, WRONG, Claim, holds
from paper.readings import NORM, WHERE
from paper.run import CRITERIA
from paper.study import PAPER_ACCURACY, PAPER_CONVERGENCE

# The decoupling errors of the authors' notebook: XGBoost, row 1 of the data.
NOTEBOOK = (0.032201, 0.081885, 0.081227)
FIRST = {"xgboost": "Capital Gain", "logistic": "Education-Num", "mlp": "Capital Gain"}
# Features on which the paper's average rankings do not agree.
COLOURED = ("Age", "Education-Num", "Capital Loss")
# Within this factor a line of convergence is that of a row: to three digits; refitted.
SAME, REFITTED = 1.02, 1.2

# By model: the share of rows in which each criterion wins.
Shares = Mapping[str, Mapping[str, float]]


def accuracy(model: str, found: Sequence[float], *, few: bool) -> Claim:
    """Training accuracies of the model, of several seeds where it has some; whether more would do.

    One model has the printed accuracy; of several, which differ by their seeds, it is in the range.
    """
    printed = PAPER_ACCURACY[model]
    nearest = min(found, key=lambda each: abs(each - printed))
    met = abs(nearest - printed) < 5e-4 or min(found) <= printed <= max(found)
    spread = (
        f", {min(found):.4f} to {max(found):.4f} over {len(found)} seeds" if len(found) > 1 else ""
    )
    return Claim(
        "App. G.2",
        f"training accuracy of the {model} model",
        f"{printed:.6f}",
        f"{nearest:.6f}{spread}",
        holds(True if met else None if few else False),
        "the parameters are the paper's; fits depend on the library's version"
        + (", and on the seed: the nearest is shown, and their range" if spread else ""),
    )


def least_accurate(found: Mapping[str, float]) -> Claim:
    return Claim(
        "App. G.4",
        "the logistic model has the lowest training accuracy of the three",
        "lowest",
        ", ".join(f"{model} {each:.4f}" for model, each in found.items()),
        holds(found["logistic"] == min(found.values())),
    )


def notebook(errors: Sequence[float]) -> Claim:
    apart = max(abs(a - b) for a, b in zip(errors, NOTEBOOK, strict=True))
    return Claim(
        "the authors' notebook",
        "decoupling errors of row 1, XGBoost, T = .1: index / Shapley / Banzhaf",
        " / ".join(f"{each:.6f}" for each in NOTEBOOK),
        " / ".join(f"{each:.6f}" for each in errors),
        holds(apart < 1e-5),
        "",
        CODE,
    )


def lowest(shares: Shares, means: str) -> Claim:
    """By model and temperature, the share of rows in which a criterion's error is the smallest."""
    won = {name: each[CRITERIA[0]] for name, each in shares.items()}
    return Claim(
        "Sec. 5.2",
        "the index always has the smallest decoupling error",
        "always",
        ", ".join(f"{name} {100 * each:.4g} %" for name, each in won.items()) + " of rows",
        holds(min(won.values()) == 1),
        f"mean errors, index / Shapley / Banzhaf: {means}",
    )


def fastest(right: Shares, left: str) -> Claim:
    """By model, the share of rows in which a criterion's curve is lowest, in the right order."""
    usual = {model: max(each, key=each.__getitem__) for model, each in right.items()}
    return Claim(
        "Sec. 5.2",
        "the index usually induces the fastest drop of the predicted probability",
        "usually",
        "index / Shapley / Banzhaf: " + _shares(right),
        holds(all(name == CRITERIA[0] for name in usual.values())),
        "share of rows in which the mean probability over all removals is lowest, ties in part, T = .1; mean "
        f"probabilities left: {left}. The paper shows single rows",
    )


def mirrored(right: Shares, drawn: Shares) -> Claim:
    """The same shares, in the right order and as the released notebook removes."""
    index = CRITERIA[0]
    gained = [m for m in right if _wins(drawn[m], index) and not _wins(right[m], index)]
    return Claim(
        "Sec. 5.2, and released notebook",
        "the curves remove the most important features first",
        "curves drawn",
        "mirrored, index / Shapley / Banzhaf: " + _shares(drawn),
        holds(not gained, WRONG),
        "the notebook mirrors the features when it removes them, as the data code does; only so the index is "
        f"most often the fastest for {', '.join(gained) or 'no model'}",
        CODE,
    )


def waterfall(fits: Mapping[float, Sequence[int]], rows: int) -> Claim:
    """By temperature, the rows whose rankings are those of the figure's first line."""
    shown = "; ".join(
        f"T = {T:g}: {len(each)} of {rows:,}" + (f" (rows {', '.join(map(str, each[:5]))}{' …' if len(each) > 5 else ''})" if each else "")
        for T, each in fits.items()
    )  # fmt: skip
    return Claim(
        "Fig. 3, first line",
        "XGBoost: Capital Loss and Relationship first by all criteria, Marital Status 3rd, 4th, 3rd",
        "a row",
        f"so ranked at {shown}",
        holds(any(fits.values())),
        "by index, Shapley and Banzhaf; the row is not named, and T not either where it is not .1",
    )


def rankings_differ(shares: Mapping[str, float]) -> Claim:
    """By model the share of rows in which the three do not rank alike."""
    return Claim(
        "Sec. 5.2, Fig. 3",
        "the three criteria indeed produce different rankings of the features",
        "different",
        ", ".join(f"{model} {100 * each:.0f} %" for model, each in shares.items()) + " of rows",
        holds(all(each > 0 for each in shares.values())),
    )


def alike_rows(shares: Mapping[str, float]) -> Claim:
    """By model the share of rows in which the three rank alike."""
    return Claim(
        "Fig. 7",
        "there are rows with not very distinguishable results",
        "shown",
        ", ".join(f"{model} {100 * each:.0f} %" for model, each in shares.items())
        + " of rows ranked alike",
        holds(any(each > 0 for each in shares.values())),
    )


def coloured(places: Mapping[str, Sequence[int]], *, few: bool) -> Claim:
    """By feature its average rank by the three criteria; whether these are means of few rows."""
    apart = [feature for feature, each in places.items() if len(set(each)) > 1]
    met = set(COLOURED) <= set(apart)
    return Claim(
        "Fig. 4",
        "XGBoost, income above 50K: the three do not agree on Age, Education-Num and Capital Loss",
        "ranks differ",
        "; ".join(f"{name} {', '.join(map(str, places[name]))}" for name in COLOURED),
        holds(True if met else None if few else False),
        f"average ranks by index, Shapley, Banzhaf; they differ for {', '.join(apart) or 'none'}",
    )


def firsts(found: Mapping[str, str], *, few: bool) -> Claim:
    """By model the feature that the index ranks first on average, income above 50K."""
    met = dict(found) == FIRST
    return Claim(
        "App. G.4",
        "income above 50K: Education-Num is first for the logistic model, Capital Gain for the others",
        ", ".join(FIRST.values()),
        ", ".join(f"{model}: {feature}" for model, feature in found.items()),
        holds(True if met else None if few else False),
    )


def marital(places: Sequence[tuple[int, ...]], *, few: bool) -> Claim:
    """The average rank of Marital Status by the three criteria, of MLPs of several seeds."""
    met = sum(each == (2, 3, 3) for each in places)
    return Claim(
        "App. G.4",
        "MLP: the index ranks Marital Status second, Shapley and Banzhaf third",
        "2, 3, 3",
        f"in {met} of {len(places)} seeds",
        holds(True if met else None if few else False),
        "ranks by seed: " + "; ".join(", ".join(map(str, each)) for each in places),
    )


def line(
    model: str,
    found: Sequence[FloatArray],
    factors: Sequence[float],
    near: BoolArray,
    *,
    few: bool,
) -> Claim:
    """Table 1's line of a model beside row 0 at T = .5: numbers and factors, by seed.

    ``near`` says of every row and T whether it is within the same factor: where many are, one
    of them says nothing, and only row 0, which is that of the other models, can be the line's.
    """
    nearest = int(np.argmin(factors))
    at, exact = factors[nearest], factors[nearest] < SAME
    refits = f"; the nearest of {len(factors)} seeds" if len(factors) > 1 else ""
    return Claim(
        WHERE,
        f"features, {model}",
        ", ".join(f"{v:.3g}" for v in PAPER_CONVERGENCE[model]),
        ", ".join(f"{v:.3g}" for v in found[nearest]),
        holds(True if at < REFITTED else None if few else False),
        f"row 0 at T = .5, {NORM}: within a factor of {at:.3g} where the numbers are above rounding"
        f"{refits}{'' if exact else '; the model was fitted anew, which moves digits'}. Of {near.size:,} rows and "
        f"temperatures {int(near.sum()):,} are within a factor of {REFITTED}",
    )


def _wins(shares: Mapping[str, float], name: str) -> bool:
    return shares[name] == max(shares.values())


def _shares(found: Shares) -> str:
    return "; ".join(
        f"{model} " + " / ".join(f"{100 * each[name]:.0f}" for name in CRITERIA) + " %"
        for model, each in found.items()
    )
