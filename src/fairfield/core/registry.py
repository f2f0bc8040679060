"""What registries share: modules that register what they define, and names taken once."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


@cache
def import_all(package: str) -> None:
    """Import every module of a package, so that what they register is known."""
    for module in iter_modules(import_module(package).__path__, f"{package}."):
        import_module(module.name)


def refuse_taken(what: str, taken: Any, new: Any, advice: str = "choose another name") -> None:
    """Refuse a name that another definition has; the same one may be run again."""
    if taken is None:
        return
    if (taken.__module__, taken.__qualname__) != (new.__module__, new.__qualname__):
        raise ValueError(f"there is {what} already, {taken.__qualname__}; {advice}")
