"""Models for the tests of feature games."""

import numpy as np

import brute


def curved(X):
    """A function of all columns with interactions of every order."""
    return np.sin(X @ np.arange(1, X.shape[1] + 1)) + X[:, 0] * X[:, -1]


def definition(predict, x, background):
    """mean_b predict(x on S, b elsewhere) of every coalition S."""
    mixed = np.where(brute.coalitions(len(x))[:, None], x, background)
    rows = predict(mixed.reshape(-1, len(x)))  # at once: some models take long to begin
    return np.reshape(rows, mixed.shape[:2]).mean(axis=1)


class Counted:
    """A model that remembers the rows it was asked for."""

    def __init__(self, function):
        self.function, self.seen = function, []

    def __call__(self, X):
        self.seen.append(np.array(X))
        return self.function(X)

    @property
    def rows(self):
        return np.concatenate(self.seen)


def read(table):
    """A model that insists on the dtypes it was promised."""
    assert list(table.columns) == ["age", "height", "job", "town", "member", "since"]
    assert table["age"].dtype == np.int64
    assert list(table["job"].cat.categories) == ["baker", "clerk", "smith"]
    assert table["town"].dtype == object
    assert table["member"].dtype == bool
    years = table["since"].dt.year.to_numpy() - 2020
    towns = (table["town"] == "Oslo").to_numpy()
    return (
        table["age"] * table["height"] + table["job"].cat.codes * years + towns * table["member"]
    ).to_numpy()
