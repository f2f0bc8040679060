"""What the tests of tree games share."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def one_thread():
    """Small models are slower, not faster, where threads wait for each other."""
    with threadpool_limits(1):
        yield
