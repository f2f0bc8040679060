"""What must work in an environment that holds fairfield and one extra, or none.

    python release/smoke.py base
    python release/smoke.py ml dask

Run by ``release/check.py`` with the interpreter of a new environment.
"""

import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from subprocess import run

import numpy as np

import fairfield as ff

GAME = ff.TableGame([0.0, 1.0, 1.0, 4.0], players=["ann", "bob"])


def worth(coalitions):
    return coalitions.sum(axis=1) ** 2.0


def base() -> None:
    assert (files("fairfield") / "py.typed").is_file(), "py.typed is missing"
    assert ff.shapley(GAME).values.tolist() == [2, 2]
    assert ff.variational_index(GAME, temperature=1.0).converged
    print(ff.compare(GAME))
    with tempfile.TemporaryDirectory() as folder:
        kept = ff.banzhaf(worth, players=5, store=f"{folder}/worths.db", n_jobs=2)
        kept.save(f"{folder}/values.npz")
        assert (ff.Valuation.load(f"{folder}/values.npz").values == kept.values).all()
        assert ff.report(ff.compare(GAME), f"{folder}/report.txt").read_text()


def ml() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.tile([0, 1], 30)
    X[:, 0] += 3 * y
    model, groups = LogisticRegression(), ff.cluster(X[:40], 4)
    v = ff.shapley(ff.DataGame(model, X[:40], y[:40], X[40:], y[40:], groups=groups))
    print(v.to_frame())
    print(ff.explain(model.fit(X, y), X[:2], background=X, criterion="shapley"))


def trees() -> None:
    # Numba comes with the extra, models with the user: what is compiled must compile.
    import fairfield.games.trees.products.walk  # noqa: F401


def plots() -> None:
    import matplotlib

    matplotlib.use("Agg")
    from fairfield import plots

    assert plots.bar(ff.shapley(GAME)).has_data()


def report() -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = ff.report(ff.compare(GAME), f"{folder}/report.html", annealing=ff.annealing(GAME))
        assert "<html" in page.read_text(encoding="utf-8")


def cli() -> None:
    with tempfile.TemporaryDirectory() as folder:
        worths = Path(folder) / "worths.csv"
        worths.write_text("coalition,worth\n,0\nann,1\nbob,1\nann bob,4\n", encoding="utf-8")
        command = str(Path(sys.executable).with_name("fairfield"))
        run([command, "game", worths, "--report", Path(folder) / "report.html"], check=True)


def models() -> None:
    import onnxruntime
    import skops.io

    assert onnxruntime.get_available_providers()
    assert skops.io.loads(skops.io.dumps([1, 2])) == [1, 2]


def dask() -> None:
    import joblib
    from distributed import Client

    with Client(processes=False, dashboard_address=None), joblib.parallel_config(backend="dask"):
        assert np.allclose(ff.shapley(worth, players=6).values, 6)


def ray() -> None:
    import joblib
    import ray
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
    register_ray()
    with joblib.parallel_config(backend="ray", n_jobs=2):
        assert np.allclose(ff.shapley(worth, players=6).values, 6)
    ray.shutdown()


def learning() -> None:
    from fairfield.learning import learn_deep_sets

    rng = np.random.default_rng(0)
    game = learn_deep_sets(rng.random((50, 4)) < 0.5, features=rng.standard_normal((4, 2)))
    assert np.isfinite(ff.shapley(game).values).all()


def remote() -> None:
    async def worth(names):
        return float(len(names))

    assert np.allclose(ff.shapley(ff.RemoteGame(worth, 4)).values, 1)


def readme() -> None:
    """The examples of README.md, one after another."""
    import os
    import re

    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "readme"}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(block, "README.md", "exec"), names)
        os.chdir("/")


def everything() -> None:
    for part in (ml, trees, plots, report, cli, models, dask, remote):
        part()


def tool(name: str) -> None:
    run([str(Path(sys.executable).with_name(name)), "--version"], check=True)


PARTS = {
    "base": lambda: None, "ml": ml, "trees": trees, "plots": plots, "report": report, "cli": cli,
    "readme": readme, "models": models, "dask": dask, "ray": ray, "learning": learning, "all": everything, "remote": remote,
    "test": lambda: tool("pytest"), "check": lambda: tool("mypy"), "docs": lambda: tool("mkdocs"),
}  # fmt: skip

if __name__ == "__main__":
    base()
    for part in sys.argv[1:]:
        PARTS[part]()
    print(f"fairfield {ff.__version__} with {', '.join(sys.argv[1:])}: in order")
