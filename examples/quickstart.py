"""A first look: who carries a team of four on a small job?

Run with ``python examples/quickstart.py``.
"""

import numpy as np

import fairfield as ff

PLAYERS = ["ann", "bob", "eve", "joe"]
SKILLS = np.array([3.0, 2.0, 2.0, 0.5])


def worth(coalitions: np.ndarray) -> np.ndarray:
    """Skill adds up; bob and eve do the same work; ann and joe together gain a bonus."""
    bob_and_eve = coalitions[:, 1] & coalitions[:, 2]
    ann_and_joe = coalitions[:, 0] & coalitions[:, 3]
    return coalitions @ SKILLS - 2.0 * bob_and_eve + 1.5 * ann_and_joe


def main() -> None:
    game = ff.FunctionGame(worth, PLAYERS)
    print("What is each player worth?\n")
    print(ff.compare(game, temperature=1.0))
    print("\nThe variational index in full:\n")
    print(ff.variational_index(game, temperature=1.0))
    print("\nWho gains from whom:\n")
    print(ff.interactions(game))
    print("\nWhich axioms hold:\n")
    for name in ("shapley", "banzhaf"):
        print(f"{name}\n{ff.axioms.check(name, game)}\n")


if __name__ == "__main__":
    main()
