"""Which of 20 models does an ensemble need? A random-subspace ensemble on handwritten digits.

Every model is a decision tree that sees a quarter of the pixels; three of them were fitted on
shuffled labels and know nothing. The worth of some models is the accuracy of their soft vote on
a test set; all 2^20 ensembles are formed. Run with ``python examples/model_ensemble.py``; it takes
about ten seconds.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import fairfield as ff

MODELS, BROKEN = 20, ("tree 3", "tree 8", "tree 15")


def subspace_trees(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, X_held: np.ndarray, models: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The probabilities that each tree gives on the two sets, by its name."""
    rng = np.random.default_rng(0)
    tested, held = {}, {}
    for i in range(models):
        name = f"tree {i}"
        pixels = rng.choice(X.shape[1], X.shape[1] // 4, replace=False)
        labels = rng.permutation(y) if name in BROKEN else y
        tree = DecisionTreeClassifier(max_depth=8, random_state=i).fit(X[:, pixels], labels)
        tested[name] = tree.predict_proba(X_test[:, pixels])
        held[name] = tree.predict_proba(X_held[:, pixels])
    return tested, held


def main(models: int = MODELS) -> None:
    X, y = load_digits(return_X_y=True)
    X, X_rest, y, y_rest = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    # One half of the rest values the models, the other judges what was done with the values.
    X_test, X_held, y_test, y_held = train_test_split(
        X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=0
    )
    tested, held = subspace_trees(X, y, X_test, X_held, models)
    game = ff.EnsembleGame(np.stack(list(tested.values())), None, y_test, players=list(tested))
    print(f"{models} trees on random pixels; {', '.join(BROKEN)} learnt shuffled labels.\n")
    values = ff.compare(game, criteria=["variational_index", "shapley", "leave_one_out"])
    print(values)
    print(
        f"\nFound among the lowest by Shapley: {ff.detection_rate(values['shapley'], BROKEN):.0%}"
    )

    pruned = ff.pruning_curve(game)
    best = int(np.argmax(pruned.worths[::-1]))
    kept = pruned.order[models - best :]
    judge = ff.EnsembleGame(np.stack(list(held.values())), None, y_held, players=list(held))
    chosen = np.array([[name in kept for name in held], [True] * models])
    few, all_of_them = judge.worths(chosen)
    print("\nPruning the least valuable, one by one:\n")
    print(pruned)
    print(f"\nThe best ensemble on the way has {best} models: {', '.join(kept)}.")
    print(f"On data it has not seen: {few:.1%}, all {models} models {all_of_them:.1%}.")


if __name__ == "__main__":
    main()
