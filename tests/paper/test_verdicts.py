"""Every verdict follows its evidence: numbers that confirm a claim, and numbers that refute it."""

import ast
import importlib
import pkgutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import paper.verdicts
from paper.claims import VERDICTS
from paper.splits import PROBLEMS
from paper.verdicts import (
    algorithms,
    convergence,
    data,
    features,
    flid,
    large,
    samples,
    statements,
    tradeoff,
)

YES, NO, WRONG, OPEN = "reproduced", "differs", "wrong", "open"
A = np.array
INDEX, SHAPLEY, BANZHAF = "variational_index", "shapley", "banzhaf"


def won(*shares):
    return dict(zip((INDEX, SHAPLEY, BANZHAF), shares, strict=True))


SWING = algorithms.Swing(0.2, 0.5, 0.5, 1.0, 0.5, 0.5)
DIGITS = PROBLEMS["digits"]
THEIRS = A(DIGITS.errors)
ROWS = np.tile([[0.1, 0.2, 0.3]], (4, 1))
LINE = A([0.1] * 6)
NEAR = A([False, True])
GRID = tradeoff.Grid(
    "game", np.tile([0.2, 0.1], (4, 1)), np.tile([1.0, 2.0], (4, 1)), np.tile([0.2, 0.1], (4, 1)),
    np.tile([0.2, 0.1], (4, 1)), np.tile([0.0, 0.1], (4, 1)), np.tile(A([4.0, 3, 2, 1])[:, None], (1, 3)), 1.0,
)  # fmt: skip
UP = np.tile([1.0, 2.0], (4, 1))
FIRST = dict(features.FIRST)
PLACES = {"Age": (1, 2, 1), "Education-Num": (2, 1, 2), "Capital Loss": (3, 4, 3)}
LINES = {INDEX: (1, 2, 3), BANZHAF: (1, 2, 3), SHAPLEY: (2, 3, 4)}
TWICE = {**LINES, INDEX: (1, 2, 1)}
SLOWER, SAME = {20: A([4.0, 5, 4]), 200: A([2.0, 2, 2])}, {20: A([2.0, 2, 2]), 200: A([2.0, 2, 2])}
FLOORS = {20: LINE, 200: LINE}

