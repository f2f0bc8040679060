"""Figures are drawn without a screen, and closed after each test."""

import pytest

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _closed():
    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.fixture
def texts_of():
    """All texts that are drawn with an axes, its figure laid out."""

    def texts(ax):
        ax.figure.canvas.draw()
        if not ax.axison:
            return ax.texts
        (left, right), (low, high) = sorted(ax.get_xlim()), sorted(ax.get_ylim())
        ticks = [t for t in ax.get_xticklabels() if left <= t.get_position()[0] <= right]
        ticks += [t for t in ax.get_yticklabels() if low <= t.get_position()[1] <= high]
        every = [*ax.texts, *ticks, ax.xaxis.label, ax.yaxis.label]
        return [text for text in every if text.get_text().strip()]

    return texts
