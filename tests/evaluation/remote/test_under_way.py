"""What a run leaves without an answer."""

import threading

from fairfield.core.service import Service
from fairfield.evaluation.remote.attempts import Attempts, Rates
from fairfield.evaluation.remote.passing import is_passing
from fairfield.evaluation.remote.under_way import UnderWay


def test_calls_that_are_left_under_way_may_be_charged():
    held = threading.Event()

    def worth(names):
        held.wait(10)
        return 1.0

    attempts = Attempts(Service(worth, is_passing), Rates(None, None))
    with UnderWay(attempts) as under_way:
        under_way.begin(0, ("a",))
        assert attempts.purse.under_way == 1
    held.set()
    assert (attempts.purse.under_way, attempts.purse.abandoned) == (0, 1)