# Of every judge: evidence and the verdict on it.
CASES = {
    statements.maximum_entropy: [((-1.0, 2.0, 2.0), YES), ((0.1, 2.0, 2.0), NO), ((-1.0, 1.0, 2.0), NO)],
    statements.positive_temperature: [((A([0.1, 2.0]), 0.1, -0.1, 0.0, 1.0), YES), ((A([-0.1, 2.0]), 0.1, -0.1, 0.0, 1.0), NO), ((A([0.1, 2.0]), -0.1, -0.1, 0.0, 1.0), NO)],
    statements.independent: [((0.0,), YES), ((0.1,), NO)],
    statements.elbo: [((0.0, 0.0, 0.0), YES), ((0.1, 0.0, 0.0), NO), ((0.0, 0.1, 0.0), NO), ((0.0, 0.0, 0.1), NO)],
    statements.equilibrium: [((0.0,), YES), ((0.1,), NO)],
    statements.one_step: [((0.0,), YES), ((0.1,), NO)],
    statements.line_integral: [((0.0, 0.0), YES), ((0.0, 0.1), NO), ((0.1, 0.0), NO)],
    statements.less_weight: [((A([2.0, 1, 2]),), YES), ((A([1.0, 2, 1]),), NO)],
    statements.probabilistic: [((0.0,), YES), ((0.1,), NO)],
    statements.axioms: [((0.0,), YES), ((0.1,), NO)],
    statements.additive: [((0.0, 0.1), YES), ((0.1, 0.1), NO)],
    statements.own_marginalism: [((0.0, 0.0), YES), ((0.0, 0.1), NO)],
    statements.proof_of_symmetry: [((0.0, 0.0), YES), ((0.1, 0.0), WRONG)],
    statements.voting_game: [((A(statements.VOTING),), YES), ((1 - A(statements.VOTING),), NO)],
    algorithms.convergence: [(([SWING],), YES), (([SWING, replace(SWING, last=0.9)],), WRONG)],
    algorithms.full_gradient: [
        ((A([1.0, 0.5]), A([0.9, 0.9]), A([0.9, 0.9]), A([0.4, 0.7])), YES), ((A([0.9, 0.9]), A([0.9, 0.9]), A([0.9, 0.9]), A([0.7, 0.7])), NO),
        ((A([1.0, 0.5]), A([0.9, 0.8]), A([0.9, 0.9]), A([0.4, 0.7])), NO),
    ],
    algorithms.stationary_only: [((2.0, 1.0), YES), ((1.0, 1.0), NO)],
    algorithms.start_matters: [((0.5, 0.0), YES), ((0.0, 0.0), NO), ((0.5, 0.5), NO)],
    algorithms.hot: [((0.001, 0.1, 1.0), YES), ((0.1, 0.1, 1.0), NO)],
    algorithms.cold: [((0.001,), YES), ((0.4,), NO)],
    algorithms.hoeffding: [((0.5, 0.6), YES), ((0.7, 0.6), WRONG)],
    algorithms.one_shot: [((100, 100, 0.1, 0.1), YES), ((900, 100, 0.1, 0.1), NO)],
    algorithms.index_without_temperature: [((0.2, 0.1, 0.2), YES), ((2.0, 0.2, 0.2), WRONG)],
    algorithms.plain_sum: [((3.0, 3.0), YES), ((np.inf, 3.0), WRONG)],
    flid.submodular: [((0.0, 0.0), YES), ((0.1, 0.0), NO), ((0.0, 0.1), NO)],
    flid.best: [((np.ones((3, 6), bool), "error", A([1.0, 2, 3])), YES), ((np.eye(6, dtype=bool), "error", A([1.0, 2, 3])), NO)],
    flid.alg1_settles: [(({(6, 4): 0}, 5), YES), (({(6, 4): 0, (6, 8): 1}, 5), WRONG)],
    flid.alg1_best: [((np.ones((3, 6), bool),), YES), ((~np.eye(6, dtype=bool),), NO)],
    flid.legend: [((dict.fromkeys(flid.STORED, (0.0, 1.0, 0.0, 1.0)),), YES), ((dict.fromkeys(flid.STORED, (0.5, 1.0, 0.0, 1.0)),), NO)],
    data.errors: [
        ((DIGITS, THEIRS, ROWS, 12), YES), ((DIGITS, 1.01 * THEIRS, ROWS, 12), NO), ((DIGITS, None, ROWS, 5), OPEN),
        ((DIGITS, None, ROWS, 12), NO), ((DIGITS, None, THEIRS * A([[0.5], [2.0]]), 12), YES),
    ],
    data.lowest: [((ROWS,), YES), ((ROWS[:, ::-1],), NO)],
    data.like_banzhaf: [((A([True, False]), A([False, False])), YES), ((A([False]), A([True])), NO)],
    data.values_differ: [((A([True, False]), A([2.0, 1.0])), YES), ((A([True, False]), A([1.0, 2.0])), NO)],
    data.fastest: [((ROWS, {"whole": True}), YES), ((ROWS[:, ::-1], {"whole": True}), NO), ((ROWS[:, ::-1], {"whole": False}), OPEN)],
    data.order_of_removal: [(({"a": (3, 3, 3)},), YES), (({"a": (1, 3, 3)},), WRONG), (({"a": (1, 2, 3)},), NO), (({},), OPEN)],
    data.better_right: [((A([2.0]), A([1.0]), A([1.5])), YES), ((A([1.0]), A([2.0]), A([1.5])), WRONG)],
    data.group_sizes: [(({"a": (True, 5, 5)},), YES), (({"a": (True, 5, 6)},), WRONG), (({"a": (False, 5, 6)},), OPEN)],
    data.single_groups: [((A([0.5, 0.5]), ROWS[0], ROWS[0]), YES), ((A([0.1, 0.5]), ROWS[0], ROWS[0]), WRONG)],
    features.accuracy: [(("mlp", [0.8, 0.8614], {"few": True}), YES), (("mlp", [0.8], {"few": False}), NO), (("mlp", [0.8], {"few": True}), OPEN),
        (("mlp", [0.84, 0.863], {"few": False}), YES), (("mlp", [0.84, 0.86], {"few": False}), NO), (("mlp", [0.863, 0.87], {"few": False}), NO),
    ],
    features.least_accurate: [(({"xgboost": 0.9, "logistic": 0.8, "mlp": 0.85},), YES), (({"xgboost": 0.7, "logistic": 0.8},), NO)],
    features.notebook: [((features.NOTEBOOK,), YES), (((0.1, 0.2, 0.3),), NO)],
    features.lowest: [(({"mlp": won(1, 0, 0)}, ""), YES), (({"mlp": won(0.99, 0.01, 0)}, ""), NO)],
    features.fastest: [(({"mlp": won(0.5, 0.3, 0.2)}, ""), YES), (({"mlp": won(0.5, 0.3, 0.2), "logistic": won(0.1, 0.6, 0.3)}, ""), NO)],
    features.mirrored: [(({"mlp": won(0.5, 0.3, 0.2)}, {"mlp": won(0.5, 0.3, 0.2)}), YES), (({"mlp": won(0.1, 0.5, 0.4)}, {"mlp": won(0.5, 0.3, 0.2)}), WRONG)],
    features.waterfall: [(({0.1: [], 0.5: [7]}, 10), YES), (({0.1: [], 0.5: []}, 10), NO)],
    features.rankings_differ: [(({"mlp": 0.5},), YES), (({"mlp": 0.5, "logistic": 0.0},), NO)],
    features.alike_rows: [(({"mlp": 0.5},), YES), (({"mlp": 0.0},), NO)],
    features.coloured: [((PLACES, {"few": False}), YES), (({**PLACES, "Age": (1, 1, 1)}, {"few": False}), NO), (({**PLACES, "Age": (1, 1, 1)}, {"few": True}), OPEN)],
    features.firsts: [((FIRST, {"few": False}), YES), (({**FIRST, "mlp": "Age"}, {"few": False}), NO), (({**FIRST, "mlp": "Age"}, {"few": True}), OPEN)],
    features.marital: [(([(3, 3, 3), (2, 3, 3)], {"few": False}), YES), (([(3, 3, 3)], {"few": False}), NO), (([(3, 3, 3)], {"few": True}), OPEN)],
    features.line: [(("mlp", [LINE, LINE], [9.0, 1.1], NEAR, {"few": False}), YES), (("mlp", [LINE], [9.0], NEAR, {"few": False}), NO), (("mlp", [LINE], [9.0], NEAR, {"few": True}), OPEN)],
    convergence.line: [(("", "digits", LINE, 9.0, 1.01, True), YES), (("", "digits", LINE, 1.01, 9.0, True), YES), (("", "digits", LINE, 9.0, 9.0, True), NO), (("", "digits", LINE, 1.0, 1.0, False), OPEN)],
    convergence.header: [(({"a": (1.0, 9.0)}, True), YES), (({"a": (9.0, 1.0)}, True), WRONG), (({"a": (9.0, 8.0)}, True), NO), (({"a": (9.0, 1.0)}, False), OPEN)],
    convergence.steps: [(([5, 9], {"whole": True}), YES), (([5, 12], {"whole": True}), NO), (([5, 12], {"whole": False}), OPEN)],
    convergence.cost: [(([5, 9], [12, 16], {"whole": True}), YES), (([99, 9], [12, 16], {"whole": True}), NO), (([99, 9], [12, 16], {"whole": False}), OPEN)],
    tradeoff.flatter: [(([GRID],), YES), (([replace(GRID, best=GRID.best[::-1])],), NO)],
    tradeoff.closer: [(([GRID],), YES), (([replace(GRID, apart=UP)],), WRONG)],
    tradeoff.two_sided: [
        (([GRID],), YES), (([replace(GRID, errors=UP)],), NO), (([GRID, replace(GRID, errors=UP, apart=UP)],), YES), (([replace(GRID, apart=UP)],), NO),
        (([replace(GRID, additivity=UP)],), NO), (([replace(GRID, additivity=0 * UP)],), NO), (([replace(GRID, best=GRID.best[::-1])],), NO),
        (([replace(GRID, values=UP[:, ::-1])],), YES),
    ],
    large.more_similar: [
        ((A([1.0, 2, 1]), A([5.0, 6, 5]), A([1.0, 1, 1])), YES), ((A([5.0, 6, 5]), A([1.0, 2, 1]), A([1.0, 1, 1])), NO),
        ((A([1.0, 2, 1]), A([5.0, 6, 5]), A([9.0, 9, 9])), OPEN), ((A([1.0, 6, 1]), A([5.0, 1, 2]), A([1.0, 1, 1])), OPEN),
    ],
    large.fifteen: [((LINES,), YES), ((TWICE,), WRONG)],
    samples.fewer_epochs: [
        (({1e-5: SLOWER, 3e-5: SLOWER}, SAME, SAME, FLOORS), YES), (({1e-5: SLOWER, 3e-5: SAME}, SLOWER, SLOWER, FLOORS), NO),
        (({1e-5: SAME}, SAME, SAME, FLOORS), NO), (({1e-5: {20: A([2.0, 3, 2]), 200: A([2.0, 2, 2])}}, SAME, SAME, FLOORS), OPEN),
        (({1e-5: {20: A([4.0]), 200: A([2.0])}}, SAME, SAME, FLOORS), OPEN),
    ],
}  # fmt: skip


