"""Arrays: of other libraries, on devices, sparse, a block at a time.

Any library of the array-API standard works; PyTorch, CuPy and JAX are named where the
standard does not cover what is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias, cast

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from fairfield.core.runtime.imports import needed_for

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

# The devices of PyTorch whose memory NumPy reads.
HOSTS = ("cpu",)
# Numbers worked on at once: 4 MB stay in the cache between the passes over them.
BLOCK = 2**19


def on_host(array: Any, dtype: Any = np.float64) -> Any:
    """An array of any device as a NumPy array; NaN where one is masked."""
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(float), np.nan)
    elif not isinstance(array, np.ndarray):
        if array_api_compat.is_torch_array(array):
            array = array.detach().cpu()
            if str(array.dtype) == "torch.bfloat16":  # which NumPy has not
                array = array.float()
        elif array_api_compat.is_cupy_array(array):
            array = array.get()
    return np.asarray(array, dtype=dtype)


def real_numbers(answer: Any) -> FloatArray:
    """What a function of the user's returned, in double precision.

    Text, dates and complex numbers are a TypeError: as numbers they would mean something else.

    >>> real_numbers(np.ma.array([1, 2], mask=[False, True]))
    array([ 1., nan])
    """
    found = on_host(answer, None)
    texts = found.dtype == object and any(isinstance(each, str | bytes) for each in found.flat)
    if texts or found.dtype.kind not in "biufO":
        raise TypeError(f"values of type {'str' if texts else found.dtype} were returned")
    return np.asarray(found, dtype=float)


def elsewhere(array: Any) -> bool:
    """Whether an array of PyTorch or CuPy is in the memory of a device, which NumPy cannot read."""
    if array_api_compat.is_torch_array(array):
        return array.device.type not in HOSTS
    return bool(array_api_compat.is_cupy_array(array))


def in_precision(array: Any, dtype: str) -> Any:
    """A copy of an array of any library in "float32" or "float64"."""
    if isinstance(array, np.ndarray):
        return array.astype(dtype)
    xp = array_api_compat.array_namespace(array)
    return xp.astype(array, getattr(xp, dtype))


def beside(other: Any, array: NDArray[Any]) -> Any:
    """A NumPy array in the library and on the device of another array."""
    if isinstance(other, np.ndarray):
        return array
    xp = array_api_compat.array_namespace(other)
    # PyTorch refuses read-only arrays.
    array = array if array.flags.writeable else array.copy()
    return xp.asarray(array, device=array_api_compat.device(other))


# The namespace to use for devices of a library, by the library that their type is from.
_LIBRARIES = {
    "torch": "array_api_compat.torch",
    "cupy": "array_api_compat.cupy",
    "jaxlib": "jax.numpy",
    "array_api_strict": "array_api_strict",
}


def device_named(device: Any) -> tuple[Any, Any]:
    """The namespace of a device and the device: a string names one of PyTorch."""
    if isinstance(device, str):
        with needed_for(f"device={device!r}"):
            device = import_module("torch").device(device)
    library = type(device).__module__.split(".")[0]
    if library not in _LIBRARIES:
        raise ValueError(
            f'device={device!r} was given; name one of PyTorch ("cuda", "cpu"), or give a '
            "device object of PyTorch, CuPy or JAX"
        )
    return import_module(_LIBRARIES[library]), device


def written(table: Any, start: int, part: Any) -> Any:
    """The table with a part written into it, in place."""
    if array_api_compat.is_jax_array(table):
        return _jax_writer()(table, part, start)
    table[start : start + part.shape[0]] = part
    return table


@cache
def _jax_writer() -> Callable[[Any, Any, int], Any]:
    jax = import_module("jax")
    update = jax.lax.dynamic_update_slice
    # JAX writes in place only into an array that is donated to it.
    writer = jax.jit(lambda table, part, start: update(table, part, (start,)), donate_argnums=0)
    return cast(Callable[[Any, Any, int], Any], writer)


def check_double(array: Any) -> None:
    """Refuse an array whose device cannot add up in double precision."""
    xp = array_api_compat.array_namespace(array)
    try:
        found = beside(array, np.zeros(1)).dtype
    except (TypeError, RuntimeError):
        found = None
    if found != xp.float64:
        raise ValueError(
            f"{type(array).__module__.split('.')[0]} has no float64 on the device of this array, "
            "which sums over coalitions need; move it to another device, or for JAX call "
            'jax.config.update("jax_enable_x64", True) first'
        )


def free_bytes(device: Any) -> int | None:
    """The free memory of a device in bytes, or None where its library does not report it."""
    kind = type(device).__module__.split(".")[0]
    if kind == "torch" and device.type == "cuda":
        return int(import_module("torch").cuda.mem_get_info(device)[0])
    if kind == "cupy":
        return int(device.mem_info[0])
    if kind.startswith("jax"):
        stats = device.memory_stats() or {}
        if "bytes_limit" in stats:
            return int(stats["bytes_limit"] - stats["bytes_in_use"])
    return None


def slabs(rows: int, size: int, block: int = BLOCK) -> list[slice]:
    """Slices of so many rows that work on ``size`` numbers each, a block of numbers at a time."""
    step = max(1, block // max(size, 1))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def is_sparse(given: Any) -> bool:
    """Whether this is a sparse matrix of SciPy."""
    return hasattr(given, "tocsr")


def parts_of(matrix: Any) -> tuple[Any, ...]:
    """The arrays that make up a dense or a CSR matrix."""
    if is_sparse(matrix):
        return matrix.data, matrix.indices, matrix.indptr
    return (on_host(matrix),)
