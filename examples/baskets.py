"""What is each item of a shop worth to its baskets? Learned from the baskets alone.

``python examples/baskets.py baskets.csv`` takes a file with one basket per line, its items
separated by commas, semicolons, tabs or blanks (docs/learning.md says where to find some).
Without a file it makes 3000 baskets of its own. Fifteen thousand baskets of a hundred
items take a quarter of a minute, ten thousand of 170 items one or two.
"""

from __future__ import annotations

import sys

import numpy as np

import fairfield as ff
from fairfield.learning import Observed, observe, read_baskets, score_table

ITEMS = ["tea", "coffee", "milk", "sugar", "bread", "butter", "jam", "beer", "crisps", "nuts"]
VISITS = np.array(
    [
        [0.2, 0.6, 0.5, 0.3, 0.6, 0.5, 0.3, 0.1, 0.1, 0.1],  # breakfast
        [0.6, 0.2, 0.5, 0.4, 0.2, 0.1, 0.1, 0.1, 0.1, 0.2],  # afternoon
        [0.1, 0.1, 0.2, 0.1, 0.2, 0.1, 0.1, 0.5, 0.5, 0.4],  # evening
    ]
)


def made_up(count: int = 3000) -> Observed:
    """Baskets of three kinds of visits."""
    rng = np.random.default_rng(0)
    chances = VISITS[rng.integers(0, len(VISITS), count)]
    return observe(rng.random(chances.shape) < chances, players=ITEMS)


def main() -> None:
    baskets = read_baskets(sys.argv[1]) if len(sys.argv) > 1 else made_up()
    print(f"{baskets!r}\n")

    train, test = baskets.split(0.2, seed=0)
    game = ff.learn(train)
    print(f"{game!r}\n")
    print(score_table({"pairs": game}, test, learned_from=train))

    # Worths are logarithms of odds, so the temperature is 1.
    values = ff.variational_index(game, temperature=1.0)
    print("\nWhat an item is worth to a basket: the log-odds that it is in one.\n")
    print(values)

    print("\nBought together more (or, below 0, less) than by chance:\n")
    for pair, bond in ff.interactions(game).top(8):
        print(f"{bond:+6.2f}  {' and '.join(map(str, pair))}")


if __name__ == "__main__":
    main()
