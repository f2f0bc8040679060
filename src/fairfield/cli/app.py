"""The application: every module of ``commands`` is imported, and has registered its command."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from fairfield.cli import commands
from fairfield.cli.registry import app

for module in iter_modules(commands.__path__):
    import_module(f"{commands.__name__}.{module.name}")

__all__ = ["app"]
