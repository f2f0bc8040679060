"""Valuations in runs of MLflow and Weights & Biases: metrics, a table, a picture and all as JSON."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairfield.results.valuation import Valuation

# Signs that a name of a metric must not have.
_STRANGE = re.compile(r"[^\w. /-]")


def log(v: Valuation, run: Any, step: int | None = None) -> None:
    """Log a valuation to the run that ``mlflow.start_run()`` or ``wandb.init()`` returned."""
    metrics = _metrics(v)
    if hasattr(run, "log") and hasattr(run, "log_artifact"):
        _log_to_wandb(v, run, metrics, step)
    elif hasattr(getattr(run, "info", None), "run_id"):
        _log_to_mlflow(v, run, metrics, step or 0)
    else:
        raise TypeError(
            f"a {type(run).__name__} is no run; give what mlflow.start_run() or wandb.init() returned"
        )


def _metrics(v: Valuation) -> dict[str, float]:
    """The value of each player, of a batch the mean of |value|; with what it took and how sure it is."""
    values = v.mean().magnitude.mean(axis=0) if v.batch else v.values
    errors = {} if v.stderr is None else {"largest stderr": v.stderr.max()}
    about = {**errors, "evaluations": v.evaluations, "seconds": v.seconds}
    found: dict[str, float] = {}
    for name, x in [*about.items(), *zip(v.players, values, strict=True)]:
        key = _STRANGE.sub("_", f"{v.criterion}/{name}")
        while key in found:  # another name that differs in what such keys cannot hold
            key += "_"
        found[key] = float(x)
    return found


def _figure(v: Valuation) -> Any:
    """The bars of the values; None without matplotlib."""
    with suppress(ImportError):
        import matplotlib.pyplot as plt

        from fairfield.plots import bar

        figure = bar(v).get_figure(root=True)
        plt.close(figure)  # it is still drawn into files, but in no window
        return figure
    return None


def _log_to_mlflow(v: Valuation, run: Any, metrics: dict[str, float], step: int) -> None:
    from mlflow import MlflowClient

    client, identity, place = MlflowClient(), run.info.run_id, f"fairfield/{v.criterion}-{step}"
    for name, value in metrics.items():
        client.log_metric(identity, name, value, step=step)
    client.log_text(identity, v.to_json(), f"{place}.json")
    client.log_text(identity, v.to_html(), f"{place}.html")
    if (figure := _figure(v)) is not None:
        client.log_figure(identity, figure, f"{place}.png")


def _log_to_wandb(v: Valuation, run: Any, metrics: dict[str, float], step: int | None) -> None:
    import wandb

    shown = {f"{v.criterion}/table": wandb.Html(v.to_html())}
    if (figure := _figure(v)) is not None:
        shown[f"{v.criterion}/picture"] = wandb.Image(figure)
    held = wandb.Artifact(re.sub(r"[^\w.-]", "_", f"fairfield-{v.criterion}"), type="valuation")
    with held.new_file("valuation.json", mode="w") as file:
        file.write(v.to_json())
    run.log({**metrics, **shown}, step=step)
    run.log_artifact(held)
