"""What the paper leaves open, answered on real games: ``python -m paper.beyond --reference FOLDER``.

How to choose T, when Alg. 1 cycles, what decoupling costs in fairness. Writes the tables of
docs/beyond-the-paper.md between its marks, and a picture.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import fairfield as ff
from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.multilinear.table import TableExtension
from paper.experiments.flid import flid_game
from paper.kept import versions
from paper.splits import PROBLEMS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Temperatures as multiples of Banzhaf's own scale.
MULTIPLES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
STEPS, SETTLED = 300, 1e-6
# Real games are cut to so many players where they have more: the others stay out.
MOST = 12


@dataclass(frozen=True)
class Reading:
    """One game at one multiple c of its scale.

    ``lowest`` and ``highest`` are the extreme eigenvalues of D^½ H D^½ / T at the index, ``settled``
    whether Alg. 1 from ½ came to rest, ``decided`` the median of 2|x* - ½|, ``alike`` the rank
    correlation with Banzhaf, ``errors`` the decoupling errors of index, Shapley and Banzhaf,
    ``best`` that of the best of eight starts, ``missing`` |Σ values - (F(N) - F(∅))| / Σ |Shapley|.
    ``ahead`` is the smallest eigenvalue of ∇²f(½) / 4T, known before any iteration.
    """

    game: str
    multiple: float
    temperature: float
    lowest: float
    highest: float
    settled: bool
    decided: float
    alike: float
    errors: tuple[float, float, float]
    best: float
    missing: float
    ahead: float

    @property
    def predicted(self) -> bool:
        """Whether both eigenvalues say that the steps of Alg. 1 shrink at the index."""
        return self.lowest > -1 and self.highest < 1


def read(name: str, worths: FloatArray, multiple: float) -> Reading:
    """All that is read off a game at one temperature."""
    from scipy.stats import spearmanr

    game = ff.TableGame(worths)
    found = ff.compare(game, temperature=ff.relative(multiple))
    index, T = found["variational_index"], float(np.asarray(found["variational_index"].temperature))
    x = index.marginals
    best = ff.variational_index(game, temperature=T, starts=8)
    steps = ff.variational_values(game, STEPS, temperature=T, decoupling=False)
    moved = np.abs(np.diff(steps.trajectory[-2:], axis=0)).max()
    root, f = np.sqrt(x * (1 - x)), TableExtension.of(game)
    eigenvalues = np.linalg.eigvalsh(root[:, None] * f.hessian(x) * root) / T
    return Reading(
        name, multiple, T, float(eigenvalues[0]), float(eigenvalues[-1]), bool(moved < SETTLED),
        float(np.median(2 * np.abs(x - 0.5))),
        float(spearmanr(index.values, found["banzhaf"].values).statistic),
        tuple(float(np.asarray(found[k].decoupling_error)) for k in ("variational_index", "shapley", "banzhaf")),
        float(np.asarray(best.decoupling_error)),
        float(abs(index.values.sum() - worths[-1] + worths[0]) / np.abs(found["shapley"].values).sum()),
        float(np.linalg.eigvalsh(f.hessian(np.full(len(x), 0.5)))[0]) / (4 * T),
    )  # fmt: skip


def games(reference: Path) -> dict[str, FloatArray]:
    """Real games of the reference folder, the authors' data games, and three FLID games."""
    found: dict[str, FloatArray] = {}
    with np.load(reference / "games.npz", allow_pickle=False) as held:
        for name in held["names"].tolist():
            worths = held[f"{name}/values"][: 2**MOST]
            if np.ptp(worths) < 1e6:  # one of them is a stress test of numbers, not of criteria
                found[name] = worths
    for name in PROBLEMS:
        file = reference / f"paper_{name}.npz"
        with np.load(file, allow_pickle=False) as held:
            if "worths" in held.files:
                found[name] = held["worths"][: 2**MOST]
    for n, d in ((6, 8), (8, 8), (10, 4)):
        found[f"FLID n={n}, D={d}"] = flid_game(n, d, 0).worths(enumerate_coalitions(n))
    return found


