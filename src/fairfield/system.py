"""What this environment and this machine have: packages, cores, memory, a GPU."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any, NamedTuple

# Extras for work on fairfield itself, and the one that only collects others.
_LEFT_OUT = ("all", "check", "docs", "test")
_REQUIREMENT = re.compile(r"([\w.-]+)(?:>=([\w.]+))?(?:;.*extra == ['\"](\w+)['\"])?")


class Package(NamedTuple):
    """A package, the version that is installed (None where there is none) and the lowest that will do."""

    name: str
    installed: str | None
    needed: str | None

    @property
    def state(self) -> str:
        """ "in order", "missing" or "too old".

        >>> Package("numpy", "1.9", "1.10").state, Package("torch", "2.2.1+cpu", "2.2").state
        ('too old', 'in order')
        """
        if self.installed is None:
            return "missing"
        have, need = ([*map(int, re.findall(r"\d+", v or ""))] for v in self[1:])
        return "too old" if have < need else "in order"


def show_versions() -> None:
    """Print the versions of fairfield and of what it uses, as a report of a bug needs them.

    >>> show_versions()  # doctest: +ELLIPSIS
    fairfield ...
    """
    system = machine()
    lines = {name: system[name] for name in ("fairfield", "python", "system")}
    for each in packages().values():
        lines |= {package.name: package.installed or "none" for package in each}
    print("\n".join(f"{name} {found}" for name, found in lines.items()))


def packages() -> dict[str, list[Package]]:
    """The packages of each extra, under "" those that are always needed."""
    found: dict[str, list[Package]] = {"": []}
    for line in requires("fairfield") or []:
        match = _REQUIREMENT.fullmatch(line)
        if match is not None and match[3] not in _LEFT_OUT:
            package = Package(match[1], _installed(match[1]), match[2])
            found.setdefault(match[3] or "", []).append(package)
    return found


def machine() -> dict[str, Any]:
    """Python and system, the cores that may be used, memory in bytes, and GPUs."""
    import joblib

    import fairfield
    from fairfield.core.runtime.memory import free_memory, memory_limit

    return {
        "fairfield": fairfield.__version__,
        "installed": _installed("fairfield"),  # by its metadata, which may be those of other code
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": joblib.cpu_count(),  # those of a container, where it has fewer
        "free_memory": free_memory(),
        "memory_limit": memory_limit(),
        "gpus": _gpus(),
    }


def _gpus() -> list[str]:
    command = shutil.which("nvidia-smi")
    if command is None:
        return []
    asked = [command, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        ran = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return ran.stdout.splitlines()


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
