"""What a release is made with: workflows, the recipe, one version."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_actions_of_one_commit_and_may_do_little(path):
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert set(job.get("needs", [])) <= set(workflow["jobs"]), name
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    for action, remark in used:
        pinned = re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) and "# v" in remark
        assert pinned or action.startswith("./"), action


def test_the_recipe_needs_what_the_package_needs():
    import fairfield as ff

    recipe = yaml.safe_load((ROOT / "release/conda/recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert recipe["context"]["version"] == ff.__version__
    needed = {f"python{project['requires-python']}", *project["dependencies"]}
    assert {each.replace(" ", "") for each in recipe["requirements"]["run"]} == needed


def test_the_version_has_its_part_of_the_changelog():
    import fairfield as ff

    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    part = text.split(f"## {ff.__version__}")[1].split("\n## ")[0]
    assert [*re.findall(r"^### (\w+)", part, re.MULTILINE)] == ["Added", "Changed", "Fixed"]


@pytest.fixture
def check(tmp_path, monkeypatch):
    place = importlib.util.spec_from_file_location("check", ROOT / "release/check.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    monkeypatch.setattr(module, "RESULT", tmp_path / "RESULT.md")
    return module


def lines(check):
    written = check.RESULT.read_text(encoding="utf-8")
    return [line.split(" | ")[:3] for line in written.removeprefix(check.HEAD).splitlines()]


def test_parts_of_the_check_keep_their_last_outcome(check, capsys):
    with check.recorded("extras: ml", "3.12"):
        check.run(sys.executable, "-c", "print('nothing found'); raise SystemExit(3)")
    with check.recorded("build: wheel", "3.11") as said:
        said.append(check.run(sys.executable, "-c", "print('tried'); print('3 attempts')"))
    assert lines(check) == [
        ["| build: wheel", "in order; 3 attempts", "3.11"],
        ["| extras: ml", "failed; nothing found", "3.12"],
    ]
    assert check.failures == ["extras: ml"]
    with check.recorded("extras: ml", "3.12"):
        pass
    assert lines(check)[1] == ["| extras: ml", "in order", "3.12"]


def test_a_run_of_everything_leaves_no_older_line(check, monkeypatch, capsys):
    with check.recorded("extras: gone", "3.11"):
        pass
    for name in ("built", "build", "pythons", "bounds", "attacks"):
        monkeypatch.setattr(check, name, lambda *given: None)
    monkeypatch.setattr(check, "tried", lambda *given: None)
    check.main([])
    parts = [line[0] for line in lines(check)]
    assert "| extras: gone" not in parts
    assert parts[-1] == f"| {check.WHOLE}"
    with check.recorded("bounds: lowest versions", "3.11"):
        pass
    assert lines(check)[0][0] == "| bounds: lowest versions"
    assert f"| {check.WHOLE}" not in [line[0] for line in lines(check)]


def test_links_of_the_page_lead_to_the_files_of_the_release():
    place = importlib.util.spec_from_file_location("page", ROOT / "release/page.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    text = '<img src="a.png"> [one](docs/one.md), [two](https://two.org), [here](#speed)'
    there = "https://host.org/me/fairfield"
    assert module.absolute(text, there, "1.2.3") == (
        f'<img src="{there}/raw/v1.2.3/a.png"> [one]({there}/blob/v1.2.3/docs/one.md), '
        "[two](https://two.org), [here](#speed)"
    )