def by_multiple(readings: Sequence[Reading]) -> list[str]:
    """How to choose T: one row for each multiple, means over the games."""
    lines = ["| T / scale | decided | rank correlation with Banzhaf | error of Banzhaf / of the index | Alg. 1 settles | several solutions |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for c in MULTIPLES:
        here = [r for r in readings if r.multiple == c]
        ratio = np.median([r.errors[2] / max(r.errors[0], 1e-12) for r in here])
        other = sum(r.best < r.errors[0] * (1 - 1e-6) - 1e-9 for r in here)
        lines.append(
            f"| {c:g} | {np.mean([r.decided for r in here]):.2f} | {np.mean([r.alike for r in here]):.3f} | "
            f"{ratio:.2f} | {sum(r.settled for r in here)} of {len(here)} | {other} of {len(here)} |"
        )
    return lines


def cycles(readings: Sequence[Reading]) -> list[str]:
    """When Alg. 1 cycles: what the eigenvalues at the index say, and what it did."""
    lines = ["| eigenvalues | games × T | Alg. 1 settled |", "|---|---|---|"]
    cases = {
        "at the index, the smallest at most −1": [r for r in readings if r.lowest <= -1],
        "at the index, all within (−1, 1)": [r for r in readings if r.predicted],
        "at ½, the smallest at most −1": [r for r in readings if r.ahead <= -1],
        "at ½, the smallest above −1": [r for r in readings if r.ahead > -1],
        "both smallest above −1": [r for r in readings if min(r.ahead, r.lowest) > -1],
    }
    for name, here in cases.items():
        lines.append(f"| {name} | {len(here)} | {sum(r.settled for r in here)} |")
    return lines


def fairness(readings: Sequence[Reading]) -> list[str]:
    """Decoupling against fairness: one row for each game at T = scale."""
    lines = [r"| game | T | error: index, best of 8 starts | Shapley | Banzhaf | index's values off F(N) − F(∅), of Σ \|Shapley\| |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for r in readings:
        if r.multiple == 1.0:
            index, shapley, banzhaf = r.errors
            lines.append(
                f"| {r.game} | {r.temperature:.3g} | {index:.3g}, {r.best:.3g} | {shapley:.3g} | {banzhaf:.3g} | {100 * r.missing:.0f} % |"
            )
    return lines


def papers(reference: Path) -> list[str]:
    """The paper's temperatures in units of the games' own scale, of all players."""
    lines = ["| problem | the paper's T | T / scale |", "|---|---|---|"]
    for name, problem in PROBLEMS.items():
        with np.load(reference / f"paper_{name}.npz", allow_pickle=False) as held:
            worths = held.get("worths")
        if worths is not None:
            banzhaf = ff.banzhaf(ff.TableGame(worths)).values
            scale = np.sum(banzhaf**2) / np.sum(np.abs(banzhaf))
            lines.append(
                f"| {problem.title} | {problem.temperature:g} | {problem.temperature / scale:.1f} |"
            )
    return lines


def draw(readings: Sequence[Reading]) -> Figure:
    """The smallest eigenvalue over T, where Alg. 1 settled and where it did not."""
    from matplotlib.figure import Figure

    from fairfield.plots.canvas import SERIES

    figure = Figure(figsize=(6.5, 3.2), layout="constrained")
    ax = figure.subplots()
    for settled, colour, label in ((True, SERIES[0], "settles"), (False, SERIES[1], "does not")):
        here = [r for r in readings if r.settled is settled]
        ax.semilogx([r.multiple for r in here], [r.lowest for r in here], "o" if settled else "x",
                    color=colour, label=f"Alg. 1 {label}")  # fmt: skip
    ax.axhline(-1, color="#9a9a9a", linestyle="--")
    ax.set(xlabel="T / scale", ylabel="smallest eigenvalue of D^½HD^½/T")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def fill(page: str, tables: dict[str, list[str]]) -> str:
    """The page with each table between its marks."""
    for name, lines in tables.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = page.partition(start)
        _, _, after = rest.partition(end)
        page = "\n".join([before + start, "", *lines, "", end + after])
    return page


def main() -> None:
    """Compute the tables and write them into the page."""
    from paper.claims import save_figure

    parser = argparse.ArgumentParser(prog="python -m paper.beyond", description=__doc__)
    parser.add_argument(
        "--reference", type=Path, required=True, help="the folder of reference games"
    )
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="the folder of the page")
    options = parser.parse_args()
    played = games(options.reference)
    readings = [read(name, worths, c) for name, worths in played.items() for c in MULTIPLES]
    save_figure(draw(readings), options.docs / "images" / "paper" / "cycles.svg")
    page = options.docs / "beyond-the-paper.md"
    made = [
        f"*Made by `python -m paper.beyond` with {versions()}: {len(played)} games at {len(MULTIPLES)} temperatures.*"
    ]
    tables = {"temperature": by_multiple(readings), "papers": papers(options.reference), "cycles": cycles(readings),
              "fairness": fairness(readings), "made": made}  # fmt: skip
    page.write_text(fill(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
