"""Inner products with the gradients of single rows."""

import pytest

import fairfield as ff
from conftest import needs
from fairfield.games.data.ghosts import Ghosts


@pytest.fixture(autouse=True)
def torch():
    torch = needs("torch", "torch")
    torch.manual_seed(0)
    return torch


LAYERS = {
    "linear, no bias": lambda nn: (nn.Linear(4, 2, bias=False), (5, 3, 4)),
    "reflected, strided": lambda nn: (
        nn.Conv2d(2, 3, 3, stride=2, padding=1, padding_mode="reflect"),
        (5, 2, 6, 5),
    ),
    "dilated volume": lambda nn: (nn.Conv3d(1, 2, 2, dilation=2), (5, 1, 4, 3, 3)),
    "frozen statistics": lambda nn: (nn.BatchNorm1d(4).eval(), (5, 4)),
}


@pytest.mark.parametrize("case", LAYERS)
def test_products_are_those_of_every_rows_gradient(torch, case):
    layer, shape = LAYERS[case](torch.nn)
    layer, given, calls = layer.double(), torch.randn(shape).double(), []
    ghosts = Ghosts(torch.nn.Sequential(layer))
    direction = {name: torch.randn_like(p) for name, p in ghosts.parameters.items()}
    with ghosts.listening(5, calls.append):
        ghosts.model(given).cos().sum().backward()
    each = [
        sum(
            (part * along).sum()
            for part, along in zip(
                torch.autograd.grad(layer(row[None]).cos().sum(), list(layer.parameters())),
                direction.values(),
                strict=True,
            )
        )
        for row in given
    ]
    found = ghosts.products(*calls, direction)
    torch.testing.assert_close(found, torch.stack(each), rtol=0, atol=1e-12)


def step(torch, *layers, indices=(0, 1, 1, 0), use=lambda model, X: model(X), back=True):
    """The game of one step of a small net with 4 rows."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), *layers)
    X, y = torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
    loss = torch.nn.functional.cross_entropy
    with ff.record_training(model, loss, X, y, ["a", "b"]) as record, record.step(indices, 0.1):
        found = loss(use(model, X), y)
        if back:
            found.backward()
    return record.game()


def test_what_cannot_be_recorded_is_refused(torch):
    nn = torch.nn
    game = step(torch, nn.BatchNorm1d(3).eval())
    assert game.players == ("a", "b")
    assert "fall of the validation loss" in repr(game)
    with pytest.raises(ValueError, match=r"'1' mixes the rows of a batch, .* use GroupNorm"):
        step(torch, nn.BatchNorm1d(3))
    with pytest.raises(ValueError, match=r"^1\.weight: the gradients of single rows are not known"):
        step(torch, nn.PReLU())
    with pytest.raises(ValueError, match=r"weight_g.*: the gradients of single rows are not known"):
        step(torch, nn.utils.weight_norm(nn.Linear(3, 3)))
    with pytest.raises(ValueError, match=r"shape \(4, 3\) in a step of 3 indices; rows must come"):
        step(torch, indices=[0, 1, 0])
    with pytest.raises(ValueError, match="indices from 0 to 2 were given for 2 players"):
        step(torch, indices=[0, 1, 2, 0])
    with pytest.raises(ValueError, match=r"call loss\.backward"):
        step(torch, back=False)
    with pytest.raises(
        ValueError, match=r"gradient of 0\.weight does not come from its layer alone"
    ):
        step(torch, use=lambda model, X: model(X) @ model[0].weight)
