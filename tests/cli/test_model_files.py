"""Models from files: what the command finds is what the library finds with the model itself."""

import csv
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from command_line import refused

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
COLUMNS = ["age", "pay"]


@pytest.fixture
def table(people):
    return pd.read_csv(people)


def values(path, criterion="shapley"):
    with open(path, encoding="utf-8") as file:
        return np.array([float(line[criterion]) for line in csv.DictReader(file)]).reshape(-1, 2)


def ask(run, model, people, *more):
    result = run(
        "features", model, people, "--rows", "0:3", "--background", "60", "--criterion", "shapley",
        "--csv", "v.csv", *more,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return values("v.csv")


def expected(model, table, **more):
    game = ff.explain(model, table[COLUMNS].iloc[:3], table[COLUMNS], "shapley", **more)
    return game.values


def test_xgboost(run, people, table, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    pytest.importorskip("numba")
    y = (table["label"] == "yes").to_numpy().astype(int)
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=2).fit(table[COLUMNS], y)
    for name in ("m.json", "m.ubj"):
        model.save_model(tmp_path / name)
        assert_allclose(ask(run, tmp_path / name, people), expected(model, table), rtol=1e-5)


def test_lightgbm(run, people, table, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("numba")
    y = (table["label"] == "yes").to_numpy().astype(int)
    model = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1)
    model.fit(table[COLUMNS], y)
    model.booster_.save_model(tmp_path / "m.txt")
    assert_allclose(ask(run, tmp_path / "m.txt", people), expected(model, table), rtol=1e-9)


def test_skops_and_pickle(run, people, table, tmp_path):
    from sklearn.svm import SVC

    model = SVC(probability=False).fit(table[COLUMNS], table["label"])
    joblib = pytest.importorskip("joblib")
    joblib.dump(model, tmp_path / "m.joblib", compress=3)
    mine = expected(model, table)
    assert_allclose(ask(run, tmp_path / "m.joblib", people, "--trust-pickle"), mine)
    assert_allclose(
        ask(run, tmp_path / "m.joblib", people, "--trust-pickle", "--output", "no"), -mine
    )
    skops = pytest.importorskip("skops.io")
    skops.dump(model, tmp_path / "m.skops")
    assert_allclose(ask(run, tmp_path / "m.skops", people), mine)


def test_onnx(run, people, table, tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    weights, bias = np.array([[0.5, -0.5], [1.0, -1.0]], dtype=np.float32), np.zeros(2, np.float32)
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["chances"], axis=1),
    ]
    graph = helper.make_graph(
        nodes, "two classes",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])],
        [helper.make_tensor_value_info("chances", TensorProto.FLOAT, [None, 2])],
        [onnx.numpy_helper.from_array(weights, "w"), onnx.numpy_helper.from_array(bias, "b")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    small = tmp_path / "small.csv"
    table[COLUMNS].to_csv(small, index=False)

    def chances(X):
        scores = np.asarray(X, dtype=np.float32) @ weights
        return (np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))[:, 1]

    assert_allclose(ask(run, tmp_path / "m.onnx", small), expected(chances, table), atol=1e-6)
    result = run("features", tmp_path / "m.onnx", people)
    assert result.exit_code == 2
    assert "takes 2 columns" in result.stderr


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_models_without_names_of_columns(run, people, table, tmp_path, library):
    module = pytest.importorskip(library)
    pytest.importorskip("numba")
    y = (table["label"] == "yes").to_numpy().astype(int)
    kind = module.LGBMClassifier if library == "lightgbm" else module.XGBClassifier
    model = kind(n_estimators=5).fit(table[COLUMNS].to_numpy(), y)
    file = tmp_path / ("m.txt" if library == "lightgbm" else "m.json")
    (model.booster_ if library == "lightgbm" else model).save_model(file)
    small, other = tmp_path / "small.csv", tmp_path / "other.csv"
    table[[*COLUMNS, "label"]].to_csv(small, index=False)
    table[[*COLUMNS, "label"]].rename(columns={"pay": "wealth"}).to_csv(other, index=False)
    mine = expected(model, table)
    assert_allclose(ask(run, file, small, "--target", "label"), mine, rtol=1e-5)
    # A background is read as the rows are: without the target, its columns by name.
    background = ["--target", "label", "--background"]
    assert_allclose(ask(run, file, small, *background, small), mine, rtol=1e-5)
    # The file names the rows that were asked for.
    ask(run, file, small, "--target", "label", "--rows", "3,17")
    with open("v.csv", encoding="utf-8") as lines:
        assert [line["row"] for line in csv.DictReader(lines)] == ["3", "3", "17", "17"]
    for given, sentence in (
        ([], "takes 2 columns and"),
        ([*background, other], "there is no column 'pay'"),
    ):
        result = run("features", file, small, *given)
        assert result.exit_code == 2, result.output
        assert sentence in result.stderr


class Opened:
    """A pickle that leaves a trace when it is opened."""

    def __reduce__(self):
        return open, ("opened", "w")


def test_models_that_cannot_be_read(run, tmp_path, people):
    def attempt(name, content, *more):
        path = tmp_path / name
        path.write_bytes(content)
        return run("features", path, people, *more)

    refused(attempt("model.bin", b"nonsense"), "is not a model that can be read")
    refused(attempt("model.json", b"{}"), "is not a model that can be read")
    refused(attempt("model.txt", b"tree\nversion=v4\nnonsense"), "is not a model that can be read")
    refused(attempt("model.skops", b"PK nonsense"), "is not a model that can be read")
    refused(attempt("model.onnx", b"nonsense"), "is not a model that can be read")
    for name in ("bad.txt", "bad.pkl"):
        refused(attempt(name, b"xx\n"), f"{name} is not a model that can be read")
    refused(run("features", tmp_path / "none.json", people), "there is no file")
    danger = pickle.dumps(Opened())
    refused(attempt("model.pkl", danger), "opening one runs any code")
    refused(attempt("model.pkl", danger), "with skops (pip install 'fairfield[models]')")
    assert not (tmp_path / "opened").exists()
    refused(attempt("model.pkl", danger[:-4], "--trust-pickle"), "is not a model that can be read")
