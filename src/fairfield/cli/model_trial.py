"""Model files of XGBoost and LightGBM are tried in a process of their own before they are used.

They run no code, but their libraries trust them: nesting without end, children that are their
own parents and wild indices crash them, or keep them busy for ever.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from math import ceil
from pathlib import Path
from time import process_time

import numpy as np

# What a trial may take; memory is of addresses, of which libraries reserve more than they use.
SECONDS, GIGABYTES = 120.0, 8
_TRIAL = "import sys; from fairfield.cli.model_trial import trial; trial(sys.argv[1])"


def complaint(path: Path) -> str | None:
    """What went wrong when another process read this model and predicted with it; None if nothing."""
    # One thread, since the stacks of many count against the limit of memory.
    surroundings = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    surroundings["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _TRIAL, str(path.resolve())],
            env=surroundings, capture_output=True, text=True, errors="replace",
            timeout=SECONDS, check=False,
        )  # fmt: skip
        late = done.returncode == -signal.SIGXCPU
    except subprocess.TimeoutExpired:
        late = True
    if late:
        return f"reading it took more than {SECONDS:g} seconds"
    if done.returncode < 0:
        return f"its library crashed with {signal.Signals(-done.returncode).name}"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["its library gave up"])[-1][:200]
    return None


def trial(path: str) -> None:
    """Read a model, with limits of memory and time, predict a few rows and walk through its trees.

    The processor's time has a limit here too, for whoever waits may be killed.
    """
    import resource

    from fairfield.cli.model_files import load, width_of
    from fairfield.games.trees.readers.registry import read_model

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES * 2**30,) * 2)
    limit = ceil(process_time() + SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    try:
        model = load(Path(path))
        rows = np.array([0.0, -1e30, 1e30, np.nan])[:, None].repeat(width_of(model) or 1, axis=1)
        if hasattr(model, "inplace_predict"):
            model.inplace_predict(rows, validate_features=False)
        else:
            model.predict(rows)
        with suppress(TypeError):  # a linear booster has no trees
            read_model(model)
    except Exception as error:
        said = str(error).strip() or type(error).__name__  # a MemoryError says nothing
        print(said.split("\n")[0], file=sys.stderr)
        raise SystemExit(1) from None
