"""Which part of a picture made it a seven? Shapley values of the segments of a digit.

A small network of PyTorch learns the 8 × 8 digits of scikit-learn here, in some seconds. The output
for one digit is shared out exactly among 16 segments; those that matter are then divided further.
"""

import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import fairfield as ff

STEPS, GRID, BUDGET = 300, (4, 4), 4096


def trained(images, labels):
    """A network of two convolutions, and its probabilities of the ten digits as a function."""
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 16, 10),
    )  # fmt: skip
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    inputs, targets = torch.from_numpy(images[:, None]), torch.from_numpy(labels)
    for _ in range(STEPS):
        some = torch.randint(len(inputs), (64,))
        loss = nn.functional.cross_entropy(network(inputs[some]), targets[some])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def probabilities(pictures):
        with torch.no_grad():
            given = torch.from_numpy(np.ascontiguousarray(pictures, dtype=np.float32))
            return network(given[:, None]).softmax(dim=1).numpy()

    return probabilities


def main(picture=None):
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)
    predict = trained(images[:1500], digits.target[:1500])
    hits = (predict(images[1500:]).argmax(axis=1) == digits.target[1500:]).mean()
    print(f"Right for {hits:.0%} of the digits it has not seen.")

    seven = images[1500:][digits.target[1500:] == 7][0]
    game = ff.ImageGame(predict, seven, segments=GRID, mask="mean", output=7)
    found = ff.shapley(game)
    print(found)
    finer = game.refined(found, most=2)
    closer = ff.shapley(finer, budget=BUDGET)
    print(f"After a closer look at segments {', '.join(map(str, found.ranking()[:2]))}:")
    print(closer)
    if picture:
        ff.plots.image(closer, finer).figure.savefig(picture)
        print(f"The digit in colours: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