@pytest.mark.parametrize("judge", CASES, ids=lambda judge: f"{judge.__module__}.{judge.__name__}")
def test_a_verdict_follows_its_evidence(judge):
    expected = [verdict for _, verdict in CASES[judge]]
    assert len(set(expected)) > 1
    for evidence, verdict in CASES[judge]:
        arguments, keywords = _split(evidence)
        claim = judge(*arguments, **keywords)
        assert claim.verdict == verdict, evidence
        assert claim.says
        assert len(claim.ours) < 200  # one short row; details are folded


def _split(evidence):
    """Arguments, and the keywords that may end them."""
    *first, last = evidence
    if isinstance(last, dict) and last and last.keys() <= {"few", "whole"}:
        return first, last
    return evidence, {}


def test_every_judge_is_tested():
    judges = set()
    for each in pkgutil.iter_modules(paper.verdicts.__path__):
        module = importlib.import_module(f"paper.verdicts.{each.name}")
        judges |= {
            f for name, f in vars(module).items()
            if callable(f) and getattr(f, "__module__", "") == module.__name__ and getattr(f, "__annotations__", {}).get("return") == "Claim"
        }  # fmt: skip
    assert judges == set(CASES)


def test_no_verdict_is_written_down():
    """The verdict of a claim is an expression over evidence, nowhere one of the words."""
    root = Path(paper.verdicts.__file__).parents[1]
    claims = [
        call
        for file in root.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Claim"
    ]
    assert len(claims) >= len(CASES)
    for call in claims:
        judged = call.args[4]
        assert isinstance(judged, ast.Call), ast.unparse(judged)
        assert judged.func.id == "holds"
        words = {v.upper() for v in VERDICTS}
        assert not (isinstance(judged.args[0], ast.Name) and judged.args[0].id in words)
        # Only what was never run is open by itself.
        constant = isinstance(judged.args[0], ast.Constant)
        assert not constant or (judged.args[0].value is None and call.args[3].value == "not run")
