from fairfield.core.service import NO_USAGE, Usage


def test_usage_adds_up_and_is_said():
    total = Usage(calls=2, cost=0.5, note="F(∅) = 0 was given") + Usage(
        calls=1, retries=3, tokens=9
    )
    assert total.facts() == {"calls": 3, "retries": 3, "failures": 0, "cost": 0.5, "tokens": 9}
    assert total.sentences() == ["3 calls, 3 retries, 9 tokens, cost 0.5", "F(∅) = 0 was given"]
    assert (NO_USAGE.facts(), NO_USAGE.sentences()) == ({}, [])
