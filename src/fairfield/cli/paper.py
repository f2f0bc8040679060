"""``fairfield paper``: the paper's experiments with the paper's settings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from fairfield.cli.options import OUT, WHAT, WORK
from fairfield.cli.sentences import say, sentence, told, worths_kept
from fairfield.paper import (
    adult,
    convergence,
    data,
    feature_claims,
    flid,
    sampled,
    statements,
    tradeoff,
)
from fairfield.paper.claims import Finding, keep
from fairfield.paper.page import write_page
from fairfield.paper.run import Run

EXAMPLES = (
    "**Example** `fairfield paper all --quick --out paper`: every experiment, small, in minutes\n\n"
    "**Example** `fairfield paper features --data adult_train.csv.gz`: one at the paper's size"
)


class Experiment(StrEnum):
    """What can be run."""

    statements = "statements"
    flid = "flid"
    data = "data"
    features = "features"
    convergence = "convergence"
    tradeoff = "tradeoff"
    large = "large"
    samples = "samples"
    all = "all"


FINDERS: dict[Experiment, Callable[[Run], Finding]] = {
    Experiment.statements: statements.find,
    Experiment.flid: flid.find,
    Experiment.features: feature_claims.find,
    Experiment.large: sampled.find_large,
    Experiment.samples: sampled.find_samples,
    Experiment.data: data.find,
    Experiment.convergence: convergence.find,
    Experiment.tradeoff: tradeoff.find,
}


def paper(
    experiments: Annotated[
        list[Experiment], typer.Argument(help="Which experiments; all: every one of them.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="The folder for the page, figures, numbers and kept worths; the same command goes "
            "on from there.",
            rich_help_panel=OUT,
        ),
    ] = Path("paper"),
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Smaller sizes, in minutes; the page says which.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    reference: Annotated[
        Path | None,
        typer.Option(
            help="A folder of the authors' own splits (paper_….npz); without it only our own "
            "splits are valued.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Adult: adult_train.csv.gz or its folder; else FAIRFIELD_DATA, else OpenML is asked.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="How many worths are evaluated at once; -1: all cores.", rich_help_panel=WORK
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Settles every random choice.", rich_help_panel=WORK)
    ] = 0,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="No progress.", rich_help_panel=OUT)
    ] = False,
) -> None:
    """The experiments of Bian et al., Energy-Based Learning for Cooperative Games, ICLR 2022.

    Writes figures, CSV files, claims.md and index.html, which puts every claim of the paper beside the
    number found here, with a verdict. The page shows all experiments that were run into --out.
    """
    progress = False if quiet else None
    run = Run(out, quick, seed, jobs, progress, reference, source)
    chosen = list(FINDERS) if Experiment.all in experiments else list(dict.fromkeys(experiments))
    with told(lambda: worths_kept(run.stores)), warnings.catch_warnings():
        # A temperature too low for the budget, and the like: the page has the error bars.
        if quiet:
            warnings.simplefilter("ignore")
        # What was named and is not there is told before hours of work.
        run.published("")
        if source is not None:
            adult.file_of(source)
        for name in chosen:
            started = perf_counter()
            keep(_find(name, run, forgiving=len(chosen) > 1), out)
            page = write_page(out)
            if not quiet:
                say(f"{name}: {perf_counter() - started:.0f} s")
        if not quiet:
            say(f"wrote {page}")


def _find(name: Experiment, run: Run, *, forgiving: bool) -> Finding:
    """The finding; among others, features without their data are told rather than refused."""
    if name is not Experiment.features:
        return FINDERS[name](run)
    try:
        return FINDERS[name](run)
    except (OSError, ImportError) as error:
        # What was named and is not there is a mistake of the command, not a missing download.
        if run.data is not None or not forgiving:
            raise
        say(f"features were not run: {sentence(error)}")
        return feature_claims.not_run(sentence(error))
