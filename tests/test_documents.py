"""The code blocks of the README and of the other pages run, in order, page by page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_skeleton_game_equals_its_table(tmp_path):
    """What CONTRIBUTING shows must be right, not only run."""
    import numpy as np
    from numpy.testing import assert_allclose

    import fairfield as ff
    from fairfield.coalitions import enumerate_coalitions
    from fairfield.extension.table import TableExtension

    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    names = {}
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], names)
    game = names["TeamGame"]([3.0, 1.0, -2.0, 0.5])
    closed = game.extension()
    table = TableExtension.of(ff.TableGame(game.worths(enumerate_coalitions(4))))
    x = np.random.default_rng(0).random((5, 4))
    assert_allclose(closed.value(x), table.value(x), atol=1e-12)
    assert_allclose(closed.gradient(x), table.gradient(x), atol=1e-12)
    assert_allclose(closed.hessian(x), table.hessian(x), atol=1e-12)
    assert_allclose(closed.shapley(), table.shapley(), atol=1e-12)
    assert_allclose(
        ff.variational_index(game, temperature=9.0).values,
        ff.variational_index(game.worths(enumerate_coalitions(4)), temperature=9.0).values,
        atol=1e-9,
    )


def test_pages_do_not_share_stores():
    """A store belongs to one game, so pages that run one after another need their own."""
    owners = {}
    for page in PAGES:
        for name in set(re.findall(r'store="([^"]+)"', page.read_text(encoding="utf-8"))):
            blocks = "".join(
                re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
            )
            if f'store="{name}"' in blocks:
                assert owners.setdefault(name, page) == page, (name, owners[name].name, page.name)
