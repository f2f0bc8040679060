"""Measures everything, writes RESULTS.md, draws docs/charts.md and fills in README.md: ``make bench``.

    python benchmarks/run_all.py                       all of it, and these pages anew
    python benchmarks/run_all.py exact.py data.py      some of it, printed alone

Peers need Python 3.12: shap and shapiq in one environment, pyDVL (NumPy below 2) in
another; both are built on first use beside the project. Set FAIRFIELD_PEER_PYTHON to
the interpreter to use. Nothing is read from the caches of earlier runs. Adult is taken from the folder
that FAIRFIELD_DATA names, or from shared/data beside the project.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "RESULTS.md"
# Each with its arguments, so that none takes more than 15 minutes; without .py: a package.
SCRIPTS = (
    "imports.py",
    "exact.py",
    "solvers.py",
    "closed_forms.py",
    "partition.py 5",
    "trees.py cells",
    "trees.py growth serving",
    "neighbors.py",
    "neighbor_peers.py",
    "regression.py",
    "single_rows.py",
    "comparison",
    "data.py",
    "training.py",
    "ensembles.py",
    "features.py",
    "estimates_subset.py values",
    "estimates_subset.py pairs",
)
# PyTorch is in the project's environment, beside no peer.
OWN = ("training.py",)
PEERS = {
    ".venv-peers": [
        "--editable",
        f"{ROOT}[all,ray]",
        "shapiq>=1.8",
        "shap>=0.52",
        "xgboost-cpu",
        "lightgbm",
        "woodelf-explainer>=0.4.8",
    ],
    ".venv-pydvl": ["pydvl==0.10.*", "numpy<2"],
}
INTRODUCTION = """# Benchmarks

Written by one `make bench`; every table is printed by the command above it. Ratios compare what
ran in the same process on the same data; machines differ and are noisy, so read ratios, not times.
A bar is what the project aims at; a figure beyond its bar is a bar missed. What takes longer has pages
of its own: [all estimates](estimates.md), [their intervals](intervals_by_criterion.md), [the index](index.md),
[interactions](interactions.md), [active design](active_design.md), [GPUs](gpu.md), [trees on them](trees_gpu.md),
[learning](learning.md), [services](remote.md) and [all data sets of the comparison](../docs/data-comparison.md).
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


def measured(command: str, peers: Path) -> tuple[str, bool]:
    """What a script prints below the command that printed it, and whether it came to its end."""
    name, *given = command.split()
    single = name.endswith(".py")
    what = [f"benchmarks/{name}"] if single else ["-m", f"benchmarks.{name}"]
    python = sys.executable if name in OWN else str(peers)
    print(f"running {command}", file=sys.stderr, flush=True)
    began = time.monotonic()
    answer = subprocess.run(
        [python, *what, *given], stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT
    )
    took = f"{time.monotonic() - began:.0f} s"
    ended = took if answer.returncode == 0 else f"**failed** after {took}"
    return (
        f"`python {' '.join([*what, *given])}`: {ended}\n\n{answer.stdout}",
        not answer.returncode,
    )


def main() -> None:
    chosen = sys.argv[1:]
    base, peers = python312(), Path(sys.executable)
    pages, failed = [INTRODUCTION], []
    if base is None:
        pages.append("Python 3.12 was not found, so peers were not measured.\n")
    else:
        peers = environment(".venv-peers", base)
        os.environ["FAIRFIELD_PYDVL_PYTHON"] = str(environment(".venv-pydvl", base))
    data = ROOT.parent / "shared" / "data"
    if data.is_dir():
        os.environ.setdefault("FAIRFIELD_DATA", str(data))
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FAIRFIELD_CACHE"] = cache
        for command in chosen or SCRIPTS:
            page, ended = measured(command, peers)
            pages.append(page)
            failed += [] if ended else [command]
            if chosen:
                print(page, flush=True)
            else:  # after each script: a long run that is cut off keeps what it has
                RESULTS.write_text("\n".join(pages), encoding="utf-8")
    if not chosen:
        subprocess.run([sys.executable, str(HERE / "charts.py")], check=True)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
