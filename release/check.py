"""What must hold before a release: ``make release-check``.

    python release/check.py                    everything
    python release/check.py version build      some of it
    python release/check.py extras ml dask     these extras
    python release/check.py pythons 3.11       this Python

- version: one version, in the package, CITATION.cff, the conda recipe and CHANGELOG.md, and on the tag if
  there is one;
- build: wheel and sdist, each installed into a new environment and tried there, the examples of
  README.md with the wheel and the extras they need, and the links of the page on PyPI;
- pythons: the wheel with several extras under every Python of PYTHONS that is found, here or in pyenv;
- attacks: what was built withstands 1000 damaged stores, 3000 damaged results and 100 kills of drivers
  and workers over loky, dask and ray;
- bounds: the tests of what dependencies are used for, at the lowest versions that are allowed;
- extras: each alone in a new environment, with the newest versions, tried there; PyTorch as the CPU build
  that the Makefile names.

A part that fails does not keep the others from being tried. A run of everything writes
``release/RESULT.md`` anew, a run of some parts writes their lines in place of their last ones.
"""

import os
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
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).parent
STEPS = ("version", "build", "pythons", "bounds", "attacks", "extras")
WHOLE = "everything, in one run"
ATTACKS = {"stores": "fuzz_stores", "results": "fuzz_results", "kills": "kill_marathon"}
# What a release calls its repository, for the links of its page.
REPOSITORY = "FAIRFIELD_REPOSITORY"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RESULT = HERE / "RESULT.md"
HEAD = """# What was tried before the release

Written by `release/check.py`, on Linux. Lines are of one run where the last says so, else of the commits
that they name; a + means that files had been changed since.

| part | result | Python | version | commit | day | seconds |
|---|---|---|---|---|---|---|
"""


def run(*command: object) -> str:
    """Runs a command and shows what it prints; the last line of that."""
    print("$", *command, flush=True)
    last = ""
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, last)
    return last


def fresh(place: Path, *requirements: str, base: str = sys.executable) -> Path:
    """A new environment with these requirements, as the path of its interpreter."""
    run(base, "-m", "venv", place)
    python = place / "bin" / "python"
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
    run(python, *install, *requirements)
    return python


def tried(place: Path, requirements: list[str], *parts: str, base: str = sys.executable) -> None:
    """The smoke tests of some requirements, in an environment that is thrown away."""
    try:
        run(fresh(place, *requirements, base=base), "-I", HERE / "smoke.py", *parts)
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


def written() -> dict[str, str]:
    """The lines of RESULT.md by their part."""
    if not RESULT.exists():
        return {}
    lines = RESULT.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ")][1:]
    return {row.split(" | ")[0].removeprefix("| "): row for row in rows}


def write(part: str, result: str, python: str, seconds: float) -> None:
    """The line of a part; a part that was tried again belongs to no whole run."""
    lines = written()
    lines.pop(WHOLE, None)
    changed = git("status", "--porcelain", "--", ".", ":(exclude)release/RESULT.md")
    commit = git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
    day = date.today().isoformat()
    cells = (part, result, python, own_version(), commit, day, f"{seconds:.0f}")
    lines[part] = f"| {' | '.join(cells)} |"
    places = (*STEPS, WHOLE)
    order = sorted(lines, key=lambda each: places.index(each.split(":")[0]))
    RESULT.write_text(HEAD + "".join(f"{lines[each]}\n" for each in order), encoding="utf-8")


@contextmanager
def recorded(part: str, python: str = sys.version.split()[0]) -> Iterator[list[str]]:
    """Keeps the outcome of what runs inside, and what is said of it, as the part's line of RESULT.md."""
    began, result = time.monotonic(), "failed"
    said: list[str] = []
    try:
        yield said
        result = "in order"
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"{part} failed: {error}", flush=True)
        said.append(str(getattr(error, "output", "") or "").replace("|", "/"))
    finally:
        write(part, "; ".join(filter(None, [result, *said])), python, time.monotonic() - began)
    if result == "failed":
        failures.append(part)


failures: list[str] = []


