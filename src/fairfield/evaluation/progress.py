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


class RunBar:
    """One bar over all rounds of a run, which is shown once there is something to do.

    ``most`` is how many worths there will be; where that is not known, what is ``expected`` so far.
    """

    def __init__(self, progress: bool | None, most: int | None, seconds: float | None) -> None:
        self._progress, self._most = progress, most
        self._desc = "worths" if seconds is None else f"worths, within {seconds:g} s"
        self._shown: Any = None

    def expect(self, count: int) -> None:
        """So many more worths will be evaluated."""
        if self._shown is None and count:
            self._shown = bar(self._most or 0, self._desc, self._progress)
        if self._shown is not None and self._most is None:
            self._shown.total += count

    def update(self, count: int) -> None:
        """So many are there."""
        if self._shown is not None:
            self._shown.update(count)

    def close(self) -> None:
        """Take the bar away."""
        if self._shown is not None:
            self._shown.close()
