"""The one progress bar."""

from __future__ import annotations

from typing import Any


def bar(total: int | None, desc: str, progress: bool | None, unit: str = "it") -> Any:
    """A progress bar, to be used as a context: ``update(count)`` moves it on.

    ``progress`` True shows it, False hides it, None shows it on a terminal after a second.
    """
    from tqdm.auto import tqdm

    hidden = None if progress is None else not progress
    delay = 0 if progress else 1
    return tqdm(total=total, desc=desc, unit=unit, disable=hidden, delay=delay, leave=False)
