"""Finding wrong labels: scikit-learn's digits, with a tenth of the training labels changed.

Every training image is a player; its value is what it brings to a 5-nearest-neighbour model
on the test images. Wrongly labelled images should have the lowest values. The table shows how
many of the lowest-valued tenth are indeed wrong, for three criteria and three seeds; a random
tenth would hold a tenth of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits

import fairfield as ff

CRITERIA: dict[str, Callable[[ff.NeighborGame], ff.Valuation]] = {
    "variational index": lambda game: ff.variational_index(game, temperature=ff.relative(1)),
    "Banzhaf": ff.banzhaf,
    "KNN-Shapley": ff.shapley,
}


def noisy_digits(seed: int, share: float = 0.1) -> tuple[ff.NeighborGame, np.ndarray]:
    """The game of 1200 training and 597 test images, and which labels were changed."""
    rng = np.random.default_rng(seed)
    images, digits = load_digits(return_X_y=True)
    order = rng.permutation(len(digits))
    train, test = order[:1200], order[1200:]
    labels = digits[train].copy()
    wrong = np.zeros(len(labels), dtype=bool)
    wrong[rng.choice(len(labels), round(share * len(labels)), replace=False)] = True
    labels[wrong] = (labels[wrong] + rng.integers(1, 10, wrong.sum())) % 10
    return ff.NeighborGame(images[train], labels, images[test], digits[test], k=5), wrong


def main() -> None:
    seeds = range(3)
    print("wrong labels among the lowest-valued tenth of 1200 digits, a tenth of them wrong\n")
    print(f"{'criterion':20}", *(f"seed {seed}" for seed in seeds), sep="  ")
    games = [noisy_digits(seed) for seed in seeds]
    for name, criterion in CRITERIA.items():
        shares = [ff.detection_rate(criterion(game), wrong) for game, wrong in games]
        print(f"{name:20}", *(f"{share:6.1%}" for share in shares), sep="  ")


if __name__ == "__main__":
    main()
