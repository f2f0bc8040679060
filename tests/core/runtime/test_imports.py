"""Where a package is missing, one sentence says what to install."""

import sys
from pathlib import Path

import numpy as np
import pytest

import fairfield as ff
from fairfield.cli.model_files import _lightgbm, _skops
from fairfield.core.arrays import device_named
from fairfield.games.neighbors.search import MetricSearch

V = ff.shapley([0.0, 1.0, 1.0, 3.0])
ROWS = np.zeros((9, 1))
MISSING = {
    ("pandas", V.to_frame): "to_frame needs pandas: pip install 'fairfield[ml]'",
    (
        "sklearn",
        lambda: ff.DataGame(None, [[0]], [0], [[0]], [0]),
    ): "DataGame needs scikit-learn: pip install 'fairfield[ml]'",
    (
        "sklearn",
        lambda: ff.cluster(np.zeros((4, 2)), 2),
    ): "cluster needs scikit-learn: pip install 'fairfield[ml]'",
    (
        "sklearn",
        lambda: ff.EnsembleGame(np.zeros((2, 3)), None, [0, 1, 1], scoring="f1"),
    ): "this scoring needs scikit-learn: pip install 'fairfield[ml]'",
    (
        "numba",
        lambda: ff.TreeGame(None, [[0.0]]),
    ): "TreeGame needs numba: pip install 'fairfield[trees]'",
    (
        "matplotlib",
        lambda: ff.plots.bar(V),
    ): "a picture needs matplotlib: pip install 'fairfield[plots]'",
    (
        "torch",
        lambda: ff.learning.learn_deep_sets([[0]]),
    ): "a neural set function needs torch: pip install 'fairfield[learning]'",
    (
        "sklearn",
        lambda: MetricSearch(ROWS, ROWS, "euclidean")._candidates(ROWS, 3),
    ): "a search among 9 rows without neighbors= needs scikit-learn: pip install 'fairfield[ml]'",
    (
        "skops",
        lambda: _skops(Path("m.skops")),
    ): "the model in m.skops needs skops: pip install 'fairfield[models]'",
    (
        "lightgbm",
        lambda: _lightgbm(Path("m.txt")),
    ): "the model in m.txt needs lightgbm: pip install lightgbm",
    (
        "torch",
        lambda: device_named("cuda"),
    ): "device='cuda' needs torch: pip install 'fairfield[learning]'",
    ("shapiq", lambda: ff.to_shapiq(ff.TableGame([0.0, 1.0]))): (
        "to_shapiq needs shapiq: pip install shapiq"
    ),
}


@pytest.mark.parametrize(("missing", "sentence"), MISSING.items(), ids=lambda each: str(each[0]))
def test_a_missing_package_is_named(missing, sentence, monkeypatch):
    package, use = missing
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as caught:
        use()
    assert str(caught.value) == sentence


def test_a_report_without_plotly(tmp_path, monkeypatch):
    from fairfield.reports.page import _plotly

    _plotly.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "plotly"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(ImportError, match="an HTML report needs plotly"):
        ff.report(V, tmp_path / "r.html")


@pytest.mark.parametrize("package", ["typer", "pandas", "rich"])
def test_the_command_without_its_packages(package, monkeypatch, capsys):
    from fairfield.cli import main

    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "run: pip install 'fairfield[cli]'" in capsys.readouterr().err
