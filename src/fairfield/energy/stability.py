"""How a fixed point of the mean-field iteration sits in the landscape of the ELBO."""

from __future__ import annotations

import numpy as np

from fairfield.game import Extension, FloatArray

# Beyond this many players the Hessian is not formed; products with it are, by
# differences of gradients.
DENSE = 256


def response(extension: Extension, x: FloatArray) -> FloatArray:
    """D^½ H D^½ with D = diag x(1-x), H = ∇²f(x): (*batch, n, n)."""
    root = np.sqrt(x * (1 - x))
    return np.asarray(root[..., :, None] * extension.hessian(x) * root[..., None, :])


def saddle_eigenvalue(extension: Extension, x: FloatArray, heat: FloatArray) -> FloatArray:
    """λ_max(D^½ H D^½ / T - I): positive at a saddle of the ELBO, negative at a maximum."""
    if extension.players <= DENSE:
        chunks = _chunks(extension, x)
        top = np.concatenate(
            [np.linalg.eigvalsh(response(*chunk))[..., -1].ravel() for chunk in chunks]
        )
        return np.asarray(top.reshape(extension.batch) / heat - 1)
    return np.asarray(_largest_eigenvalue(extension, x) / heat - 1)


def _chunks(extension: Extension, x: FloatArray) -> list[tuple[Extension, FloatArray]]:
    """Some games at a time, so that Hessians of a large batch do not pile up."""
    if not extension.batch:
        return [(extension, x)]
    points = x.reshape(-1, extension.players)
    step = max(1, 2**20 // extension.players**2)
    parts = [slice(i, min(i + step, len(points))) for i in range(0, len(points), step)]
    return [(extension.rows(part), points[part]) for part in parts]


def _largest_eigenvalue(extension: Extension, x: FloatArray, rounds: int = 30) -> FloatArray:
    """λ_max(D^½ H D^½) by power iteration, its products from differences of gradients.

    The shift by a bound on |λ| turns the largest into the dominant eigenvalue.
    """
    root = np.sqrt(x * (1 - x))

    def product(v: FloatArray) -> FloatArray:
        along = root * v
        size = 1e-4 / np.maximum(np.abs(along).max(axis=-1, keepdims=True), 1e-300)
        ahead, behind = extension.gradient(x + size * along), extension.gradient(x - size * along)
        return np.asarray(root * (ahead - behind) / (2 * size))

    v = np.random.default_rng(0).standard_normal(x.shape)
    v /= np.linalg.norm(v, axis=-1, keepdims=True)
    bound = np.zeros(x.shape[:-1])
    for _ in range(rounds):
        moved = product(v)
        rayleigh = np.sum(v * moved, axis=-1)
        bound = np.maximum(bound, np.linalg.norm(moved, axis=-1))
        v = moved + bound[..., None] * v
        v /= np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)
    return np.asarray(rayleigh)
