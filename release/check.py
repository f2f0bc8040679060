"""What must hold before a release: ``make release-check``.

    python release/check.py                    everything
    python release/check.py version build      some of it
    python release/check.py extras ml dask     these extras
    python release/check.py pythons 3.11       this Python

- version: one version, in the package, CITATION.cff and CHANGELOG.md, and on the tag if there is one;
- build: wheel and sdist, each installed into a new environment and tried there, and the examples of
  README.md with the wheel and the extras they need;
- pythons: the wheel with several extras under every Python of PYTHONS that is found, here or in pyenv;
- attacks: what was built withstands 1000 damaged stores, 3000 damaged results and 100 kills of drivers
  and workers over loky, dask and ray;
- bounds: the tests of what dependencies are used for, at the lowest versions that are allowed;
- extras: each alone in a new environment, tried there.

A part that fails does not keep the others from being tried. Every part writes a line of
``release/RESULT.md``, in place of its last one.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).parent
STEPS = ("version", "build", "pythons", "bounds", "attacks", "extras")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RESULT = HERE / "RESULT.md"
HEAD = """# What was tried before the release

Written by `python release/check.py`: every part when it ran last, a + where the commit had been changed.

| part | result | Python | version | commit | day | seconds |
|---|---|---|---|---|---|---|
"""


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
    try:
        run(fresh(place, requirement, base=base), "-I", HERE / "smoke.py", *parts)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def git(*words: object) -> str:
    """What git says of this folder; nothing where it is no repository."""
    return subprocess.run(
        ["git", "-C", ROOT, *words], capture_output=True, text=True
    ).stdout.strip()


def own_version() -> str:
    text = (ROOT / "src" / "fairfield" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)[1]


@contextmanager
def recorded(part: str, python: str = sys.version.split()[0]) -> Iterator[None]:
    """Keeps the outcome of what runs inside as the part's line of RESULT.md."""
    began, result = time.monotonic(), "failed"
    try:
        yield
        result = "in order"
    except subprocess.CalledProcessError as error:
        print(f"{part} failed: {error}", flush=True)
    finally:
        lines = {}
        if RESULT.exists():
            kept = RESULT.read_text(encoding="utf-8").removeprefix(HEAD).splitlines()
            lines = {line.split(" | ")[0].removeprefix("| "): line for line in kept}
        changed = git("status", "--porcelain", "--", ROOT, f":!{RESULT}")
        commit = git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
        seconds = f"{time.monotonic() - began:.0f}"
        cells = (part, result, python, own_version(), commit, date.today().isoformat(), seconds)
        lines[part] = f"| {' | '.join(cells)} |"
        order = sorted(lines, key=lambda each: STEPS.index(each.split(":")[0]))
        RESULT.write_text(HEAD + "".join(f"{lines[each]}\n" for each in order), encoding="utf-8")
    if result == "failed":
        failures.append(part)


failures: list[str] = []


def version() -> None:
    """One version everywhere."""
    own = own_version()
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    if cited != own:
        raise SystemExit(f"CITATION.cff says {cited}, the package {own}")
    tags = git("tag", "--points-at", "HEAD").split()
    versions = [tag for tag in tags if re.match(r"v\d", tag)]
    if not versions:
        print(f"version {own}; no tag here")
        return
    if versions != [f"v{own}"]:
        raise SystemExit(f"the tag is {', '.join(versions)}, the package says {own}")
    if f"## {own}" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        raise SystemExit(f"CHANGELOG.md has no heading '## {own}'")
    print(f"version {own}, as the tag says")


def built(space: Path) -> Path:
    """Both distributions; the wheel."""
    builder = fresh(space / "build", "build")
    run(builder, "-m", "build", "--outdir", space / "dist", ROOT)
    return next((space / "dist").glob("*.whl"))


def build(space: Path, wheel: Path) -> None:
    for name in ("whl", "tar.gz"):
        with recorded(f"build: {'wheel' if name == 'whl' else 'sdist'}"):
            tried(space / "tried", str(next((space / "dist").glob(f"*.{name}"))), "base")
    with recorded("build: examples of README.md"):
        tried(space / "tried", f"{wheel}[ml,trees,report,remote]", "readme")


def interpreter(version: str) -> str | None:
    """An interpreter of this version of Python that runs; what pyenv puts on PATH may not."""
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for candidate in filter(None, (shutil.which(f"python{version}"), *map(str, installed))):
        asked = [candidate, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]
        if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
            return candidate
    return None


def pythons(space: Path, wheel: Path, versions: list[str]) -> None:
    missing = []
    for version in versions:
        parts = ("ml", "trees", "plots", "report", "cli", "remote")
        if (base := interpreter(version)) is None:
            missing.append(version)
        else:
            with recorded(f"pythons: {version} with {', '.join(parts)}", version):
                tried(space / version, f"{wheel}[{','.join(parts)}]", *parts, base=base)
    print(f"not tried, since they are not here: {', '.join(missing) or 'none'}")


def attacks(space: Path, wheel: Path) -> None:
    scripts = ("fuzz_stores", "fuzz_results", "kill_marathon")
    with recorded(f"attacks: {', '.join(scripts)}"):
        python = fresh(space / "attacks", f"{wheel}[cli,dask,ray]")
        for script in scripts:
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
    with recorded("bounds: lowest versions"):
        python = fresh(space / "bounds", *lowest)
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", wheel)
        run(python, "-I", HERE / "smoke.py", "all")


def extras(space: Path, wheel: Path, names: list[str]) -> None:
    for name in names:
        with recorded(f"extras: {name}"):
            tried(space / f"extra-{name}", f"{wheel}[{name}]", name)


def main(wanted: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    every = list(project["optional-dependencies"])
    steps = [each for each in wanted if each in STEPS]
    named = [each for each in wanted if each in every]
    versions = [each for each in wanted if each in PYTHONS]
    unknown = set(wanted) - {*steps, *named, *versions}
    if unknown:
        raise SystemExit(f"there is no {', '.join(sorted(unknown))}; see the head of this file")
    steps = list(STEPS) if not wanted else steps
    if "version" in steps:
        version()
    if steps == ["version"]:
        return
    with tempfile.TemporaryDirectory() as name:
        space = Path(name)
        wheel = built(space)
        if "build" in steps:
            build(space, wheel)
        if "pythons" in steps or versions:
            pythons(space, wheel, versions or list(PYTHONS))
        if "bounds" in steps:
            bounds(space, wheel)
        if "attacks" in steps:
            attacks(space, wheel)
        if "extras" in steps or named:
            extras(space, wheel, named or every)
    if failures:
        raise SystemExit(f"not ready; these failed: {'; '.join(failures)}")
    print(f"in order, as {RESULT.relative_to(ROOT)} says")


if __name__ == "__main__":
    main(sys.argv[1:])
