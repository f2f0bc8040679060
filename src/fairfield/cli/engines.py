"""The engines that evaluate worths: the cores of this machine, or a cluster of dask or ray."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from tempfile import TemporaryDirectory
from typing import Any

from fairfield.cli.messages import InputError
from fairfield.core.runtime.imports import needed_for

# Seconds to wait for an answer at an address.
PATIENCE = 5.0
# Engines started here talk to nobody else: whoever reaches their ports can run code.
LOOPBACK = "127.0.0.1"
# How ray is made to: no cluster of machines; what waits for a head that was lost ends after half a
# minute, and begins no cluster of its own.
ALONE = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "30",
    "RAY_ENABLE_AUTO_CONNECT": "0",
}


Backend = StrEnum("Backend", "loky dask ray")


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
    chosen: dict[str, Any] = {"backend": (backend or Backend.loky).value}
    with ExitStack() as opened:
        if backend is Backend.dask:
            _open_dask(opened, address, workers)
        elif backend is Backend.ray:
            _open_ray(opened, address, workers)
            chosen["n_jobs"] = jobs or -1
        opened.enter_context(joblib.parallel_config(**chosen))
        yield


def _open_dask(opened: ExitStack, address: str | None, workers: int | None) -> None:
    with needed_for("--backend dask"):
        from distributed import Client, LocalCluster
    cluster: Any = address
    if address is None:
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, host=LOOPBACK
        )
        opened.enter_context(cluster)
    opened.enter_context(Client(cluster))


def _open_ray(opened: ExitStack, address: str | None, workers: int | None) -> None:
    if address is None:
        for name, setting in ALONE.items():  # read when ray is imported
            os.environ.setdefault(name, setting)
    with needed_for("--backend ray"):
        import ray
        from ray.util.joblib import register_ray
    where: dict[str, Any] = {"address": address}
    if address is None:
        session = TemporaryDirectory(prefix="fairfield-ray-", ignore_cleanup_errors=True)
        folder = opened.enter_context(session)
        where = {"num_cpus": workers, "include_dashboard": False, "_temp_dir": folder}
    ray.init(logging_level="ERROR", **where)
    opened.callback(ray.shutdown)
    register_ray()


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
