"""What a release is made with: workflows, the recipe, one version."""

import re
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
