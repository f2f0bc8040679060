"""Draws docs/overview.svg: three criteria as readings of one gradient field.

Two players, one game; arrows show ∇f, which every criterion reads. Run with
``python docs/draw_overview.py``.
"""

from pathlib import Path

import numpy as np

import fairfield as ff
from fairfield.multilinear.table import TableExtension

WORTHS = [0.0, 0.9, -0.9, 1.8]
TEMPERATURE = 0.6
SIZE, LEFT, TOP = 300, 60, 40
DASHES = 'stroke-dasharray="7 5"'


def at(x: np.ndarray) -> tuple[float, float]:
    return LEFT + SIZE * x[0], TOP + SIZE * (1 - x[1])


def path(points: np.ndarray) -> str:
    return "M" + " L".join(f"{a:.1f},{b:.1f}" for a, b in map(at, points))


def field() -> list[str]:
    f = TableExtension.of(ff.TableGame(WORTHS))
    marks = np.linspace(0.06, 0.94, 9)
    lines = []
    for x in ((a, b) for a in marks for b in marks):
        tip = np.array(x) + 0.045 * f.gradient(np.array(x))
        lines.append(f'<path d="{path(np.array([x, tip]))}" class="field" marker-end="url(#tip)"/>')
    return lines


def text(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{style}">{words}</text>'


def main() -> None:
    steps = ff.variational_values(WORTHS, 12, temperature=TEMPERATURE)
    index = ff.variational_index(WORTHS, temperature=TEMPERATURE)
    values = {
        "Shapley": (
            ff.shapley(WORTHS).values,
            "the gradient averaged along the diagonal",
            "diagonal",
        ),
        "Banzhaf": (
            ff.banzhaf(WORTHS).values,
            "the gradient at ½: one step of the iteration",
            "half",
        ),
        "variational index": (index.values, "the gradient where the iteration ends", "steps"),
    }
    middle, end = at(np.array([0.5, 0.5])), at(index.marginals)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 400" role="img" '
        'aria-label="Shapley, Banzhaf and the variational index read the same gradient field">',
        "<style>text{font:15px sans-serif;fill:#333}.small{font-size:13px;fill:#666}"
        ".title{font-weight:bold}.field{stroke:#bbb;stroke-width:1.2;fill:none}"
        ".diagonal{stroke:#0072b2;stroke-width:3}.half{fill:#d55e00;stroke:#d55e00}"
        ".steps{stroke:#009e73;stroke-width:3;fill:none}</style>",
        '<defs><marker id="tip" markerWidth="5" markerHeight="5" refX="4" refY="2.5" orient="auto">'
        '<path d="M0,0 L5,2.5 L0,5 z" fill="#bbb"/></marker></defs>',
        '<rect width="860" height="400" fill="white"/>',
        f'<rect x="{LEFT}" y="{TOP}" width="{SIZE}" height="{SIZE}" fill="none" stroke="#333"/>',
        *field(),
        f'<path d="{path(np.array([[0, 0], [1, 1]]))}" class="diagonal" {DASHES}/>',
        f'<path d="{path(steps.trajectory)}" class="steps"/>',
        f'<circle cx="{middle[0]:.1f}" cy="{middle[1]:.1f}" r="6" class="half"/>',
        f'<circle cx="{end[0]:.1f}" cy="{end[1]:.1f}" r="6" fill="#009e73"/>',
        text(LEFT - 12, TOP + SIZE + 22, "∅"),
        text(LEFT + SIZE - 20, TOP - 10, "{ann, bob}"),
        text(LEFT + SIZE - 20, TOP + SIZE + 22, "{ann}"),
        text(LEFT - 40, TOP - 10, "{bob}"),
        text(LEFT + 30, TOP + SIZE + 45, "chance that ann joins →  (up: bob)", "small"),
    ]
    for row, (name, (found, options, style)) in enumerate(values.items()):
        y = TOP + 40 + 95 * row
        mark = (
            f'<circle cx="425" cy="{y - 5}" r="6" class="half"/>'
            if style == "half"
            else f'<path d="M412,{y - 5} h26" class="{style}" {DASHES * (style == "diagonal")}/>'
        )
        parts += [
            mark,
            text(455, y, name, "title"),
            text(455, y + 23, options, "small"),
            text(455, y + 46, f"ann {found[0]:.2f}, bob {found[1]:.2f}"),
        ]
    Path(__file__).with_name("overview.svg").write_text("\n".join([*parts, "</svg>"]) + "\n")


if __name__ == "__main__":
    main()
