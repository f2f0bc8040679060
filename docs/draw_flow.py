"""Draws docs/flow.svg: what happens between a call and its answer.

Run with ``python docs/draw_flow.py``, and look at what it wrote.
"""

from html import escape
from pathlib import Path

WIDTH, HEIGHT = 176, 78
LEFT, TOP, ACROSS, DOWN = 10, 20, 206, 122

# Place in the grid, title, what it does, the room.
BOXES = {
    "game": (0, 0, "Game", ["players, worths,", "describe, info"], "games/"),
    "problem": (
        1,
        0,
        "Problem",
        ["every argument checked,", "no worth evaluated yet"],
        "problem.py",
    ),
    "source": (
        2,
        0,
        "Source",
        ["closed form, table,", "or neither: estimate"],
        "multilinear/choose.py",
    ),
    "evaluator": (
        2,
        1,
        "Evaluator",
        ["each coalition once;", "workers, store, progress"],
        "evaluation/",
    ),
    "criterion": (1, 1, "Criterion", ["exact(problem) or", "estimator(problem)"], "criteria/"),
    "loop": (1, 2, "ask / tell", ["design, surrogate,", "correction"], "estimation/"),
    "extension": (3, 0, "Extension", ["f, ∇f, ∇²f at any x,", "exactly"], "multilinear/, games/"),
    "law": (3, 1, "Law", ["log Z, marginals of", "p(S) ∝ exp(F(S)/T)"], "boltzmann/, mcmc/"),
    "assemble": (2, 2, "assemble", ["values, marginals,", "decoupling error"], "assemble.py"),
    "valuation": (
        3,
        2,
        "Valuation",
        ["shown, saved, plotted,", "reported"],
        "results/, plots/, reports/",
    ),
}
ARROWS = [
    ("game", "problem"),
    ("problem", "source"),
    ("source", "extension"),
    ("source", "evaluator"),
    ("problem", "criterion"),
    ("criterion", "loop"),
    ("loop", "evaluator"),
    ("extension", "law"),
    ("criterion", "assemble"),
    ("loop", "assemble"),
    ("law", "assemble"),
    ("assemble", "valuation"),
]


def corner(name: str) -> tuple[float, float]:
    column, row = BOXES[name][:2]
    return LEFT + ACROSS * column, TOP + DOWN * row


def box(name: str) -> list[str]:
    x, y = corner(name)
    _, _, title, lines, room = BOXES[name]
    texts = [f'<text class="title" x="{x + 10}" y="{y + 20}">{escape(title)}</text>']
    for k, line in enumerate(lines):
        texts.append(f'<text x="{x + 10}" y="{y + 37 + 15 * k}">{escape(line)}</text>')
    texts.append(f'<text class="room" x="{x + 10}" y="{y + 70}">{escape(room)}</text>')
    return [f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="7"/>', *texts]


def arrow(first: str, second: str) -> str:
    (ax, ay), (bx, by) = corner(first), corner(second)
    ax, ay, bx, by = ax + WIDTH / 2, ay + HEIGHT / 2, bx + WIDTH / 2, by + HEIGHT / 2
    dx, dy = bx - ax, by - ay

    def edge(sign: float, x: float, y: float) -> tuple[float, float]:
        """Where the line between the centres leaves a box."""
        share = min(WIDTH / 2 / abs(dx) if dx else 9.0, HEIGHT / 2 / abs(dy) if dy else 9.0)
        return x + sign * dx * share, y + sign * dy * share

    (x, y), (u, v) = edge(1, ax, ay), edge(-1, bx, by)
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" marker-end="url(#tip)"/>'


def main() -> None:
    width, height = LEFT * 2 + ACROSS * 3 + WIDTH, TOP + DOWN * 2 + HEIGHT + 12
    parts = [part for name in BOXES for part in box(name)]
    text = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12">
<title>From a game to a valuation</title>
<style>
rect {{ fill: #f4f6fa; stroke: #5b6b8c; }} text {{ fill: #27324a; }} .title {{ font-weight: 600; font-size: 13.5px; }}
.room {{ fill: #6b7894; font-size: 10.5px; font-family: ui-monospace, monospace; }} line {{ stroke: #5b6b8c; stroke-width: 1.4; }}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#5b6b8c"/></marker></defs>
<rect x="0" y="0" width="{width}" height="{height}" style="fill: #ffffff; stroke: none"/>
{chr(10).join(parts)}
{chr(10).join(arrow(*each) for each in ARROWS)}
</svg>
"""
    Path(__file__).with_name("flow.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
