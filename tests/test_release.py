"""What a release is made with: workflows, the recipe, one version."""

import importlib.util
import re
import subprocess
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


def test_parts_of_the_check_keep_their_last_outcome(tmp_path, monkeypatch, capsys):
    place = importlib.util.spec_from_file_location("check", ROOT / "release/check.py")
    check = importlib.util.module_from_spec(place)
    place.loader.exec_module(check)
    monkeypatch.setattr(check, "RESULT", tmp_path / "RESULT.md")

    def lines():
        written = (tmp_path / "RESULT.md").read_text(encoding="utf-8")
        return [line.split(" | ")[:3] for line in written.removeprefix(check.HEAD).splitlines()]

    with check.recorded("extras: ml", "3.12"):
        raise subprocess.CalledProcessError(1, "pip")
    with check.recorded("build: wheel", "3.11"):
        pass
    assert lines() == [
        ["| build: wheel", "in order", "3.11"], ["| extras: ml", "failed", "3.12"],
    ]  # fmt: skip
    assert check.failures == ["extras: ml"]
    with check.recorded("extras: ml", "3.12"):
        pass
    assert lines()[1] == ["| extras: ml", "in order", "3.12"]