def version() -> None:
    """One version everywhere."""
    own = own_version()
    for name, pattern in {
        "CITATION.cff": r"^version: (\S+)$",
        "release/conda/recipe.yaml": r'^  version: "(\S+)"$',
        "CHANGELOG.md": r"^## (\d\S+)$",
    }.items():
        found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)[1]
        if found != own:
            raise SystemExit(f"{name} says {found}, the package {own}")
    tags = git("tag", "--points-at", "HEAD").split()
    versions = [tag for tag in tags if re.match(r"v\d", tag)]
    if versions and versions != [f"v{own}"]:
        raise SystemExit(f"the tag is {', '.join(versions)}, the package says {own}")
    print(f"version {own}, {'as the tag says' if versions else 'no tag here'}")


def built(space: Path) -> Path:
    """Both distributions; the wheel."""
    builder = fresh(space / "build", "build")
    os.environ.setdefault(REPOSITORY, "https://example.org/fairfield")
    run(builder, "-m", "build", "--outdir", space / "dist", ROOT)
    return next((space / "dist").glob("*.whl"))


def build(space: Path, wheel: Path) -> None:
    for name in ("whl", "tar.gz"):
        with recorded(f"build: {'wheel' if name == 'whl' else 'sdist'}"):
            tried(space / "tried", [str(next((space / "dist").glob(f"*.{name}")))], "base")
    with recorded("build: examples of README.md"):
        tried(space / "tried", [f"{wheel}[ml,trees,report,remote]"], "readme")
    with recorded("build: links of the page on PyPI"), ZipFile(wheel) as held:
        metadata = next(name for name in held.namelist() if name.endswith("METADATA"))
        text = held.read(metadata).decode()
        links = re.findall(r'(?:\]\(|src=")([^)"]+)', text)
        astray = [each for each in links if not each.startswith(("https://", "#"))]
        if astray or not links:
            raise OSError(f"these lead nowhere there: {', '.join(astray) or 'there are none'}")


def interpreter(version: str) -> str | None:
    """An interpreter of this version of Python that runs; what pyenv puts on PATH may not."""
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for candidate in filter(None, (shutil.which(f"python{version}"), *map(str, installed))):
        asked = [candidate, "-c", "import sys; print(*sys.version_info[:2], sep='.')"]
        if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
            return candidate
    return None


def pythons(space: Path, wheel: Path, versions: list[str]) -> None:
    parts = ("ml", "trees", "plots", "report", "cli", "remote")
    for version in versions:
        part = f"pythons: {version} with {', '.join(parts)}"
        if (base := interpreter(version)) is None:
            write(part, "not here: tried by the workflow of a release", version, 0)
        else:
            with recorded(part, version):
                tried(space / version, [f"{wheel}[{','.join(parts)}]"], *parts, base=base)


def attacks(space: Path, wheel: Path) -> None:
    with recorded("attacks: installed"):
        fresh(space / "attacks", f"{wheel}[cli,dask,ray]")
    for what, script in ATTACKS.items():
        with recorded(f"attacks: {what}") as said:
            said.append(run(space / "attacks" / "bin" / "python", HERE / f"{script}.py"))


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
    torch = re.search(r"^TORCH := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    for name in names:
        also = [torch] if name == "learning" else []
        with recorded(f"extras: {' with '.join([name, *also])}"):
            tried(space / f"extra-{name}", [f"{wheel}[{name}]", *also], name)


def main(wanted: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    every = list(project["optional-dependencies"])
    steps = [each for each in wanted if each in STEPS]
    named = [each for each in wanted if each in every]
    versions = [each for each in wanted if each in PYTHONS]
    unknown = set(wanted) - {*steps, *named, *versions}
    if unknown:
        raise SystemExit(f"there is no {', '.join(sorted(unknown))}; see the head of this file")
    began = time.monotonic()
    if not wanted:
        steps = list(STEPS)
        RESULT.unlink(missing_ok=True)
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
    if not wanted:
        result = f"{len(failures)} of {len(written())} parts failed" if failures else "in order"
        write(WHOLE, result, sys.version.split()[0], time.monotonic() - began)
    if failures:
        raise SystemExit(f"not ready; these failed: {'; '.join(failures)}")
    print("in order, as release/RESULT.md says")


if __name__ == "__main__":
    main(sys.argv[1:])
