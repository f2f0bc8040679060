"""What must hold before a release: ``make release-check``.

    python release/check.py                    everything
    python release/check.py version build      some of it
    python release/check.py extras ml dask     these extras

- version: one version, in the package, CITATION.cff and CHANGELOG.md, and on the tag if there is one;
- build: wheel and sdist, each installed into a new environment and tried there, and the examples of
  README.md with the wheel and the extras they need;
- pythons: the wheel with several extras under every Python of PYTHONS that is found, here or in pyenv;
- attacks: what was built withstands 1000 damaged stores, 3000 damaged results and 100 kills of drivers
  and workers over loky, dask and ray;
- bounds: the tests of what dependencies are used for, at the lowest versions that are allowed;
- extras: each alone in a new environment, tried there.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).parent
STEPS = ("version", "build", "pythons", "bounds", "attacks", "extras")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def run(*command: object) -> None:
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True)


def fresh(place: Path, *requirements: str, base: str = sys.executable) -> Path:
    """A new environment with these requirements, as the path of its interpreter."""
    run(base, "-m", "venv", place)
    python = place / "bin" / "python"
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
    run(python, *install, *requirements)
    return python


def tried(place: Path, requirement: str, *parts: str, base: str = sys.executable) -> None:
    """The smoke tests of a requirement, in an environment that is thrown away."""
    run(fresh(place, requirement, base=base), "-I", HERE / "smoke.py", *parts)
    shutil.rmtree(place)


def version() -> None:
    """One version everywhere."""
    text = (ROOT / "src" / "fairfield" / "__init__.py").read_text(encoding="utf-8")
    own = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)[1]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    if cited != own:
        raise SystemExit(f"CITATION.cff says {cited}, the package {own}")
    tags = subprocess.run(
        ["git", "-C", ROOT, "tag", "--points-at", "HEAD"], capture_output=True, text=True
    ).stdout.split()
    versions = [tag for tag in tags if re.match(r"v\d", tag)]
    if not versions:
        print(f"version {own}; no tag here")
        return
    if versions != [f"v{own}"]:
        raise SystemExit(f"the tag is {', '.join(versions)}, the package says {own}")
    if f"## {own}" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        raise SystemExit(f"CHANGELOG.md has no heading '## {own}'")
    print(f"version {own}, as the tag says")


def build(space: Path) -> Path:
    """Both distributions, tried; the wheel."""
    builder = fresh(space / "build", "build")
    run(builder, "-m", "build", "--outdir", space / "dist", ROOT)
    for built in sorted((space / "dist").iterdir()):
        tried(space / "tried", str(built), "base")
    wheel = next((space / "dist").glob("*.whl"))
    tried(space / "tried", f"{wheel}[ml,trees,report,remote]", "readme")
    return wheel


def interpreter(version: str) -> str | None:
    """An interpreter of this version of Python that runs; what pyenv puts on PATH may not."""
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for candidate in filter(None, (shutil.which(f"python{version}"), *map(str, installed))):
        asked = [candidate, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]
        if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
            return candidate
    return None


def pythons(space: Path, wheel: Path) -> None:
    missing = []
    for version in PYTHONS:
        parts = ("ml", "trees", "plots", "report", "cli", "remote")
        if (base := interpreter(version)) is None:
            missing.append(version)
        else:
            tried(space / version, f"{wheel}[{','.join(parts)}]", *parts, base=base)
    print(f"not tried, since they are not here: {', '.join(missing) or 'none'}")


def attacks(space: Path, wheel: Path) -> None:
    python = fresh(space / "attacks", f"{wheel}[cli,dask,ray]")
    for script in ("fuzz_stores", "fuzz_results", "kill_marathon"):
        run(python, HERE / f"{script}.py")


def bounds(space: Path, wheel: Path) -> None:
    """The smoke tests with every direct dependency at its lowest version, where 3.11 has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    parts = ("ml", "trees", "plots", "report", "cli", "models", "dask", "remote")
    wanted = [
        *project["dependencies"],
        *(e for p in parts for e in project["optional-dependencies"][p]),
    ]
    lowest = [each.replace(">=", "==") for each in wanted if ">=" in each]
    python = fresh(space / "bounds", *lowest)
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", wheel)
    run(python, "-I", HERE / "smoke.py", "all")


def extras(space: Path, wheel: Path, names: list[str]) -> None:
    for name in names:
        tried(space / f"extra-{name}", f"{wheel}[{name}]", name)


def main(wanted: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    every = list(project["optional-dependencies"])
    steps = [each for each in wanted if each in STEPS]
    named = [each for each in wanted if each in every]
    unknown = set(wanted) - set(steps) - set(named)
    if unknown:
        raise SystemExit(f"there is no {', '.join(sorted(unknown))}; see the head of this file")
    everything = not wanted
    if everything or "version" in steps:
        version()
    if wanted == ["version"]:
        return
    with tempfile.TemporaryDirectory() as name:
        space = Path(name)
        wheel = build(space)
        if everything or "pythons" in steps:
            pythons(space, wheel)
        if everything or "bounds" in steps:
            bounds(space, wheel)
        if everything or "attacks" in steps:
            attacks(space, wheel)
        if everything or "extras" in steps:
            extras(space, wheel, named or every)
    print("ready")


if __name__ == "__main__":
    main(sys.argv[1:])
