"""``python -m paper``: the paper's experiments with the paper's settings."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import fairfield as ff
from paper import adult
from paper.claims import Finding, keep
from paper.kept import versions
from paper.page import write_page
from paper.registry import Experiment, experiments
from paper.run import Run
from paper.splits import PROBLEMS

ALL = "all"
BAD_INPUT, INTERRUPTED = 2, 130
DESCRIPTION = """\
The experiments of Bian et al., Energy-Based Learning for Cooperative Games, ICLR 2022.

Writes figures, CSV files, claims.md and index.html, which puts every claim of the paper
beside the number found here, with a verdict. The page shows all experiments that were run
into --out; what took long is kept in its stores, and the same command continues from there."""
EXAMPLES = """\
Examples:
  python -m paper all --quick                           every experiment, small, in minutes
  python -m paper features --data adult_train.csv.gz    one at the paper's size
  python -m paper data --problem digits --splits 2      part of the long one"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code is 0, 2 for bad input, 130 when interrupted."""
    known = experiments()
    parser = _parser(known)
    given = sys.argv[1:] if arguments is None else list(arguments)
    if not given:
        parser.print_help(sys.stderr)
        return BAD_INPUT
    options = parser.parse_intermixed_args(given)
    run = Run(
        options.out,
        options.quick,
        options.seed,
        options.jobs,
        False if options.quiet else None,
        options.reference,
        options.data,
        tuple(options.problem),
        options.splits,
    )
    made = (
        f"Made with {versions()}, {'small' if run.quick else 'full'} sizes, seeds from {run.seed}."
    )
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            # A temperature too low for the budget, and the like: the page has the error bars.
            if options.quiet:
                warnings.simplefilter("ignore")
            _run_all(_chosen(known, options.experiments, run), run, options, made)
    except KeyboardInterrupt:
        _say(_kept(run.stores))
        return INTERRUPTED
    except (
        ValueError,
        TypeError,
        OSError,
        MemoryError,
        ImportError,
        ff.StoreError,
        ff.WorthError,
    ) as error:
        _say(f"error: {_sentence(error)}")
        return BAD_INPUT
    return 0


def _parser(known: Sequence[Experiment]) -> argparse.ArgumentParser:
    width = max(len(each.name) for each in known)
    listed = "\n".join(f"  {each.name:{width}}  {each.sentence}" for each in known)
    parser = argparse.ArgumentParser(
        prog="python -m paper",
        description=DESCRIPTION,
        epilog=f"Experiments:\n{listed}\n  {ALL:{width}}  Every one of them.\n\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("experiments", nargs="*", metavar="EXPERIMENT",
        help="which experiments, see below (default: all)")  # fmt: skip
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="smaller sizes, in minutes; the page says which")  # fmt: skip
    size.add_argument("--full", action="store_false", dest="quick", help="the paper's sizes (default)")  # fmt: skip
    add("--problem", action="append", default=[], choices=list(PROBLEMS), metavar="NAME",
        help="only this problem of data valuation, and only the experiments that have it; may be "
        f"given several times: {', '.join(PROBLEMS)}")  # fmt: skip
    add("--splits", type=_at_least(1), metavar="N",
        help="how many splits of our own are valued for each problem (default: 10, quick: 3)")  # fmt: skip
    add("--data", type=Path, metavar="PATH",
        help="Adult: adult_train.csv.gz or its folder; else FAIRFIELD_DATA, else OpenML")  # fmt: skip
    add("--reference", type=Path, metavar="FOLDER",
        help="a folder of the authors' own splits (paper_….npz); without it only our own splits "
        "are valued")  # fmt: skip
    add("--out", type=Path, default=Path("build/paper"), metavar="FOLDER",
        help="where the page, figures, numbers and worths are kept (default: build/paper)")  # fmt: skip
    add("--docs", type=Path, metavar="FOLDER",
        help="also write the page as paper.md, with its pictures, into this folder of documentation")  # fmt: skip
    add("--jobs", type=int, metavar="N",
        help="how many worths are evaluated at once; -1: all cores")  # fmt: skip
    add("--seed", type=_at_least(0), default=0, metavar="N",
        help="determines every random choice (default: 0)")  # fmt: skip
    add("--quiet", action="store_true", help="no progress and no warnings")
    return parser


def _at_least(least: int) -> Any:
    """A whole number that is not below another, as a type of options."""

    def number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is below {least}")
        return int(text)

    return number


def _chosen(known: Sequence[Experiment], names: Sequence[str], run: Run) -> list[Experiment]:
    """The experiments of a run in the order in which they run, long ones last."""
    by_name = {each.name: each for each in sorted(known, key=lambda each: each.long)}
    unknown = [name for name in names if name not in by_name and name != ALL]
    if unknown:
        raise ValueError(
            f"there is no experiment {', '.join(unknown)}; choose from {', '.join(by_name)}, {ALL}"
        )
    every = not names or ALL in names
    chosen = list(by_name.values()) if every else [by_name[name] for name in dict.fromkeys(names)]
    with_problems = [each for each in chosen if each.problems]
    if run.splits is not None and not with_problems:
        raise ValueError(f"{', '.join(names)} has no splits; leave out --splits")
    if not run.problems:
        return chosen
    restricted = [each for each in with_problems if set(each.problems) & set(run.problems)]
    if not restricted:
        raise ValueError(
            f"{', '.join(names)} has none of the problems {', '.join(run.problems)}; leave out "
            "--problem, or name an experiment that has one: "
            + ", ".join(each.name for each in known if set(each.problems) & set(run.problems))
        )
    return restricted


def _run_all(
    chosen: Sequence[Experiment], run: Run, options: argparse.Namespace, made: str
) -> None:
    # Files that were named and are missing are reported before hours of work.
    run.published("")
    if run.data is not None:
        adult.file_of(run.data)
    for each in chosen:
        started = perf_counter()
        keep(_find(each, run, alone=len(chosen) == 1), run.out, made)
        page = write_page(run.out, options.docs)
        if not options.quiet:
            _say(f"{each.name}: {perf_counter() - started:.0f} s")
    if not options.quiet:
        _say(f"wrote {page}")


def _find(chosen: Experiment, run: Run, *, alone: bool) -> Finding:
    """The finding; where only a download is missing, the other experiments go on."""
    try:
        return chosen.find(run)
    except (OSError, ImportError) as error:
        # A file that was named and is missing is a mistake of the command.
        if chosen.not_run is None or run.data is not None or alone:
            raise
        _say(f"{chosen.name}: not run: {_sentence(error)}")
        return chosen.not_run(_sentence(error))


def _say(text: str) -> None:
    """A line beside the results, where progress goes too."""
    print(text, file=sys.stderr)


def _sentence(error: BaseException) -> str:
    """The first line of an error, which for those of fairfield is all of it."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename} could not be used: {error.strerror}"
    return str(error).strip().split("\n")[0] or type(error).__name__


def _warn(message: Warning | str, *place: Any, **more: Any) -> None:
    """A warning as a sentence, without the line of code that gave it."""
    _say(f"warning: {str(message).strip().splitlines()[0]}")


def _kept(stores: Path) -> str:
    """What an interrupted run leaves in its stores, and how to continue."""
    count = len(list(stores.glob("*.npz")))
    if not count:
        return f"stopped before a part was kept in {stores}; the same command starts again"
    return f"stopped; {stores} keeps {count:,} parts. Run the same command to go on from there"


if __name__ == "__main__":
    sys.exit(main())
