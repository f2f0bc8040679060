"""The stability of a fixed point: maximum or saddle of the ELBO, and its error."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension
from fairfield.mean_field.reach import within_reach

# A positive eigenvalue up to this is rounding, not a direction to climb.
FLAT = 1e-7


def response(extension: Extension, x: FloatArray) -> FloatArray:
    """D^½ H D^½ with D = diag x(1-x), H = ∇²f(x): (*batch, n, n)."""
    root = np.sqrt(x * (1 - x))
    return np.asarray(root[..., :, None] * extension.hessian(x) * root[..., None, :])


def saddle_eigenvalue(extension: Extension, x: FloatArray, temperature: FloatArray) -> FloatArray:
    """λ_max(D^½ H D^½ / T - I): positive at a saddle of the ELBO, negative at a maximum."""
    if not extension.batch:
        top = within_reach(extension, lambda part, some: _top(part, x[some]))
        return np.asarray(top / temperature - 1)
    if extension.players > extension.dense:
        return np.asarray(_largest_eigenvalue(extension, x) / temperature - 1)
    # Some games at a time, so that Hessians of a large batch do not pile up.
    points = x.reshape(-1, extension.players)
    step = max(1, 2**20 // extension.players**2)
    parts = [slice(i, min(i + step, len(points))) for i in range(0, len(points), step)]
    responses = (response(extension.rows(part), points[part]) for part in parts)
    top = np.concatenate([np.linalg.eigvalsh(each)[:, -1] for each in responses])
    return np.asarray(top.reshape(extension.batch) / temperature - 1)


def index_covariance(
    extension: Extension, x: FloatArray, temperature: FloatArray
) -> FloatArray | None:
    """B Cov(∇f(x)) Bᵀ, B = (I - HD/T)⁻¹: the covariance of a fixed point due to noisy worths.

    To first order, at a fixed temperature; None where the worths have no errors, and
    infinite where an eigenvalue of HD is T itself, so that the fixed point may go anywhere.
    """
    direct = extension.gradient_covariance(x)
    if direct is None:
        return None
    share = x * (1 - x) / temperature[..., None]
    inverse = np.eye(extension.players) - extension.hessian(x) * share[..., None, :]
    try:
        half = np.linalg.solve(inverse, direct)
        return np.asarray(np.linalg.solve(inverse, half.swapaxes(-1, -2)))
    except np.linalg.LinAlgError:
        return np.full_like(direct, np.inf)


def _top(extension: Extension, x: FloatArray) -> FloatArray:
    """λ_max(D^½ H D^½) of one game."""
    if extension.players > extension.dense:
        return _largest_eigenvalue(extension, x)
    return np.asarray(np.linalg.eigvalsh(response(extension, x))[-1])


def _largest_eigenvalue(extension: Extension, x: FloatArray, products: int = 12) -> FloatArray:
    """λ_max(D^½ H D^½) by Lanczos, its products from differences of gradients."""
    root, base = np.sqrt(x * (1 - x)), extension.gradient(x)
    basis = np.zeros((products + 1, *x.shape))
    diagonal, beside = np.zeros((products, *x.shape[:-1])), np.zeros((products, *x.shape[:-1]))
    start = np.random.default_rng(0).standard_normal(x.shape)
    basis[0] = start / np.linalg.norm(start, axis=-1, keepdims=True)
    for k in range(products):
        along = root * basis[k]
        size = 1e-5 / np.maximum(np.abs(along).max(axis=-1, keepdims=True), 1e-300)
        moved = root * (extension.gradient(x + size * along) - base) / size
        diagonal[k] = np.sum(moved * basis[k], axis=-1)
        # Against all earlier directions: rounding would bring them back.
        moved = moved - np.einsum("k...n,k...->...n", basis, np.sum(basis * moved, axis=-1))
        beside[k] = np.linalg.norm(moved, axis=-1)
        # Where the directions are exhausted what is left is rounding, not a direction.
        fresh = beside[k] > 1e-8 * np.abs(diagonal).max(axis=0)
        beside[k] = np.where(fresh, beside[k], 0.0)
        basis[k + 1] = (
            np.where(fresh[..., None], moved, 0.0) / np.where(fresh, beside[k], 1.0)[..., None]
        )
    place = np.arange(products)
    small = np.zeros((*x.shape[:-1], products, products))
    small[..., place, place] = np.moveaxis(diagonal, 0, -1)
    small[..., place[1:], place[:-1]] = np.moveaxis(beside[:-1], 0, -1)
    return np.asarray(np.linalg.eigvalsh(small)[..., -1])
