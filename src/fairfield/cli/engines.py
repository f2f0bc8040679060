"""The engines that evaluate worths: the cores of this machine, or a cluster of dask or ray."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from fairfield.cli.messages import InputError
from fairfield.core.imports import needed_for

# Seconds to wait for an answer at an address.
PATIENCE = 5.0


class Backend(StrEnum):
    """An engine by its name."""

    loky = "loky"
    dask = "dask"
    ray = "ray"


@contextmanager
def engine(backend: Backend | None, address: str | None, jobs: int | None) -> Iterator[None]:
    """The engine that evaluates worths, for as long as it is needed.

    At an address it is left running; without one it is started here, with ``jobs`` workers.
    """
    import joblib

    if address is not None:
        if backend not in (Backend.dask, Backend.ray):
            raise InputError("--address goes with --backend dask or --backend ray")
        _check_reachable(address)
    workers = None if jobs is None or jobs < 1 else jobs  # None: as many as there are cores
    if backend is Backend.dask:
        with _dask(address, workers), joblib.parallel_config(backend="dask"):
            yield
    elif backend is Backend.ray:
        with _ray(address, workers), joblib.parallel_config(backend="ray", n_jobs=jobs or -1):
            yield
    else:
        with joblib.parallel_config(backend="loky"):
            yield


@contextmanager
def _dask(address: str | None, workers: int | None) -> Iterator[None]:
    with needed_for("--backend dask"):
        from distributed import Client, LocalCluster
    if address is not None:
        with Client(address):
            yield
        return
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        yield


@contextmanager
def _ray(address: str | None, workers: int | None) -> Iterator[None]:
    with needed_for("--backend ray"):
        import ray
        from ray.util.joblib import register_ray
    where: dict[str, Any] = {"address": address}
    if address is None:
        where = {"num_cpus": workers, "include_dashboard": False}
    ray.init(logging_level="ERROR", **where)
    register_ray()
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Refuse at once an address that does not answer; the engines themselves try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not port.isdigit():
        return  # a name for the engine to resolve, such as ray's "auto"
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, OverflowError) as reason:
        raise InputError(
            f"there is no answer at --address {address} ({reason}); start the cluster there, or leave "
            "out --address"
        ) from None
