"""Builds the distributions and tries them, every extra alone, and the kills: ``make release-check``."""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SMOKE = "import fairfield as ff; assert ff.shapley([0, 1, 1, 4]).values.tolist() == [2, 2]; print(ff.__version__)"


def run(*command: str) -> None:
    print("$", *command, flush=True)
    subprocess.run(command, check=True)


def fresh(place: Path, *requirements: str) -> str:
    """A new environment with these requirements, as the path of its interpreter."""
    run(sys.executable, "-m", "venv", str(place))
    python = str(place / "bin" / "python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements)
    return python


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory() as name:
        space = Path(name)
        builder = fresh(space / "build", "build")
        run(builder, "-m", "build", "--outdir", str(space / "dist"), str(ROOT))
        for built in sorted((space / "dist").iterdir()):
            python = fresh(space / built.name.replace(".", "-"), str(built))
            run(python, "-c", SMOKE)
        wheel = next((space / "dist").glob("*.whl"))
        # What was just built survives the death of its drivers and workers.
        run(python, str(ROOT / "benchmarks" / "kill_marathon.py"))
        for extra in project["optional-dependencies"]:
            python = fresh(space / f"extra-{extra}", f"{wheel}[{extra}]")
            run(python, "-c", SMOKE)


if __name__ == "__main__":
    main()
