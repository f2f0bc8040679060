"""Our own times before and after a change: the benchmarks of two commits in alternating runs.

    python benchmarks/before_after.py COMMIT [--runs 5]

Each run is a new process with the source and the scripts of its own commit. Peers are replaced by
stand-ins that answer zeros, and those of data are shortened: only our times count. A row
is one time of one script: the median before, the median after, their ratio, and the largest ratio
of two runs of the same commit, which is what the machine alone does.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from measure import machine, show

ROOT = Path(__file__).resolve().parent.parent
SHAP = """
import types, numpy
__version__ = "0"
class _Explainer:
    def __init__(self, *given, **named): pass
    def shap_values(self, rows, **named): return numpy.zeros(numpy.shape(rows))
    def __call__(self, rows, **named): return types.SimpleNamespace(values=self.shap_values(rows))
explainers = types.SimpleNamespace(Exact=_Explainer)
maskers = types.SimpleNamespace(Independent=_Explainer)
"""
SCRIPTS = {
    "exact": ["benchmarks/exact.py"],
    "neighbors": ["benchmarks/neighbors.py"],
    "features": ["benchmarks/features.py"],
    "data": [
        "-c",
        "import sys; sys.path.insert(0, 'benchmarks'); import data;"
        "data.GROUPS, data.CHUNKS = 8, 8; data.overhead()",
    ],
}
TIMES = re.compile(r"\b(?<!bare predict )ms\b|engine, CPU s|^Shapley$|^index$|gradient, ms")
THEIRS = re.compile(r"shap\.|shapiq|bare")
INLINE = re.compile(r"^\s+(\w[^\d]*\w)\s+([\d.]+) (?:s|ms)\b")
ALIGNED = re.compile(r"\s{2,}")


def printed(tree: Path, script: str, stand_ins: Path) -> str:
    paths = [str(stand_ins), str(tree / "src"), str(tree)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TQDM_DISABLE": "1"}
    command = [sys.executable, *SCRIPTS[script]]
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{script} in {tree} failed:\n{run.stderr[-2000:]}")
    return run.stdout


def times(text: str) -> dict[str, float]:
    """The times that a script printed, each named by what stands before it."""
    found: dict[str, float] = {}
    title, columns = "", [""]
    for line in text.splitlines():
        if line.startswith("#") or (line and line[0].isdigit()):
            title = line.strip("# ")
        elif line.startswith("| ") and not columns[0]:
            columns = line.strip("| ").split(" | ")
        elif line.startswith("| "):
            cells = line.strip("| ").split(" | ")
            measured = (TIMES.search(column) or THEIRS.search(column) for column in columns)
            timed = [at for at, seen in enumerate(measured) if seen]
            label = " ".join(cells[: min(timed, default=0)])
            for column, cell in zip(columns, cells, strict=False):
                if TIMES.search(column) and not THEIRS.search(column):
                    found[f"{title}: {label}, {column}"] = float(cell)
        elif inline := INLINE.match(line):
            found[f"{title}: {inline[1]}"] = float(inline[2])
        elif "gradient ms" in line:
            columns = ALIGNED.split(line.strip())
        elif columns[0] and re.fullmatch(r"[\d.,\s]+", line) and line.strip():
            cells = line.split()
            for column, cell in zip(columns, cells, strict=False):
                if column.endswith((" s", " ms")):
                    found[f"{columns[0]} {' '.join(cells[:-3])}: {column}"] = float(cell)
        elif not line.strip():
            columns = [""]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=list(SCRIPTS), choices=list(SCRIPTS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stand_ins, before = Path(folder, "peers"), Path(folder, "before")
        stand_ins.mkdir()
        (stand_ins / "shap.py").write_text(SHAP, encoding="utf-8")
        worktree = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*worktree, "add", "-q", "--detach", str(before), given.commit], check=True)
        try:
            print(f"# Before ({given.commit}) and after, medians of {given.runs}\n\n{machine()}")
            for script in given.only:
                taken: tuple[dict[str, list[float]], ...] = defaultdict(list), defaultdict(list)
                for _ in range(given.runs):
                    for tree, kept in zip((before, ROOT), taken, strict=True):
                        for name, seconds in times(printed(tree, script, stand_ins)).items():
                            kept[name].append(seconds)
                rows = []
                for name in taken[0]:
                    old, new = taken[0][name], taken[1].get(name, [float("nan")])
                    first, second = statistics.median(old), statistics.median(new)
                    spread = max(max(old) / min(old), max(new) / min(new)) if min(old) > 0 else 1.0
                    ratio = second / first if first else 1.0
                    rows.append((name, first, second, f"{ratio:.2f}", f"{spread:.2f}"))
                show(script, ("what", "before", "after", "after ÷ before", "spread"), rows)
                ratios = [float(row[3]) for row in rows]
                print(f"\nmedian of the ratios: {statistics.median(ratios):.3f}", flush=True)
        finally:
            subprocess.run([*worktree, "remove", "--force", str(before)], check=True)


if __name__ == "__main__":
    main()
