"""Games of many players whose laws are known: independent blocks, determinants, mean fields."""

import numpy as np
from scipy.special import gammaln, logsumexp

import brute
import fairfield as ff
from fairfield.core.extension import Extension
from fairfield.multilinear.table import TableExtension


class BlocksExtension(Extension):
    """The sum of the extensions of tables, each of its own players."""

    method = "closed form: blocks"

    def __init__(self, tables):
        self.tables = tables
        self.blocks, size = tables.shape
        self.each = self.degree = size.bit_length() - 1
        self.players = self.blocks * self.each
        self.parts = [TableExtension.of(ff.TableGame(table)) for table in tables]

    def centred(self, x):
        at = np.asarray(x, dtype=float)
        lead = at.shape[:-1]
        at = at.reshape(-1, self.blocks, self.each)
        if ((at == 0) | (at == 1)).all():
            value, gradient = self._looked_up(at.astype(np.int64))
        else:
            parts = [part.centred(at[:, k]) for k, part in enumerate(self.parts)]
            value = sum(v + part.offset for (v, _), part in zip(parts, self.parts, strict=True))
            gradient = np.stack([g for _, g in parts], axis=1)
        return value.reshape(lead), gradient.reshape(*lead, self.players)

    def _looked_up(self, inside):
        bits = 1 << np.arange(self.each)
        rows, block = inside @ bits, np.arange(self.blocks)
        above = self.tables[block[:, None], rows[..., None] | bits]
        below = self.tables[block[:, None], rows[..., None] & ~bits]
        return self.tables[block, rows].sum(axis=-1), above - below


class BlocksGame(ff.Game):
    """Independent blocks of players: log Z, marginals and entropies add up."""

    def __init__(self, tables):
        self.tables = np.asarray(tables, dtype=float)
        self._extension = BlocksExtension(self.tables)
        self.players = tuple(range(self._extension.players))

    def worths(self, coalitions):
        return self._extension.value(coalitions)

    def extension(self):
        return self._extension

    def log_z(self, temperature):
        return float(logsumexp(self.tables / temperature, axis=1).sum())

    def marginals(self, temperature):
        laws = np.exp(
            self.tables / temperature - logsumexp(self.tables / temperature, axis=1, keepdims=True)
        )
        return (laws @ brute.coalitions(self._extension.each)).ravel()


class DeterminantGame(ff.Game):
    """F(S) = log det L_S: at T = 1 a determinantal point process, Z = det(L + I)."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.players = tuple(range(len(kernel)))

    def worths(self, coalitions):
        return self.contributions(coalitions)[0]

    def contributions(self, coalitions):
        """From the inverse of L_S: log of Schur complements, of members and of the others."""
        inside = coalitions.astype(float)
        each = np.arange(len(self.kernel))
        part = inside[:, :, None] * self.kernel * inside[:, None, :]
        part[:, each, each] += 1 - inside
        inverse = np.linalg.inv(part)
        beside = self.kernel * inside[:, None, :]
        joins = np.diag(self.kernel) - np.einsum("mij,mij->mi", beside @ inverse, beside)
        stays = 1 / inverse[:, each, each]
        steps = np.log(np.where(coalitions, stays, np.maximum(joins, 1e-300)))
        return np.linalg.slogdet(part)[1], steps

    def log_z(self):
        return float(np.linalg.slogdet(self.kernel + np.eye(len(self.kernel)))[1])

    def marginals(self):
        return np.diag(self.kernel @ np.linalg.inv(self.kernel + np.eye(len(self.kernel))))


def entropy(p):
    return -np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0))


def within(estimate, exact, stderr, errors=5.0):
    """Whether an estimate is as near as its standard error says; rounding is forgiven."""
    return np.all(np.abs(estimate - exact) <= errors * stderr + 1e-9 * (1 + np.abs(exact)))


def ferromagnet(players, coupling, field):
    """All pairs attract alike: below T = coupling/4 the law splits. Its game and log Z at T."""
    pairs = np.full((players, players), coupling / players)
    np.fill_diagonal(pairs, 0.0)
    linear = field - coupling * (players - 1) / players / 2
    size = np.arange(players + 1)
    worth = linear * size + coupling / players * size * (size - 1) / 2
    count = gammaln(players + 1) - gammaln(size + 1) - gammaln(players - size + 1)
    game = ff.PairwiseGame(np.full(players, linear), pairs)
    return game, lambda temperature: float(logsumexp(count + worth / temperature))


def random_blocks(rng, blocks=10, each=10):
    """Worths of all coalitions of a block drawn independently: rugged."""
    return BlocksGame(rng.standard_normal((blocks, 2**each)))


def two_modes(rng, blocks=10, each=10, bias=0.0):
    """Blocks that are best nearly empty or nearly full: 2^blocks modes."""
    size = brute.coalitions(each).sum(axis=1)
    worth = np.abs(size - each / 2) + bias * size
    return BlocksGame(worth + 0.1 * rng.standard_normal((blocks, 2**each)))


def full_house(blocks=10, each=10, prize=3.0, cost=0.3):
    """Members cost, and only nearly full blocks pay: hidden from both uniform and empty."""
    size = brute.coalitions(each).sum(axis=1)
    worth = np.where(size >= 0.8 * each, prize * (size - 0.8 * each), 0.0) - cost * size
    return BlocksGame(np.tile(worth, (blocks, 1)))


def needles(rng, blocks=10, each=10, prize=8.5):
    """One coalition of each block outweighs all others of it together."""
    tables = 0.3 * rng.standard_normal((blocks, 2**each))
    tables[np.arange(blocks), rng.integers(0, 2**each, blocks)] = prize
    return BlocksGame(tables)


def determinant(rng, players, scale=3.0):
    root = rng.standard_normal((players, players))
    return DeterminantGame(root @ root.T * scale / players + 0.2 * np.eye(players))
