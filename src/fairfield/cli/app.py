"""The application: every module of ``commands`` is imported, and has registered its command."""

from __future__ import annotations

from fairfield.cli.registry import app
from fairfield.core.registry import import_all

import_all("fairfield.cli.commands")

__all__ = ["app"]
