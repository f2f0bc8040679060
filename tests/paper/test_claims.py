"""FLID games, statements, and the page that collects them."""

import csv

import numpy as np
import pytest

import fairfield as ff
from paper.claims import CODE, Claim, Finding, Table, holds, keep
from paper.experiments import algorithms, flid, statements
from paper.kept import kept
from paper.page import write_page
from paper.run import Run


def test_flid_games_are_the_papers():
    game = flid.flid_game(6, 4, 0)
    assert game.worths(np.ones((1, 6), dtype=bool))[0] == pytest.approx(0, abs=1e-12)
    assert game.weights.min() >= 0
    assert game.weights.max() <= 2
    played = flid.play(6, 4, 0)
    law = ff.Boltzmann(game, 1.0)
    assert played.truth == pytest.approx(law.marginals)
    x = 1 / (1 + np.exp(-ff.shapley(game).values))
    assert played.squared_error("shapley") == pytest.approx(np.mean((x - law.marginals) ** 2))
    assert played.settled


def test_flid_in_numbers(tmp_path, monkeypatch):
    """Alg. 1 failed in 37 to 39 of 40 seeds at (6, 8), in none at D = 4."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(flid, "QUICK_SEEDS", 2)
    monkeypatch.setattr(flid, "PLAYERS", (6,))
    found = flid.find(Run(tmp_path, quick=True))
    verdicts = [claim.verdict for claim in found.claims]
    assert verdicts[:2] == ["reproduced", "reproduced"]
    assert verdicts[3] == "wrong"
    assert "n=6, D=4: 0; n=6, D=8: 2." in found.claims[3].why


def test_statements_have_the_known_numbers(tmp_path):
    pytest.importorskip("matplotlib")
    found = {claim.where: claim for claim in statements.find(Run(tmp_path)).claims}
    assert found["Theorem 1"].verdict == "reproduced"
    assert found["Sec. 1"].verdict == "reproduced"
    assert found["App. F"].ours.startswith("0.7500, 0.2500, 0.2500; 0.6667")


def test_the_temperature_belongs_to_the_average_payoff():
    """Two worths 0 and 1, equally many: the average is σ(1/T), below ½ only with T < 0."""
    game = ff.TableGame(np.array([0.0, 1.0, 0.0, 1.0]))
    rates, least, low, mean, most = statements._temperatures(game)
    averages = 0.5 + 0.5 * np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    assert rates == pytest.approx(np.log(averages / (1 - averages)))
    assert low == pytest.approx(np.log(0.475 / 0.525))
    assert (least, mean, most) == (0.5, 0.5, 1.0)


def test_algorithms_have_the_known_numbers(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(algorithms, "QUICK_GAMES", 2)
    monkeypatch.setattr(algorithms, "_one_shot", lambda seed: (1, 1, 0.1, 0.1))
    found = algorithms.find(Run(tmp_path, quick=True))
    numbers = np.round(found.tables["redundancy"].rows, 3)
    text = str(numbers.tolist()) + "".join(c.ours + c.why for c in found.claims)
    for number in ("1.159", "0.484", "3.473", "1.081", "0.99998, 0.50009, error 0.405", "0.90008, error 0.668", "2.120", "0.128", "1002.6265"):  # fmt: skip
        assert number in text
    assert [c.verdict for c in found.claims[2:6]] == ["reproduced"] * 4


def test_a_page_escapes_what_it_shows(tmp_path):
    bad = '<script>alert("&")</script>'
    claim = Claim(bad, bad, bad, bad, "differs", bad)
    table = Table((bad, "b"), [(1, bad)], bad)
    keep(Finding("flid", bad, bad, [claim], {"flid": table}), tmp_path, bad)
    text = write_page(tmp_path).read_text(encoding="utf-8")
    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(&quot;&amp;&quot;)") == 12
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")
    with (tmp_path / "flid.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [[bad, "b"], ["1", bad]]


def test_a_page_holds_all_that_was_run_before(tmp_path):
    for name in ("samples", "flid"):
        claim = Claim("here", f"said of {name}", "1", "2 | 3", holds(None), "why <b>", CODE)
        keep(
            Finding(name, f"title of {name}", "tiny", [claim], {}, _picture(name)),
            tmp_path,
            "by us",
        )
    docs = tmp_path / "docs"
    text = write_page(tmp_path, docs).read_text(encoding="utf-8")
    assert text.index("title of flid") < text.index("title of samples")
    assert "data:image/svg+xml" in text
    page = (docs / "paper.md").read_text("utf-8")
    assert page.startswith("# The paper's experiments")
    assert "| open (code) | here | said of flid | 1 | 2 \\| 3 |" in page
    assert "| open | 0 | 2 |" in page
    assert "why &lt;b&gt;" in page  # folded, as HTML
    assert "![](images/paper/flid.svg)" in page
    again = tmp_path / "again"
    claim = Claim("here", "said anew", "1", "1", holds(True))
    keep(Finding("flid", "title of flid", "large", [claim]), again, "by us")
    write_page(again, docs)
    page = (docs / "paper.md").read_text("utf-8")
    assert "said of flid" not in page
    assert "| open (code) | here | said of samples |" in page  # not run again: its section stays
    assert page.index("said anew") < page.index("said of samples")
    assert "| reproduced | 1 | 0 |" in page
    assert "| open | 0 | 1 |" in page
    write_page(again, docs)
    assert (docs / "paper.md").read_text("utf-8") == page
    picture = (docs / "images" / "paper" / "flid.svg").read_bytes()
    keep(Finding("flid", "", "", [], {}, _picture("flid")), tmp_path)
    assert (tmp_path / "flid.svg").read_bytes() == picture  # drawn again, the same file
    assert b">0.0027299</text>" in picture  # lines are rounded, words are not


def _picture(name):
    figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(1, 1))
    ax = figure.subplots()
    ax.plot([1, 3, 2])
    ax.set_title("0.0027299")
    return {name: figure}


def test_what_took_long_is_kept(tmp_path):
    run, calls = Run(tmp_path), []

    def compute():
        calls.append(1)
        return {"a": [1.0, 2.0]}

    assert kept(run, "part", "one", compute)["a"].tolist() == [1, 2]
    assert kept(run, "part", "one", compute)["a"].tolist() == [1, 2]
    assert len(calls) == 1
    held = kept(run, "part", "another", compute)  # of other data
    assert len(calls) == 2
    assert "scikit-learn" in str(held["versions"])
    assert [file.name for file in run.stores.iterdir()] == ["part.npz"]


def test_verdicts_are_known_words():
    with pytest.raises(ValueError, match="no verdict 'fine'"):
        Claim("", "", "", "", "fine")
