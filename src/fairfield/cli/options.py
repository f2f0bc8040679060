"""The options that all commands share which value players."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any

import typer

from fairfield.boltzmann.temperature import OWN_SCALE, Temperature, relative
from fairfield.cli.engines import Backend, engine
from fairfield.cli.messages import InputError, worths_kept
from fairfield.core.checks import meant
from fairfield.core.writing.files import check_writable
from fairfield.criteria.criterion import USUAL, plain_names
from fairfield.reports import WRITERS

what = partial(typer.Option, rich_help_panel="What is computed")
how = partial(typer.Option, rich_help_panel="How it is computed")
where = partial(typer.Option, rich_help_panel="Where it goes")

NAMES = [name.replace("_", "-") for name in plain_names()]
CRITERIA = (
    f"One of {', '.join(NAMES)}, or all: the first three side by side. May be given several "
    "times.  [default: all]"
)
TEMPERATURE = (
    "A number in the units of the worths, or with an x at its end a multiple of the game's own "
    "scale.  [default: 1x]"
)
REPORT = (
    "Write an interactive page in one HTML file, with the values along the temperature and "
    "interactions."
)
TOLERANCE = "Sample until every 95 % interval is within ± this, in the units of the worths."
ADDRESS = "The dask scheduler or ray cluster; without it one is started here."


def _completions() -> list[str]:
    return [*NAMES, "all"]


@dataclass(frozen=True)
class ValuationOptions:
    """The options of every command that values players: each field is one of them."""

    criterion: Annotated[list[str] | None, what(help=CRITERIA, autocompletion=_completions)] = None
    temperature: Annotated[str | None, what(help=TEMPERATURE)] = None
    seed: Annotated[int, how(min=0, help="The seed of every random choice.")] = 0
    csv: Annotated[Path | None, where(help="Write the values to this CSV file.")] = None
    json: Annotated[Path | None, where(help="Write all results to this JSON file.")] = None
    report: Annotated[Path | None, where(help=REPORT)] = None
    quiet: Annotated[bool, where("--quiet", help="No table and no progress.")] = False

    def criteria(self) -> list[str]:
        """The names of the criteria to compute."""
        given = [name for each in self.criterion or ["all"] for name in each.split(",")]
        names: list[str] = []
        for each in given:
            name = each.strip().lower().replace("-", "_")
            if name != "all" and name not in plain_names():
                raise InputError(
                    f"there is no criterion {each!r}{meant(each, NAMES)}; choose from "
                    f"{', '.join(NAMES)}, all"
                )
            names += USUAL if name == "all" else [name]
        return list(dict.fromkeys(names))

    def parsed_temperature(self) -> Temperature:
        """The temperature: a number, or a multiple of the game's own scale."""
        if self.temperature is None:
            return OWN_SCALE
        text = self.temperature.strip().lower()
        try:
            number = float(text.removesuffix("x"))
        except ValueError:
            number = nan
        if not 0 < number < inf:
            raise InputError(
                f"--temperature {self.temperature} is no number above 0; give one, such as 0.1, or a "
                "multiple of the game's own scale, such as 0.5x"
            )
        return relative(number) if text.endswith("x") else number

    def check(self, inputs: Iterable[Path] = ()) -> None:
        """Refuse before any work what could only be refused after it.

        That is a file that cannot be written, and one that is also read.
        """
        self.criteria()
        self.parsed_temperature()
        for option, path, endings in (
            ("csv", self.csv, (".csv",)),
            ("json", self.json, (".json",)),
            ("report", self.report, tuple(WRITERS)),
        ):
            if path is not None and path.suffix.lower() not in endings:
                raise InputError(
                    f"--{option} cannot write to {path.name!r}; end the name in {', '.join(endings)}"
                )
        taken = {path.resolve(): "is read by this command" for path in inputs}
        for option, path in self.outputs().items():
            if path.resolve() in taken:
                raise InputError(
                    f"--{option} {path} {taken[path.resolve()]}; give another file to write to"
                )
            taken[path.resolve()] = f"is written by --{option} too"
            check_writable(path)

    def outputs(self) -> dict[str, Path]:
        """The files to be written, by their options."""
        named = {"csv": self.csv, "json": self.json, "report": self.report}
        return {option: path for option, path in named.items() if path is not None}

    def keywords(self) -> dict[str, Any]:
        """The keywords of the criteria."""
        return {"seed": self.seed, "progress": False if self.quiet else None}

    def workers(self) -> AbstractContextManager[None]:
        """The engine that evaluates worths: this process."""
        return nullcontext()

    def interrupted(self) -> str:
        """The message after an interruption: what is kept, and how to resume."""
        return "stopped; nothing was kept"


@dataclass(frozen=True)
class EvaluationOptions(ValuationOptions):
    """The options of commands whose worths are evaluated one by one, and may take long."""

    budget: Annotated[int | None, how(help="At most so many worths are evaluated.")] = None
    tolerance: Annotated[float | None, how(help=TOLERANCE)] = None
    seconds: Annotated[float | None, how(help="Sample for so long, and take the best so far.")] = (
        None
    )
    jobs: Annotated[int | None, how(help="How many worths at once; -1: all cores.")] = None
    backend: Annotated[Backend | None, how(help="The engine that evaluates worths.")] = None
    address: Annotated[str | None, how(help=ADDRESS)] = None
    store: Annotated[
        Path | None, how(help="Keep worths in this file; the same command resumes from it.")
    ] = None

    def check(self, inputs: Iterable[Path] = ()) -> None:
        """Refuse before any work what could only be refused after it."""
        super().check(inputs)
        for option, unit in (("tolerance", "the units of the worths"), ("seconds", "seconds")):
            given = getattr(self, option)
            if given is not None and not 0 < given < inf:
                raise InputError(f"--{option} {given:g} is no number above 0; give one, in {unit}")

    def outputs(self) -> dict[str, Path]:
        """The files to be written, by their options."""
        return super().outputs() | ({} if self.store is None else {"store": self.store})

    def keywords(self) -> dict[str, Any]:
        """The keywords of the criteria."""
        on_cluster = self.backend in (Backend.dask, Backend.ray)
        return {
            **super().keywords(),
            "budget": self.budget,
            "tolerance": self.tolerance,
            "seconds": self.seconds,
            "n_jobs": None if on_cluster else self.jobs,
            "store": self.store,
        }

    def workers(self) -> AbstractContextManager[None]:
        """The engine that evaluates worths, for as long as it is needed."""
        return engine(self.backend, self.address, self.jobs)

    def interrupted(self) -> str:
        """The message after an interruption: what is kept, and how to resume."""
        return worths_kept(self.store)
