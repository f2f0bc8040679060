"""A record of a training run, against the gradients of single rows, one by one."""

import numpy as np
import pytest

import fairfield as ff
from conftest import needs

ROWS = 9
# Batches with a row twice, and rows that come back.
BATCHES = ([0, 3, 3, 7], [1, 2, 8], [7, 0, 5, 2, 4, 6])


@pytest.fixture(autouse=True)
def torch():
    torch = needs("torch", "torch")
    torch.manual_seed(0)
    return torch


def build(torch):
    """Words, a convolution over them, norms, a layer used twice, biases, a frozen weight, dropout."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(6, 2, padding_idx=0)
            self.near = nn.Conv1d(2, 4, 3, padding=1, groups=2)
            self.norm = nn.GroupNorm(2, 4)
            self.mixed = nn.Linear(4, 4)
            self.scale = nn.LayerNorm(4)
            self.out = nn.Linear(4, 3)
            self.dropout = nn.Dropout(0.2)
            self.out.weight.requires_grad_(False)

        def forward(self, x):
            h = torch.tanh(self.norm(self.near(self.words(x).transpose(1, 2)))).transpose(1, 2)
            h = self.dropout(torch.tanh(self.mixed(h)))
            h = nn.functional.scaled_dot_product_attention(h, h, h)
            return self.out(self.scale(self.mixed(h).mean(dim=1)))

    return Net().double()


@pytest.fixture
def data(torch):
    X, X_val = torch.randint(0, 6, (ROWS, 5)), torch.randint(0, 6, (7, 5))
    return X, torch.randint(0, 3, (ROWS,)), X_val, torch.randint(0, 3, (7,))


def train(torch, model, data, record=None, owner=None, lr=0.3):
    X, y, *_ = data
    loss = torch.nn.CrossEntropyLoss()
    owner = np.arange(ROWS) if owner is None else owner
    before = []

    def move(batch):
        before.append({n: p.detach().clone() for n, p in model.state_dict().items()})
        model.zero_grad()
        loss(model(X[batch]), y[batch]).backward()
        with torch.no_grad():
            for weight in filter(lambda each: each.requires_grad, model.parameters()):
                weight -= lr * weight.grad

    for batch in BATCHES:
        if record is None:
            move(batch)
        else:
            with record.step(owner[batch], lr):
                move(batch)
    return before


def by_hand(torch, model, before, data, owner, lr):
    """lr ⟨∇L, g_i⟩ and lr² ⟨g_i, ∇²L g_j⟩, summed over steps, every gradient made by itself."""
    X, y, X_val, y_val = data
    loss, count = torch.nn.CrossEntropyLoss(), max(owner) + 1
    first, second = np.zeros(count), np.zeros((count, count))
    for state, batch in zip(before, BATCHES, strict=True):
        model.load_state_dict(state)
        weights = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
        sizes = [weight.numel() for weight in weights.values()]

        def at(flat, rows, labels, weights=weights, sizes=sizes):
            parts = zip(weights.items(), flat.split(sizes), strict=True)
            moved = {name: part.view(weight.shape) for (name, weight), part in parts}
            return loss(torch.func.functional_call(model, moved, (rows,)), labels)

        now = torch.cat([weight.flatten() for weight in weights.values()])
        slope = torch.func.grad(at)(now, X_val, y_val).numpy()
        rows = [torch.func.grad(at)(now, X[[i]], y[[i]]).numpy() / len(batch) for i in batch]
        own = np.zeros((count, len(slope)))
        np.add.at(own, owner[batch], rows)
        first += lr * own @ slope
        attention = torch.nn.attention
        with attention.sdpa_kernel(attention.SDPBackend.MATH):
            hessian = torch.autograd.functional.hessian(lambda w, at=at: at(w, X_val, y_val), now)
        second += lr**2 * own @ hessian.numpy() @ own.T
    return first, second


@pytest.mark.parametrize("owner", [np.arange(ROWS), np.arange(ROWS) % 3], ids=["rows", "groups"])
def test_worths_are_those_of_every_rows_gradient(torch, data, owner):
    model, loss = build(torch), torch.nn.CrossEntropyLoss()
    model.dropout.p = 0.0
    start, games = {n: p.clone() for n, p in model.state_dict().items()}, []
    for order in (1, 2):
        model.load_state_dict(start)
        with ff.record_training(model, loss, *data[2:], max(owner) + 1, order=order) as record:
            before = train(torch, model, data, record, owner)
        assert record.steps == record.recorded == 3
        games.append(record.game())
    first, second = by_hand(torch, model, before, data, owner, 0.3)
    near = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_allclose(games[0].linear, first, **near)
    assert games[0].quadratic.nnz == 0
    np.testing.assert_allclose(games[1].linear, first - second.diagonal() / 2, **near)
    apart = second - np.diag(second.diagonal())
    np.testing.assert_allclose(games[1].quadratic.toarray(), -apart, **near)
    np.testing.assert_allclose(ff.shapley(games[1]).values, first - second.sum(axis=1) / 2, **near)


@pytest.mark.parametrize("order", [1, 2])
def test_the_run_is_the_same_with_a_record(torch, data, order):
    ends = []
    for recorded in (False, True):
        torch.manual_seed(1)
        model = build(torch)
        if recorded:
            loss = torch.nn.CrossEntropyLoss()
            with ff.record_training(model, loss, *data[2:], ROWS, order=order) as record:
                train(torch, model, data, record)
        else:
            train(torch, model, data)
        assert model.training
        ends.append([p.detach() for p in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*ends, strict=True))


def test_drawn_steps_and_rows_are_without_bias(torch, data):
    state, loss = build(torch).state_dict(), torch.nn.CrossEntropyLoss()

    def worths(**options):
        model = build(torch).eval()  # without dropout, every run is the same
        model.load_state_dict(state)
        with ff.record_training(model, loss, *data[2:], ROWS, **options) as record:
            train(torch, model, data, record)
        assert record.recorded == (1 if "every" in options else 3)
        return record.game().linear

    everything = worths()
    drawn = [worths(every=3, seed=seed) for seed in range(12)]
    by_step = {tuple(found != 0): found for found in drawn}
    assert len(by_step) == 3
    np.testing.assert_allclose(sum(by_step.values()) / 3, everything, atol=1e-12)
    np.testing.assert_allclose(worths(val_rows=7), everything, atol=1e-12)
    assert abs(worths(val_rows=2) - everything).max() > 1e-6
