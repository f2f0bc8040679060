"""``fairfield learn``: the values of items to baskets, learned from the baskets alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import comb
from pathlib import Path
from typing import Annotated

import typer

from fairfield.cli.messages import InputError, say
from fairfield.cli.options import ValuationOptions, what
from fairfield.cli.registry import command
from fairfield.cli.show import print_text, value
from fairfield.core.arrays import FloatArray
from fairfield.core.game import Game
from fairfield.criteria.interactions.criterion import registry
from fairfield.criteria.interactions.interactions import interactions
from fairfield.learning import LearnedGame, Observed, ScoreTable, read_baskets, score_table
from fairfield.learning import learn as learned
from fairfield.learning.law import gain_of_law
from fairfield.learning.learn import MODELS, OBJECTIVES
from fairfield.learning.read import LAYOUTS
from fairfield.learning.scores import INDEPENDENT
from fairfield.results.display import text_table
from fairfield.results.interactions import Interactions

EXAMPLES = """
**Examples**

`fairfield learn baskets.csv`

`fairfield learn orders.csv --columns order,product --report items.html`

`fairfield learn baskets.csv --model fldc --objective nce --strength 1 --held-out 0.1`
"""
model_option = partial(typer.Option, rich_help_panel="The game that is learned")
INTERACTION_NAMES = ", ".join(registry()).replace("_", "-")
FILE = "A basket on each line; or columns basket and item; or columns of 0 and 1."
TEMPERATURE = (
    "At 1 coalitions are as probable as the baskets say; lower temperatures favour the most "
    "probable. With an x at its end a multiple of the game's own scale."
)
OBJECTIVE = (
    f"{', '.join(OBJECTIVES)}.  [default: pseudolikelihood, or nce where the law of that is worse than "
    "independent items on held-out baskets]"
)
COLUMNS = "The columns of baskets and of items in a long table: order,product"
STRENGTH = "How much interactions are shrunk.  [default: the best for held-out baskets]"
HELD_OUT = "The share of baskets held out to score the game; 0: no scores."
# All pairs are listed, for the page and the files, of so few players; else the strongest.
MOST_PAIRS = 20_000
# A log-likelihood below that of independent players by less is not worth a warning.
NOTED = 0.01
# Scores of fewer held-out baskets come with a warning.
FEW_HELD_OUT = 20


@dataclass(frozen=True)
class LearnOptions(ValuationOptions):
    """The options of every command, at the temperature of the observed baskets."""

    temperature: Annotated[str | None, what(help=TEMPERATURE)] = "1"


@command(EXAMPLES)
def learn(
    baskets: Annotated[Path, typer.Argument(help=FILE, metavar="BASKETS.csv")],
    options: LearnOptions,
    layout: Annotated[
        str | None, typer.Option(help=f"{', '.join(LAYOUTS)}.  [default: detected]")
    ] = None,
    columns: Annotated[str | None, typer.Option(help=COLUMNS)] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="What separates cells.  [default: detected]")
    ] = None,
    model: Annotated[str, model_option(help=f"{', '.join(MODELS)}.")] = "pairwise",
    objective: Annotated[str | None, model_option(help=OBJECTIVE)] = None,
    strength: Annotated[float | None, model_option(help=STRENGTH)] = None,
    dimensions: Annotated[int, model_option(help="The width of flid and fldc.")] = 10,
    noise: Annotated[int, model_option(help="Noise baskets per basket, for nce.")] = 10,
    starts: Annotated[int, model_option(help="Random starts of flid and fldc.")] = 4,
    redraws: Annotated[int, model_option(help="Columns of flid and fldc to draw anew.")] = 12,
    held_out: Annotated[float, model_option(help=HELD_OUT)] = 0.2,
    together: Annotated[str, what("--interactions", help=f"{INTERACTION_NAMES}.")] = "shapley",
    top: Annotated[int, what(help="Pairs that are shown; 0: none.", min=0)] = 10,
) -> None:
    """The worth of items to baskets, or of members to teams, learned from observed ones."""
    if not 0 <= held_out < 1:
        raise InputError(f"--held-out {held_out:g} is no share; give a number from 0 to below 1")
    criterion = together.lower().replace("-", "_")
    if criterion not in registry():
        raise InputError(f"there are no interactions {together!r}; choose from {INTERACTION_NAMES}")
    named = None if columns is None else [name.strip() for name in columns.split(",")]
    seen = read_baskets(baskets, delimiter, layout=layout, columns=named)
    train, test = seen.split(held_out, options.seed) if held_out else (seen, None)
    game = learned(
        train,
        model,
        objective,
        strength=strength,
        held_out=held_out or 0.2,
        dimensions=dimensions,
        noise=noise,
        starts=starts,
        redraws=redraws,
        seed=options.seed,
        progress=False if options.quiet else None,
    )
    if not options.quiet:
        _warn_of_few(train, test, held_out or 0.2, chosen=strength is None and model != "linear")
    scores = _scores(game, f"{model} by {game.objective}", train, test, options)
    # Where the law has several modes, the one to value is where the baskets are.
    start = train.frequencies
    pairs = _pairs(game, criterion, top, options, start)
    value(game, options, start=start, pairs=pairs, scores=scores)
    if pairs is not None and not options.quiet:
        print_text(f"{_strongest(pairs, top)}\n")


def _scores(
    game: LearnedGame, name: str, train: Observed, test: Observed | None, options: LearnOptions
) -> ScoreTable | None:
    if test is None:
        return None
    found = score_table({name: game}, test, learned_from=train, seed=options.seed)
    if not options.quiet and _is_worse(game, name, found, train, test):
        remedy = f"a --strength above {game.fit.strength:g}"
        say(
            "warning: as a law of whole baskets the game is worse than independent players, perhaps "
            "because it expects baskets that are never seen; "
            f"{remedy if game.objective == 'nce' else '--objective nce'} may help"
        )
    return found


def _warn_of_few(train: Observed, test: Observed | None, share: float, *, chosen: bool) -> None:
    """Warn where scores, or the strength that is ``chosen``, rest on few baskets."""
    counts = {}
    if test is not None:
        counts["the scores"] = test.total
    if chosen:
        counts["the choice of the strength"] = max(1, round(share * train.total))
    few = [f"{count:g} for {use}" for use, count in counts.items() if count < FEW_HELD_OUT]
    if few:
        say(f"warning: few baskets are held out, {' and '.join(few)}; do not rely on what they say")


def _is_worse(
    game: LearnedGame, name: str, scores: ScoreTable, train: Observed, test: Observed
) -> bool:
    """Whether the law of independent players is better by more than two standard errors."""
    law, alone = (scores[each].log_likelihood for each in (name, INDEPENDENT))
    if law is None or alone is None:
        return False
    _, error = gain_of_law(game, learned(train, "linear"), test)
    return error is not None and law < alone - max(NOTED, 2 * error)


def _pairs(
    game: Game, criterion: str, top: int, options: LearnOptions, start: FloatArray
) -> Interactions | None:
    """All pairs where they are few, else the strongest ``top``; None where ``top`` is 0."""
    if not top or len(game.players) < 2:
        return None
    few = comb(len(game.players), 2) <= MOST_PAIRS or not registry()[criterion].searchable
    return interactions(
        game,
        criterion,
        top=None if few else top,
        temperature=options.parsed_temperature(),
        start=start,
        **options.keywords(),
    )


def _strongest(pairs: Interactions, top: int) -> str:
    shown = pairs.of_size(2).top(top)
    columns: dict[str, list[object]] = {
        "together": [" + ".join(map(str, pair)) for pair, _ in shown],
        f"{pairs.criterion.replace('_', ' ')} interaction": [strength for _, strength in shown],
    }
    return text_table(columns)
