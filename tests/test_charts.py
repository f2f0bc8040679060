"""The page of charts shows what the measurements say."""

import re
from pathlib import Path

from benchmarks.charts import compared, page, readme

ROOT = Path(__file__).resolve().parents[1]
RESULTS = """# Benchmarks

# Trees

### Processor time

| cell | fairfield | others | best |
|---|---|---|---|
| deep | 10 | shap 20 (5), the library's own 5 (7) | 2 |
| index | 10 | — | nan |

# Nearest neighbours of other libraries

### KNN-Shapley, K = 5

| rows × test points | library | seconds | ÷ ours |
|---|---|---|---|
| 10 × 10 | fairfield | 0.5 |  |
| 10 × 10 | pyDVL | 3.0 | 6 × |
| 10 × 10 | shapiq | 2.0 | 4 × |
| 20 × 10 | fairfield | 0.5 |  |
| 20 × 10 | shapiq | shapiq 1.8 is not installed here |  |
"""


def test_peers_are_measured_in_times_of_ours():
    found = compared(RESULTS)
    assert found["Trees"] == [("deep", {"shap": 2.0, "the library's own": 0.5})]
    neighbours = found["Nearest neighbours of other libraries"]
    name = "KNN-Shapley, 10 rows × 10 test points"
    assert neighbours == [(name, {"pyDVL": 6.0, "shapiq": 4.0})]
    assert "faster than ours: the library's own on deep (0.5 ×)." in page(found)


def test_the_page_is_that_of_the_measurements():
    found = compared((ROOT / "benchmarks/RESULTS.md").read_text(encoding="utf-8"))
    assert {peer for cases in found.values() for case in cases for peer in case.times} == {
        "shap", "shapiq", "woodelf", "pyDVL", "the library's own",
    }  # fmt: skip
    text = (ROOT / "docs/charts.md").read_text(encoding="utf-8")
    assert text == page(found), "run: python benchmarks/charts.py"


def test_the_figures_of_the_readme_are_those_of_the_measurements():
    results = (ROOT / "benchmarks/RESULTS.md").read_text(encoding="utf-8")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text == readme(text, results), "run: python benchmarks/charts.py"
    slower = re.sub(r"(?m)^(\| import fairfield \| [\d.]+ \| )[\d.]+", r"\g<1>0.071", results)
    assert "`import fairfield` takes 0.07 s" in readme(text, slower)


def test_every_script_of_a_whole_run_prints_a_title():
    # Without one its tables would count as those of the script before.
    from benchmarks.run_all import HERE, SCRIPTS

    for command in SCRIPTS:
        name = command.split()[0]
        place = HERE / name if name.endswith(".py") else HERE / name / "__main__.py"
        assert re.search(r"""print\(\s*f?"# """, place.read_text(encoding="utf-8")), name
