"""What importing costs: fairfield beside NumPy, shap and shapiq, in new interpreters, warm."""

import statistics
import subprocess
import sys
import time
from importlib.metadata import version

from measure import machine, show

RUNS = 7
TASKS = {
    "Python alone": "pass",
    "import numpy": "import numpy",
    "import fairfield": "import fairfield",
    "fairfield: one Shapley value": "import fairfield as ff; ff.shapley([0.0, 1.0, 1.0, 3.0])",
    "fairfield: every public name": "from fairfield import *",
    "import shap": "import shap",
    "import shapiq": "import shapiq",
}
MODULES = (
    "import sys; before = set(sys.modules); {};"
    "new = {{name.partition('.')[0] for name in set(sys.modules) - before}};"
    "print(len(set(sys.modules) - before), len(new - sys.stdlib_module_names))"
)


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def loaded(code: str) -> list[str]:
    """How many modules the code loads, and of how many packages outside the standard library."""
    command = [sys.executable, "-c", MODULES.format(code)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def main() -> None:
    print(f"# Importing\n\n{machine()}; shap {version('shap')}, shapiq {version('shapiq')}")
    for code in TASKS.values():
        seconds(code)  # compiles and fills the cache of files
    times: dict[str, list[float]] = {task: [] for task in TASKS}
    for _ in range(RUNS):
        for task, code in TASKS.items():
            times[task].append(seconds(code))
    alone = statistics.median(times["Python alone"])
    rows = []
    for task, code in TASKS.items():
        took = statistics.median(times[task])
        bar = "< 0.35 s" if task == "import fairfield" else ""
        rows.append((task, f"{took:.3f}", f"{took - alone:.3f}", *loaded(code), bar))
    show(
        f"Seconds of a new interpreter, medians of {RUNS} alternating runs",
        ("task", "s", "s beyond Python's own", "modules", "packages", "bar"),
        rows,
    )


if __name__ == "__main__":
    main()
