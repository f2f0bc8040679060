"""Names from files and models reach terminals, spreadsheets and pictures as plain text."""

import subprocess
import sys

import pytest

import fairfield as ff

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\r\n\u202egnp"
SAFE = r"\x1b]0;owned\x07\x1b[31m\x9b2J\r\n\u202egnp"


def controls(text):
    return [each for each in text if each != "\n" and (ord(each) < 32 or 127 <= ord(each) < 160)]


def test_no_control_character_of_a_name_is_shown(tmp_path):
    game = ff.TableGame([0, 1, 1, 4], players=[EVIL, "b"])
    v = ff.shapley(game)
    for found in (v, ff.compare(game), ff.interactions(game), ff.compare(game).first):
        assert SAFE in repr(found)
        assert not controls(repr(found))
    ff.report(ff.compare(game), tmp_path / "r.txt")
    assert not controls((tmp_path / "r.txt").read_text())
    with pytest.raises(KeyError) as missing:
        v["c"]
    assert not controls(str(missing.value))

    def fails(S):
        raise ValueError("no")

    with pytest.raises(ff.WorthError) as failed:
        ff.shapley(ff.FunctionGame(fails, [EVIL]))
    assert not controls(str(failed.value))


def test_nor_by_the_command_line(tmp_path):
    worths = tmp_path / "worths.csv"
    worths.write_text('coalition,worth\n,0\n"a\x1b[31m",1\nb,1\n"a\x1b[31m b",4\n')
    store = tmp_path / "s.db"
    ff.shapley(ff.FunctionGame(len, [EVIL, "b"], takes="names", name=EVIL), store=store)
    for given in (["game", worths], ["store", "show", store, "--full"]):
        command = [sys.executable, "-m", "fairfield", *map(str, given)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert not controls(done.stdout + done.stderr)
        assert "\\x1b[31m" in done.stdout


def test_a_spreadsheet_runs_no_name_as_a_formula(tmp_path):
    names = [
        '=HYPERLINK("http://x","y")',
        "+1+cmd|' /C calc'!A0",
        "-2-3",
        "@SUM(A1)",
        "-2.5",
        "a=b",
    ]
    found = ff.shapley(ff.TableGame(range(2 ** len(names)), players=names))
    lines = ff.report(found, tmp_path / "r.csv").read_text().splitlines()[1:]
    starts = [line.lstrip('"')[:2] for line in lines]
    assert starts == ["'=", "'+", "'-", "'@", "-2", "a="]


def test_dollar_signs_in_names_are_drawn(tmp_path):
    plots = pytest.importorskip("fairfield.plots")
    game = ff.TableGame([0.0, 1, 1, 4, 2, 2, 2, 7], players=[r"$\frac{$", "$x$", EVIL])
    v = ff.variational_values(game, 2, temperature=1.0)
    pictures = [plots.bar(v), plots.waterfall(v), plots.trajectory(v)]
    pictures.append(plots.ranks(ff.compare(game)))
    pictures.append(plots.interactions(ff.interactions(game)))
    for ax in pictures:
        ax.figure.savefig(tmp_path / "p.png")


@pytest.mark.parametrize("columns", ["20", "40", "80"])
def test_a_narrow_terminal_keeps_the_players(columns, run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    worths = tmp_path / "worths.csv"
    worths.write_text("coalition,worth\n,0\nannabel,1\nbob,1\nannabel bob,4\n")
    found = run("game", worths, "--criterion", "all,free-energy-value")
    assert found.exit_code == 0
    assert "annabel" in found.output
    assert sum(line.count("2.000") for line in found.output.splitlines()) >= 2
