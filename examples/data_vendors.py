"""Whose data is worth paying for? Ten vendors sold a training set; one sold wrong labels.

Run with ``python examples/data_vendors.py``; it takes about half a minute.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fairfield as ff

VENDORS = ["Acorn", "Birch", "Cedar", "Damson", "Elm", "Fir", "Ginkgo", "Hazel", "Ivy", "Juniper"]
CORRUPT = "Fir"


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, train_size=200, stratify=y, random_state=0)
    # One half values the vendors, the other judges what was done with the values.
    X_test, X_held, y_test, y_held = train_test_split(
        X_test, y_test, test_size=0.5, stratify=y_test, random_state=0
    )
    vendor = np.array(VENDORS)[ff.cluster(X, len(VENDORS), how="random")]
    rng = np.random.default_rng(0)
    wrong = (vendor == CORRUPT) & (rng.random(len(y)) < 0.8)
    y = np.where(wrong, 1 - y, y)

    model = make_pipeline(StandardScaler(), LogisticRegression())
    scoring = "neg_log_loss"
    game = ff.DataGame(model, X, y, X_test, y_test, groups=vendor, scoring=scoring)
    print(f"{len(X)} rows of {len(VENDORS)} vendors; {CORRUPT} flipped {wrong.sum()} labels.")
    print("A worth is minus the log loss on a test set, of a model fitted on the vendors' rows.\n")
    values = ff.compare(game, criteria=["variational_index", "shapley", "leave_one_out"])
    print(values)

    shapley = values["shapley"]
    print(f"\nThe least valuable vendor by Shapley is {shapley.ranking()[-1]}.")
    print(f"Rate of detection: {ff.detection_rate(shapley, [CORRUPT]):.0%}")

    held = ff.DataGame(model, X, y, X_held, y_held, groups=vendor, scoring=scoring)
    print("\nOn data that neither vendors nor values have seen, leaving vendors out one by one:\n")
    for highest_first in (True, False):
        print(ff.removal_curve(held, shapley, highest_first=highest_first), "\n")


if __name__ == "__main__":
    main()
