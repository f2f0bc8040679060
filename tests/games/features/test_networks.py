"""Modules of PyTorch: as functions of rows, in batches, as they are in evaluation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.games.features import networks

torch = pytest.importorskip("torch")


@pytest.fixture(name="module")
def network():
    torch.manual_seed(0)
    layers = (torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(4, 2))
    return torch.nn.Sequential(*layers)


def test_a_module_is_a_function_of_rows(module, rng, monkeypatch):
    monkeypatch.setattr(networks, "BATCH", 5)
    X = rng.standard_normal((12, 3)).astype(np.float32)
    frozen = module[1].eval()  # a layer that was not in training stays as it was
    found = ff.explain(module, X[:2], X, "shapley", output="all")
    assert "the output of Sequential" in found.game
    assert module.training
    assert module[2].training
    assert not frozen.training
    module.eval()
    want = module(torch.tensor(X)).detach().numpy()
    assert_allclose(found.grand, want[:2], atol=1e-6)
    assert_allclose(found.empty[0], want.mean(axis=0), atol=1e-6)
    rows = torch.tensor(X[:2], requires_grad=True)
    again = ff.explain(module, rows, torch.tensor(X), "shapley", output=1)
    assert_allclose(again.values, found.values[:, 1], atol=1e-6)


def test_a_module_that_returns_no_tensor_is_told_so():
    layer = torch.nn.LSTM(3, 2)  # its outputs and its states
    with pytest.raises(
        TypeError, match="LSTM returned a tuple in place of a tensor; give a function"
    ):
        ff.explain(layer, np.zeros((1, 3)), np.ones(3))


def test_functions_of_tensors(rng):
    X = torch.tensor(rng.standard_normal((9, 3)))

    def product(rows):
        assert isinstance(rows, torch.Tensor)
        assert rows.dtype == torch.float64
        return rows.prod(dim=1).requires_grad_()

    found = ff.explain(product, X[:2], X, "shapley")
    assert_allclose(found.grand, X[:2].prod(dim=1))


def test_weights_of_half_a_float():
    """NumPy has no bfloat16: rows and outputs of one pass by float32, where nothing is lost."""
    X = torch.tensor([[1.0, 2.0], [3.0, 5.0], [0.0, 1.0]], dtype=torch.bfloat16)
    layer = torch.nn.Linear(2, 1, bias=False, dtype=torch.bfloat16)
    layer.weight.data[:] = torch.tensor([2.0, 0.5])
    for model in (layer, lambda rows: layer(rows)[:, 0]):
        found = ff.explain(model, X[:1], X[1:], "shapley")
        assert_allclose(found.values, [[-1.0, -0.5]], rtol=0, atol=1e-12)
    whole = torch.tensor([[1, 2], [3, 4]])
    found = ff.explain(lambda rows: rows.sum(dim=1), whole, np.array([0.5, 0.5]), "shapley")
    assert_allclose(found.values, [[0.5, 1.5], [2.5, 3.5]])
