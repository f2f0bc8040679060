"""Runs every benchmark, rewrites RESULTS.md and draws docs/charts.md from it: ``make bench``.

Peers need Python 3.12: shap and shapiq in one environment, pyDVL (NumPy below 2) in
another; both are built on first use beside the project. Set FAIRFIELD_PEER_PYTHON to
the interpreter to use.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "RESULTS.md"
SCRIPTS = (
    "imports.py",
    "exact.py",
    "solvers.py",
    "closed_forms.py",
    "partition.py",
    "trees.py",
    "neighbors.py",
    "neighbor_peers.py",
    "regression.py",
    "single_rows.py",
    "comparison",
    "data.py",
    "training.py",
    "ensembles.py",
    "features.py",
)
PEERS = {
    ".venv-peers": [
        "--editable",
        f"{ROOT}[all]",
        "shapiq>=1.8",
        "shap>=0.52",
        "xgboost-cpu",
        "lightgbm",
        "woodelf-explainer>=0.4.8",
    ],
    ".venv-pydvl": ["pydvl==0.10.*", "numpy<2"],
}
INTRODUCTION = """# Benchmarks

Written by `make bench`; every table is printed by the script named above it. Ratios compare what
ran in the same process on the same data; machines differ and are noisy, so read ratios, not times.
A bar is what the project aims at; a figure beyond its bar is a bar missed.
"""


def python312() -> str | None:
    """An interpreter of Python 3.12, if the machine has one."""
    named = os.environ.get("FAIRFIELD_PEER_PYTHON")
    installed = sorted(Path.home().glob(".pyenv/versions/3.12*/bin/python"))
    for candidate in (named, shutil.which("python3.12"), *map(str, installed)):
        if candidate:
            asked = [candidate, "-c", "import sys; print(sys.version_info[:2] == (3, 12))"]
            answer = subprocess.run(asked, capture_output=True, text=True, check=False)
            if answer.stdout.strip() == "True":
                return candidate
    return None


def environment(name: str, base: str) -> Path:
    """The interpreter of a peer environment, built when it is not there."""
    python = ROOT / name / "bin" / "python"
    if not python.exists():
        subprocess.run([base, "-m", "venv", str(ROOT / name)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *PEERS[name]], check=True)
    return python


def main() -> None:
    chosen = sys.argv[1:] or list(SCRIPTS)
    base = python312()
    pages = [INTRODUCTION]
    if base is None:
        pages.append("Python 3.12 was not found, so peers were not measured.\n")
        runner = Path(sys.executable)
    else:
        runner = environment(".venv-peers", base)
        os.environ["FAIRFIELD_PYDVL_PYTHON"] = str(environment(".venv-pydvl", base))
    for script in chosen:
        print(f"running {script}", file=sys.stderr)
        single = script.endswith(".py")
        what = [str(HERE / script)] if single else ["-m", f"benchmarks.{script}"]
        answer = subprocess.run(
            [str(runner), *what], stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT
        )
        named = f"benchmarks/{script}" if single else " ".join(what)
        pages.append(f"`python {named}`\n\n{answer.stdout}")
        # After each script: a long run that is cut off keeps what it has.
        RESULTS.write_text("\n".join(pages), encoding="utf-8")
    subprocess.run([sys.executable, str(HERE / "charts.py")], check=True)


if __name__ == "__main__":
    main()
