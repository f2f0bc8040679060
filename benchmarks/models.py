"""Which models and inputs are explained: fairfield, shap and shapiq beside the definition.

    python benchmarks/models.py > docs/models.md

Each library gets the model itself and the background, as its users write it. The definition is
spelled out here: the mean output over all background rows for every coalition, weighted as
Shapley does. An answer counts as equal if it is the definition of the margin, of the
probability or of the prediction. Times are processor time of a second call.
"""

import itertools
import math
import os
import re
import sys
import time
import warnings
from functools import partial
from importlib.metadata import version

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
import shap
import shapiq
from model_cases import CASES, Case

import fairfield as ff

warnings.filterwarnings("ignore")
# Answers that are equal differ by rounding; some libraries add up in single precision.
EQUAL = 1e-4
HEAD = """# Models and inputs

What `ff.explain(model, rows, background, "shapley")`, `shap.Explainer(model, background)(rows)` and
`shapiq.Explainer(model, background, index="SV", max_order=1)` make of the same model: {rows} rows of 6
columns, 30 background rows. *Equal*: to the definition, spelled out over all coalitions, of the quantity in
brackets; shapiq's explainer of trees is path-dependent, so its numbers are others. Times are processor
time of a second call, mostly of reading so small a model; [larger ones](../benchmarks/RESULTS.md) are
measured elsewhere. A refusal is the first sentence that was said; then the model's function of rows
(probability or prediction) was given in its place. shapiq asks for arrays of numbers, so it gets rows as
such where they can be. Written by `benchmarks/models.py`, with shap {shap}, shapiq {shapiq} and
scikit-learn {sklearn}.

| model | input | fairfield | shap | shapiq |
|---|---|---|---|---|"""


def definition(function, rows, background) -> np.ndarray:
    """Shapley values (rows, columns) of a function of rows, coalition by coalition."""
    rows, background = (pd.DataFrame(each).reset_index(drop=True) for each in (rows, background))
    count, values = rows.shape[1], np.zeros(rows.shape)
    worth = {}
    for x in range(len(rows)):
        mixed, kept = [], list(itertools.product([False, True], repeat=count))
        own = rows.iloc[np.full(len(background), x)].reset_index(drop=True)
        for coalition in kept:
            taken = {j: (own if k else background).iloc[:, j] for j, k in enumerate(coalition)}
            mixed.append(pd.DataFrame(taken).set_axis(rows.columns, axis=1))
        outputs = np.asarray(function(pd.concat(mixed, ignore_index=True)), dtype=float)
        means = outputs.reshape(len(kept), len(background)).mean(axis=1)
        worth = dict(zip(kept, means, strict=True))
        for i, coalition in itertools.product(range(count), kept):
            if not coalition[i]:
                joined = (*coalition[:i], True, *coalition[i + 1 :])
                size = sum(coalition)
                weight = 1 / (count * math.comb(count - 1, size))
                values[x, i] += weight * (worth[joined] - worth[coalition])
    return values


def answered(explain, wanted) -> str:
    """What a library says: equal to which quantity and how fast, other numbers, or a refusal."""
    try:
        explain()
        start = time.process_time()
        found = np.asarray(explain(), dtype=float)
        took = time.process_time() - start
    except BaseException as reason:
        if isinstance(reason, KeyboardInterrupt):
            raise
        return f"refused: {sentence(reason)}"
    for quantity, values in wanted.items():
        shapes = [found, found[..., -1]] if found.ndim == 3 else [found]
        for each in shapes:
            if each.shape == values.shape and np.abs(each - values).max() < EQUAL:
                return f"equal ({quantity}), {1000 * took:.3g} ms"
    return f"other numbers, {found.shape[-1]} columns, {1000 * took:.3g} ms"


def sentence(reason: BaseException) -> str:
    """The first line of an error, as a cell of a table."""
    text = str(reason).strip().split("\n")[0] or type(reason).__name__
    text = re.split(r"[.!] ", text)[0].replace("|", "/")
    return text if len(text) < 140 else f"{text[:137]}…"


def ours(case: Case):
    found = ff.explain(case.model, case.rows, case.background, "shapley", **case.options)
    return found.values if found.outputs is None else np.moveaxis(found.values, -2, -1)


def theirs(case: Case, model):
    return shap.Explainer(model, case.background)(case.rows).values


def shapiqs(case: Case, model):
    rows = np.asarray(case.rows, dtype=float)
    explainer = shapiq.Explainer(
        model, np.asarray(case.background, dtype=float), index="SV", max_order=1
    )
    found = [explainer.explain(row, budget=2 ** rows.shape[1]) for row in rows]
    return [each.get_n_order_values(1) for each in found]


def main() -> None:
    cases = [make() for make in CASES]
    about = {
        "shap": version("shap"),
        "shapiq": version("shapiq"),
        "sklearn": version("scikit-learn"),
    }
    print(HEAD.format(rows=len(cases[0].frame[0]), **about))
    for case in cases:
        wanted = {name: definition(f, *case.frame) for name, f in case.functions.items()}
        cells = [answered(partial(ours, case), wanted)]
        for ask in (theirs, shapiqs):
            cell = answered(partial(ask, case, case.model), wanted)
            if cell.startswith("refused"):
                function = list(case.functions.values())[-1]
                cell += f"; the function: {answered(partial(ask, case, function), wanted)}"
            cells.append(cell)
        print(f"| {case.name} | {case.input} | {' | '.join(cells)} |", flush=True)
        print(case.name, cells[0], file=sys.stderr)


if __name__ == "__main__":
    main()
