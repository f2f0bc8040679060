"""Valuations in runs of trackers: the real ones where they are installed, and stand-ins that record."""

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import fairfield as ff


@pytest.fixture
def value(rng):
    return ff.shapley(ff.TableGame(rng.standard_normal(8), ["ann", "bob & co", "eve"]))


class Client:
    """Records what MlflowClient is called with; its names and arguments are those of MLflow 3."""

    def __init__(self):
        self.metrics, self.files = {}, {}
        self.log_text = self.log_figure = self._log_file

    def log_metric(self, run_id, key, value, timestamp=None, step=None):
        self.metrics[run_id, key, step] = value

    def _log_file(self, run_id, content, artifact_file):
        self.files[artifact_file] = content


def test_a_run_of_mlflow_gets_metrics_and_files(value, monkeypatch):
    client = Client()
    fake = ModuleType("mlflow")
    fake.MlflowClient = lambda: client
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    value.log(SimpleNamespace(info=SimpleNamespace(run_id="7")), step=3)
    assert client.metrics["7", "shapley/bob _ co", 3] == value["bob & co"]
    assert json.loads(client.files["fairfield/shapley-3.json"]) == value.to_dict()
    assert client.files["fairfield/shapley-3.html"] == value.to_html()
    assert client.files["fairfield/shapley-3.png"].axes


def test_a_file_store_of_mlflow_holds_the_same(value, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        value.log(run)
    held = mlflow.get_run(run.info.run_id)
    assert held.data.metrics["shapley/ann"] == value["ann"]
    files = {path.name for path in Path(tmp_path).rglob("artifacts/fairfield/*")}
    assert files == {"shapley-0.json", "shapley-0.html", "shapley-0.png"}


def test_a_run_of_wandb_gets_metrics_and_files(value, rng, monkeypatch):
    logged, kept = {}, {}

    class Artifact:
        def __init__(self, name, type):
            self.name, self.type = name, type

        @contextmanager
        def new_file(self, name, mode):
            yield SimpleNamespace(write=lambda text: kept.setdefault(name, text))

    fake = ModuleType("wandb")
    fake.Html, fake.Image, fake.Artifact = str, lambda figure: figure, Artifact
    monkeypatch.setitem(sys.modules, "wandb", fake)
    run = SimpleNamespace(
        log=lambda held, step: logged.update(held), log_artifact=lambda held: kept.update(run=held)
    )
    value.log(run)
    assert logged["shapley/eve"] == value["eve"]
    assert logged["shapley/table"] == value.to_html()
    assert logged["shapley/picture"].axes
    assert json.loads(kept["valuation.json"]) == value.to_dict()
    assert kept["run"].name == "fairfield-shapley"
    batch = ff.shapley(rng.standard_normal((4, 8)))
    batch.log(run)
    assert logged["shapley/0"] == pytest.approx(np.abs(batch.values[:, 0]).mean())


def test_an_offline_run_of_wandb_holds_the_same(value, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(project="loans", dir=tmp_path) as run:
        value.log(run)
        assert run.summary["shapley/ann"] == value["ann"]
    files = {path.suffix for path in Path(tmp_path).rglob("files/media/*/shapley/*")}
    assert files == {".html", ".png"}


def test_what_is_no_run_is_refused(value):
    with pytest.raises(TypeError, match=r"a dict is no run; give what mlflow\.start_run"):
        value.log({})


def test_names_of_players_never_hide_each_other(monkeypatch):
    client, fake = Client(), ModuleType("mlflow")
    fake.MlflowClient = lambda: client
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    v = ff.shapley([0, 1, 2, 3, 4, 5, 6, 17], players=["a+", "a*", "seconds"])
    v.log(SimpleNamespace(info=SimpleNamespace(run_id="7")))
    found = {key: value for (_, key, _), value in client.metrics.items()}
    assert [found[f"shapley/{key}"] for key in ("a_", "a__", "seconds_")] == list(v.values)
    assert found["shapley/seconds"] == v.seconds
