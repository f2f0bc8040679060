"""Feature valuation on Adult by the paper's three models: its figures and tables.

Verdicts on the numbers found here are in ``paper/verdicts``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.arrays import BoolArray, IntArray
from paper.adult import MODELS, fit, load_adult
from paper.claims import Claim, Finding, Table, holds
from paper.readings import NORM
from paper.registry import experiment
from paper.rows import draw_row, draw_statistics
from paper.run import CRITERIA, Run
from paper.study import PAPER_ACCURACY, Study, sample_rows, study
from paper.verdicts import features as judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_ROWS = 40
# The MLP is another model with every seed and version: so many are tried, on so many rows.
SEEDS, QUICK_SEEDS, SEED_ROWS = 20, 1, 2000
# Rows whose rankings at T = .5 are those of Fig. 3; those of Table 1 and of the authors' notebook.
FIGURE_ROWS, MORE_ROWS = (1098, 18364, 21652, 24038, 26627), (0, 1)
LEADERS = ("Capital Loss", "Relationship")
HOW_TO_GET = (
    "Adult was not at hand: download it from the UCI repository (data set 2) or run where OpenML can "
    "be reached, then pass --data FOLDER with adult_train.csv.gz, or set FAIRFIELD_DATA"
)
# By model, then by temperature.
Studies = Mapping[str, Mapping[float, Study]]


def not_run(reason: str) -> Finding:
    """What is said where the data is not at hand."""
    claim = Claim("Sec. 5.2", "all claims about features", "", "not run", holds(None), HOW_TO_GET)
    return Finding("features", "Feature valuation on Adult", f"not run: {reason}", [claim])


@experiment("features", "Feature valuation on Adult, by three models.", place=5, not_run=not_run)
def find(run: Run) -> Finding:
    """The paper's study of an income, by three models.

    Cost: for each row and model its table of 4096 worths; for all 32 561 rows and 20 seeds of the
    MLP half an hour of one core.
    """
    import xgboost

    X, y = load_adult(run.data)
    rows = sample_rows(y, min(QUICK_ROWS, len(y)), run.seed) if run.quick else np.arange(len(y))
    models = {name: _fitted(name, X, y) for name in MODELS}
    studies = {
        name: study(name, model, X, y, rows, run, f"features-{'quick-' if run.quick else ''}{name}")
        for name, model in models.items()
    }
    few = _within(y, [*MORE_ROWS, *FIGURE_ROWS])
    named = {name: study(name, model, X, y, few, run) for name, model in models.items()}
    seeds = _seeds(X, y, run)
    cold = {name: each[0.1] for name, each in studies.items()}
    figures = _figures(studies, named)
    return Finding(
        "features",
        "Feature valuation on Adult",
        f"{len(rows):,} training rows{'' if len(rows) == len(y) else ' drawn at random'}, "
        f"{int(y[rows].sum()):,} of them with an income above 50K; T = .1 and .5; 100 background rows; "
        f"models fitted to all training rows with the paper's parameters (XGBoost {xgboost.__version__}); MLP also with {len(seeds)} seeds "
        f"on {len(next(iter(seeds.values()))[0.1].rows):,} rows",
        [
            *(judge.accuracy(name, [each[0.1].accuracy], few=False) for name, each in studies.items() if name != "mlp"),
            judge.accuracy("mlp", [each[0.1].accuracy for each in seeds.values()], few=len(seeds) < SEEDS),
            judge.least_accurate({name: each.accuracy for name, each in cold.items()}),
            judge.notebook([float(named["xgboost"][0.1].errors[name][1]) for name in CRITERIA]),
            judge.lowest(*_lowest(studies)),
            judge.fastest({n: s.fastest() for n, s in cold.items()}, _left(cold)),
            judge.mirrored(*({n: s.fastest(mirrored=way) for n, s in cold.items()} for way in (False, True))),
            judge.waterfall(_fits(named["xgboost"] if run.quick else studies["xgboost"]), len(few) if run.quick else len(rows)),
            judge.rankings_differ({n: 1 - _alike(s) for n, s in cold.items()}),
            judge.alike_rows({n: _alike(s) for n, s in cold.items()}),
            judge.coloured(_places(cold["xgboost"]), few=run.quick),
            judge.firsts({n: s.ranking(CRITERIA[0], True)[0][0] for n, s in cold.items()}, few=run.quick),
            judge.marital([tuple(s[0.1].place(c, "Marital Status") for c in CRITERIA) for s in seeds.values()], few=len(seeds) < SEEDS),
            *(
                _line(name, [named[name]] if name != "mlp" else list(seeds.values()), studies[name], few=len(seeds) < SEEDS)
                for name in MODELS
            ),
        ],
        {"features": _table(studies), **_rankings(studies)},
        figures,
        {name: _caption(name) for name in figures},
    )  # fmt: skip


def _fitted(name: str, X: Any, y: BoolArray, seed: int = 0) -> Any:
    with warnings.catch_warnings():
        # The paper stops the MLP after 300 epochs, settled or not.
        warnings.filterwarnings("ignore", message="Stochastic Optimizer: Maximum iterations")
        return fit(name, X, y, seed)


def _within(y: BoolArray, rows: list[int]) -> IntArray:
    """The named rows that the data has."""
    return np.array([row for row in rows if row < len(y)])


def _seeds(X: Any, y: BoolArray, run: Run) -> dict[int, dict[float, Study]]:
    """MLPs of several seeds, on row 0 and others drawn at random."""
    count = min(QUICK_ROWS if run.quick else SEED_ROWS, len(y))
    rows = np.concatenate([[0], 1 + sample_rows(y[1:], count - 1, run.seed)])
    name = "mlp-quick" if run.quick else "mlp"
    return {
        seed: study("mlp", _fitted("mlp", X, y, seed), X, y, rows, run, f"{name}-{seed}")
        for seed in range(run.seed, run.seed + (QUICK_SEEDS if run.quick else SEEDS))
    }


def _lowest(studies: Studies) -> tuple[dict[str, dict[str, float]], str]:
    each = {f"{name} T = {T:g}": s for name, at in studies.items() for T, s in at.items()}
    means = "; ".join(
        f"{name} " + " / ".join(f"{s.errors[c].mean():.4f}" for c in CRITERIA) for name, s in each.items()
    )  # fmt: skip
    return {name: s.lowest_error() for name, s in each.items()}, means


def _left(studies: Mapping[str, Study]) -> str:
    return "; ".join(
        f"{name} " + " / ".join(f"{s.left()[c]:.4f}" for c in CRITERIA)
        for name, s in studies.items()
    )


def _fits(studies: Mapping[float, Study]) -> dict[float, list[int]]:
    """By temperature the rows with the rankings of the first line of Fig. 3."""
    found = {}
    for T, s in studies.items():
        fits = np.ones(len(s.rows), dtype=bool)
        for criterion, place in zip(CRITERIA, (3, 4, 3), strict=True):
            first = np.stack([s.places(criterion, name) for name in LEADERS])
            fits &= (np.sort(first, axis=0) == [[1], [2]]).all(axis=0)
            fits &= s.places(criterion, "Marital Status") == place
        found[T] = s.rows[fits].tolist()
    return found


def _alike(s: Study) -> float:
    """The share of rows in which the three criteria rank alike."""
    return float(_same_order(s).mean())


def _same_order(s: Study) -> BoolArray:
    orders = [np.argsort(-s.values[name], axis=1, kind="stable") for name in CRITERIA]
    same = [(order == orders[0]).all(axis=1) for order in orders[1:]]
    return np.asarray(np.logical_and(*same))


def _places(s: Study) -> dict[str, list[int]]:
    return {name: [s.place(criterion, name) for criterion in CRITERIA] for name in s.features}


def _line(
    name: str, found: list[Mapping[float, Study]], every: Mapping[float, Study], *, few: bool
) -> Claim:
    """Row 0 at T = .5, of one model or of several seeds, and how many of all rows come as near."""
    lines = [s[0.5].convergence(NORM)[:, 0] for s in found]
    factors = [float(s[0.5].apart(NORM)[0]) for s in found]
    near = [each.apart(NORM) < judge.REFITTED for each in every.values()]
    return judge.line(name, lines, factors, np.concatenate(near), few=few)


def _table(studies: Studies) -> Table:
    head = ("model", "T", "accuracy", "paper's accuracy", "criterion", "mean decoupling error",
            "lowest error in", "mean probability left", "lowest curve in", "mirrored: left", "lowest in")  # fmt: skip
    rows = [
        (
            s.model, T, s.accuracy, PAPER_ACCURACY[s.model], name, float(s.errors[name].mean()),
            s.lowest_error()[name], s.left()[name], s.fastest()[name],
            s.left(mirrored=True)[name], s.fastest(mirrored=True)[name],
        )
        for each in studies.values()
        for T, s in each.items()
        for name in CRITERIA
    ]  # fmt: skip
    return Table(head, rows, "Errors and removal by model, temperature and criterion")


def _rankings(studies: Studies) -> dict[str, Table]:
    """The second and third lines of Fig. 4, 8, 9, 10: average rankings, by mean values at T = .1."""
    figures = {"xgboost": "Fig. 4 and 8", "mlp": "Fig. 9", "logistic": "Fig. 10"}
    found = {}
    for name, each in studies.items():
        for label in (True, False):
            orders = [each[0.1].ranking(criterion, label) for criterion in CRITERIA]
            rows = [
                (place, *(f"{feature} {mean:+.4f}" for feature, mean in line))
                for place, line in enumerate(zip(*orders, strict=True), 1)
            ]
            title = f"{figures[name]}: average ranking, {name}, income {'above' if label else 'at most'} 50K"
            found[f"ranks_{name}_{label}"] = Table(("rank", *CRITERIA), rows, title)
    return found


def _figures(studies: Studies, named: Studies) -> dict[str, Figure]:
    boxes = {f"statistics_{name}": draw_statistics(each[0.1]) for name, each in studies.items()}
    at = {int(row): k for k, row in enumerate(named["xgboost"][0.5].rows)}
    figure_row = at.get(FIGURE_ROWS[0], 0)
    alike = [each[0.1] for each in studies.values()]
    return {
        "fig3": draw_row([each[0.5] for each in named.values()], [figure_row] * len(named)),
        "fig6": draw_row(
            [named["xgboost"][0.1], named["xgboost"][0.5]], [at.get(1, 0), at.get(0, 0)]
        ),
        "fig7": draw_row(alike, [int(_same_order(s).argmax()) for s in alike]),
        **boxes,
    }


def _caption(name: str) -> str:
    return {
        "fig3": "Fig. 3: removal curves (right order; dashed: mirrored, as the notebook draws) and waterfalls of the "
        "values by the three criteria, with their decoupling errors (hollow: negative), of a row that fits its first line, T = .5; XGBoost, "
        "logistic, MLP.",
        "fig6": "Fig. 6, further rows: row 1 at T = .1 (the authors' notebook) and row 0 at T = .5 (the row of "
        "Table 1), XGBoost.",
        "fig7": "Fig. 7, not very distinguishable: of each model the first row that all three rank alike, T = .1.",
        "statistics_xgboost": "Fig. 4 and 8: values over the rows of each label, XGBoost, T = .1.",
        "statistics_mlp": "Fig. 9: the same, MLP.",
        "statistics_logistic": "Fig. 10: the same, logistic regression.",
    }[name]
