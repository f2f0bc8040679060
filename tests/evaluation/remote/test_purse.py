from fairfield.core.service import Worth
from fairfield.evaluation.remote.purse import Purse


def test_every_cost_has_its_share_of_the_cap():
    purse = Purse(spend=1.0, price=0.1)
    assert purse.room(99) == 10
    purse.under_way = 2
    purse.abandoned = 3
    assert purse.room(99) == 5
    assert purse.pay(Worth(1.0)).cost == 0.1
    purse.pay(Worth(1.0, cost=0.2), earlier=True)  # as dear as any may be
    assert purse.room(99) == 0
    assert purse.fits() is False  # 0.1 + 0.2 + 3 x 0.2 leave nothing for two
    assert purse.sentence() == "spend=1 allows no further call, 0.2 of it spent before"


def test_without_a_cap_nothing_is_refused():
    purse = Purse()
    purse.pay(Worth(1.0))
    assert purse.room(7) == 7
    assert purse.fits()


def test_free_answers_are_told_from_those_of_unknown_cost():
    purse = Purse(spend=1.0)
    purse.pay(Worth(1.0, cost=0.0))
    assert purse.room(7) == 7
    purse.pay(Worth(1.0))
    assert purse.room(7) == 0
    assert "did not say what it cost" in purse.sentence()
