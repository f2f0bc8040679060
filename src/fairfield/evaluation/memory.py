"""Whether a table of all worths is within budget and memory."""

from __future__ import annotations

from fairfield.core.game import Game
from fairfield.core.runtime.memory import fits
from fairfield.evaluation.kept import numbers_kept
from fairfield.evaluation.options import Options

# Without a budget, tables have at most this many players.
MOST_PLAYERS = 25
# The criteria that can be estimated where there is no table.
ESTIMATED = (
    "shapley, owen, banzhaf, semivalue, variational_index, variational_values and interactions"
)


def check_table(game: Game, options: Options) -> None:
    """Refuse a table of more worths than the budget allows, or than fit into memory.

    The memory of a device is checked where the table is filled.
    """
    count = len(game.players)
    size = 8 * 2**count * numbers_kept(game)
    if options.budget is not None and 2**count > options.budget:
        raise out_of_reach(game, options)
    if game.traits.device is not None:
        return
    if not fits(size // 8) or (options.budget is None and count > MOST_PLAYERS):
        most = f"; a table of more than {MOST_PLAYERS} players is filled where budget= allows all of it"
        raise MemoryError(
            f"{game!r}: exact values need all 2^{count} worths, {_in_words(size)}; group "
            f"{game.info.noun}s, {game.info.advice}, or give a budget= of worths to evaluate to what can be "
            f"estimated from it ({ESTIMATED}){most if fits(size // 8) else ''}"
        )


def out_of_reach(game: Game, options: Options, estimated: str = ESTIMATED) -> ValueError:
    """The error of what needs a table, where the options do not allow for one.

    What of its kind is ``estimated`` is named instead.
    """
    limit = "an estimate was asked for"
    if options.budget is not None:
        limit = f"the budget allows {options.budget:,}"
    count = len(game.players)
    needed = f"{2**count:,}" if count < 40 else f"2^{count}"
    if options.exact and options.budget is not None:
        return ValueError(
            f"{game!r}: exact=True needs all {needed} worths, {limit}; leave out one of the two"
        )
    advice = f"group {game.info.noun}s, or {game.info.advice}"
    # No budget would be enough for more players.
    advice = f"raise the budget, {advice}" if count <= MOST_PLAYERS else advice
    return ValueError(
        f"{game!r}: exact values need all {needed} worths, {limit}; {advice}; only "
        f"{estimated} are estimated from fewer"
    )


def _in_words(size: int) -> str:
    """The memory of so many bytes.

    >>> _in_words(8 * 2**28), _in_words(8 * 2**60)
    ('2.15 GB of memory', 'more than any memory holds')
    """
    for power, unit in enumerate(("bytes", "kB", "MB", "GB", "TB")):
        if size < 1000 ** (power + 1):
            return f"{size / 1000**power:.3g} {unit} of memory"
    return "more than any memory holds"
