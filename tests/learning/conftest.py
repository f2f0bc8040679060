"""Models of six players, each with some parameters."""

import numpy as np
import pytest

from fairfield.learning.models import Diversity, Model, Pairwise

N = 6
MODELS = {
    "linear": Model(N),
    "pairwise": Pairwise(N),
    "flid": Diversity(N, 3),
    "fldc": Diversity(N, 3, 2),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]


@pytest.fixture
def theta(model, rng):
    start = rng.normal(size=N + model.interactions)
    if model.nonnegative:
        start[N:] = np.abs(start[N:]) * (rng.random(model.interactions) < 0.9)
    return start
