"""Tables that are filled on a device."""

import array_api_strict as strict
import pytest

import fairfield as ff
from conftest import needs
from fairfield.games.given import tabulate


def test_a_table_too_large_for_its_device_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(tabulate, "free_bytes", lambda _: 10**9)
    game = ff.FunctionGame(
        lambda S: strict.sum(strict.astype(S, strict.float64), axis=1),
        33,
        device=strict.Device("CPU_DEVICE"),
    )
    with pytest.raises(MemoryError, match=r"2\^33 worths takes 68.7 GB, and .* has 1 GB free"):
        ff.shapley(game)


def test_an_error_on_the_device_tells_where(monkeypatch):
    needs("torch", "torch")
    monkeypatch.setattr(tabulate, "CHUNK", 2**2)

    def worths(coalitions):
        return 1 / 0 if coalitions[:, 2].any() else coalitions.sum(dim=1)

    with pytest.raises(ZeroDivisionError) as caught:
        ff.shapley(ff.FunctionGame(worths, 4, device="cpu"))
    assert "at rows 4 to 7 of the 16 coalitions" in caught.value.__notes__[0]
