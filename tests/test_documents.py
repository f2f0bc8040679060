"""The code blocks of the README and of the other pages run, in order, page by page."""

import re
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


# A frame of Python or of commands, indented where it stands in a tab.
FRAME = re.compile(r"^( *)```(python|sh)\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
# These pages bring the files and the commands that their lines need.
WITH_COMMANDS = ("CONTRIBUTING.md", "commands.md")


def run_commands(block):
    """The lines of a block that call fairfield or the paper's experiments, in this process."""
    from typer.testing import CliRunner

    from fairfield.cli.app import app
    from paper.__main__ import main

    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        if line.startswith("fairfield "):
            ran = CliRunner().invoke(app, words[1:])
            assert ran.exit_code == 0, f"{line}: {ran.output}"
        if line.startswith("python -m paper "):
            assert main(words[3:]) == 0, line


@contextmanager
def own_registries():
    """What is registered inside is forgotten afterwards."""
    from fairfield.cli.app import app
    from fairfield.core.registry import import_all
    from fairfield.criteria import criterion
    from fairfield.estimation.samplers import registry as samplers
    from fairfield.estimation.surrogates import registry as surrogates
    from fairfield.games.trees.readers import registry as readers
    from paper import registry as experiments

    # What was not imported before would be forgotten too.
    for package in (
        "fairfield.criteria",
        "fairfield.estimation.samplers",
        "fairfield.estimation.surrogates",
        "fairfield.games.trees.readers",
        "paper.experiments",
    ):
        import_all(package)
    with pytest.MonkeyPatch.context() as patch:
        by_criterion = {name: dict(known) for name, known in samplers._registered.items()}
        patch.setattr(samplers, "_registered", by_criterion)
        for module, name in (
            (app, "registered_commands"),
            (criterion, "_registered"),
            (surrogates, "_registered"),
            (readers, "READERS"),
            (experiments, "REGISTERED"),
        ):
            patch.setattr(module, name, getattr(module, name).copy())
        yield


@pytest.fixture
def forgotten():
    """What a page registers is not there for later tests."""
    with own_registries():
        yield


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.usefixtures("forgotten")
def test_code_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for _, kind, block in FRAME.findall(page.read_text(encoding="utf-8")):
        if kind == "sh":
            if page.name in WITH_COMMANDS:
                run_commands(block)
        else:
            exec(compile(dedent(block), page.name, "exec"), names)
    if "matplotlib.pyplot" in sys.modules:
        # The pictures of a page are many, and matplotlib warns where more than 20 are open.
        sys.modules["matplotlib.pyplot"].close("all")


def test_what_a_page_registers_is_forgotten():
    from fairfield.estimation.surrogates.registry import surrogate, surrogates

    before = [each.name for each in surrogates()]
    with own_registries():
        surrogate("passing", lambda sample: False)(lambda *sample: None)
        assert "passing" in [each.name for each in surrogates()]
    assert [each.name for each in surrogates()] == before


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r'(?:\]\(|src=")([^)#"]+)[)#"]', page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_every_page_is_in_the_navigation():
    listed = re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(set(pages) - set(listed)) == [], "add these to nav in mkdocs.yml"


def test_public_names_are_in_the_reference():
    import fairfield as ff

    text = "".join(
        page.read_text(encoding="utf-8") for page in (ROOT / "docs/reference").glob("*.md")
    )
    documented = set(re.findall(r"^::: fairfield\.(?:\w+\.)*(\w+)$", text, re.MULTILINE))
    assert set(ff.__all__) - {"learning", "plots"} <= documented  # modules, name by name


def test_claims_stand_where_the_experiments_say():
    """The table of claims is kept from a run; places in the paper must be those of the code."""
    sources = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "paper").rglob("*.py"))
    page = (ROOT / "docs/paper.md").read_text(encoding="utf-8")
    places = re.findall(
        r"^\| (?:reproduced|differs|wrong|open)(?: \(code\))? \| ([A-Za-z][^|]*?) \|",
        page,
        re.MULTILINE,
    )
    assert len(places) > 40
    assert [each for each in places if f'"{each.split(", n =")[0]}' not in sources] == []


def test_one_version():
    import fairfield as ff

    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited[1] == ff.__version__


def test_the_skeleton_game_equals_its_table(tmp_path):
    """What CONTRIBUTING shows must be right, not only run."""
    import numpy as np
    from numpy.testing import assert_allclose

    import fairfield as ff
    from fairfield.core.coalitions import enumerate_coalitions
    from fairfield.multilinear.table import TableExtension

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
