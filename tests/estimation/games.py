"""Games that are sampled, and what estimates of them are compared with."""

import numpy as np

import brute
import fairfield as ff
from fairfield.core.coalitions import rows_of
from fairfield.estimation.along import Along
from fairfield.estimation.designs.design import Design, Plan

PLAYERS = 9
SIGNS = brute.coalitions(PLAYERS) - 0.5
# Steps of one player and of four, and a wave of the size.
TREE = (SIGNS[:, 0] > 0) * 2.0 + (SIGNS[:, :4] > 0).all(axis=1) * 3.0 + np.sin(SIGNS.sum(axis=1))


def sampled(criterion, table, **options):
    """A table as a function, so that it is sampled."""
    game = ff.TableGame(table)
    return criterion(game.worths, players=len(game.players), **{"budget": 200, **options})


def sample_of(table, criterion, budget, seed=0, plan=None):
    """What a design for Shapley's or Banzhaf's values draws of a game, or of a batch of them."""
    game = ff.TableGame(table)
    count = len(game.players)
    design = Design(count, [getattr(Along, criterion)(count)], seed, plan or Plan())
    received = 0
    while received < budget and len(asked := design.ask(budget - received)):
        design.tell(asked, game.worths(asked))
        received += len(asked)
    return design.sampled(noisy=False)


def hidden(table):
    """A table as a function, so that it is sampled."""
    return lambda S: table[rows_of(S)]


def errors(found, exact):
    """Distances from the exact values in standard errors, rounding aside."""
    rounding = 1e-9 * np.abs(exact).max()
    return np.abs(found.values - exact) / (found.stderr + rounding)


class Batch(ff.Game):
    """Games on the same coalitions, without a closed form."""

    def __init__(self, tables):
        self.tables, self.batch = tables, tables.shape[:-1]
        self.players = tuple(range(tables.shape[-1].bit_length() - 1))

    def worths(self, coalitions):
        return self.tables[..., rows_of(coalitions)]


GAINS = np.random.default_rng(3).random((12, 4))


def covered(S):
    """Facility location of twelve players: every column is served by its best player."""
    return np.where(S[:, :, None], GAINS, 0.0).max(axis=1).sum(axis=1)


NONE = np.zeros((1, 8), dtype=bool)


def fill(pool, table, points, rare=NONE, fresh=60, most=None, seed=0):
    rng = np.random.default_rng(seed)
    asked = pool.plan(points, np.arange(len(points)) * 0, fresh, 8 * fresh, rare, rng)[:most]
    pool.tell(asked, table[None, rows_of(asked)])
    return asked
