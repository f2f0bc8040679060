"""``fairfield doctor``: what is installed, what is missing, what to do."""

import json

import pytest

from fairfield import system


@pytest.mark.parametrize(("version", "code"), [("99", 0), ("1.26.4", 1)])
def test_the_doctor_says_what_to_do(run, monkeypatch, version, code):
    lines = ["numpy>=2.0", "torch>=2.2; extra == 'learning'"]
    monkeypatch.setattr(system, "requires", lambda name: lines)
    monkeypatch.setattr(system, "_installed", {"numpy": version}.get)
    shown = run("doctor")
    assert shown.exit_code == code
    told = " ".join(shown.output.split())
    assert "torch is missing: pip install --upgrade 'fairfield[learning]'" in told
    assert ("numpy is too old (2.0 or newer)" in told) == (code == 1)
    held = json.loads(run("doctor", "--json").output)
    assert held["packages"]["learning"] == [{"name": "torch", "installed": None, "needed": "2.2"}]
    assert held["machine"]["cores"] >= 1
