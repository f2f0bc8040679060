"""Outputs are written whole or not at all, before anything is printed, and never over inputs."""

import os
import re
import subprocess
import sys

import pytest

import fairfield as ff
from fairfield.core.writing.files import write_file

WORTHS = "coalition,worth\n,0\nann,1\nbob,1\nann bob,4\n"
FAIRFIELD = [sys.executable, "-m", "fairfield"]


@pytest.fixture
def worths(tmp_path):
    path = tmp_path / "worths.csv"
    path.write_text(WORTHS)
    return path


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    found, path = ff.shapley([0, 1, 1, 4]), tmp_path / "v.npz"
    found.save(path)
    ff.report(found, tmp_path / "v.csv")
    before = path.read_bytes(), (tmp_path / "v.csv").read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for write in (lambda: found.save(path), lambda: ff.report(found, tmp_path / "v.csv")):
        with pytest.raises(OSError, match=r"No space left on device: '.*v\.(npz|csv)'"):
            write()
    assert (path.read_bytes(), (tmp_path / "v.csv").read_bytes()) == before
    assert sorted(os.listdir(tmp_path)) == ["v.csv", "v.npz"]


def test_links_modes_and_pipes_stay_what_they_are(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_file(link, "new \udc80")
    assert link.is_symlink()
    assert path.read_text() == "new \\udc80"
    assert path.stat().st_mode & 0o777 == 0o640
    write_file("/dev/null", "nothing")
    assert not os.path.isfile("/dev/null")


def test_a_name_that_is_no_text_is_written(tmp_path):
    found = ff.compare(ff.TableGame([0, 1, 1, 4], players=["a\udc80", "b"]))
    for ending in ("csv", "json", "txt", "html"):
        assert b"a\\udc80" in ff.report(found, tmp_path / f"r.{ending}").read_bytes()


def test_inputs_are_never_overwritten_and_outputs_checked_first(run, worths, tmp_path):
    (tmp_path / "again.csv").symlink_to(worths)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").write_text("")
    refused = {
        ("--csv", worths): "is read by this command; give another file",
        ("--csv", tmp_path / "again.csv"): "is read by this command",
        ("--store", worths): "is read by this command",
        ("--json", "r.json", "--report", "r.json"): "is written by --json too",
        ("--csv", tmp_path / "folder.csv"): "could not be used: it is a folder",
        ("--csv", tmp_path / "file" / "r.csv"): "could not be used",
    }
    for options, reason in refused.items():
        found = run("game", worths, *options)
        assert found.exit_code == 2
        assert reason in found.output
    assert worths.read_text() == WORTHS


def test_no_folder_is_made_for_a_store_or_an_output(run, worths, tmp_path):
    """A typo in a path made a tree of folders, or SQLite's "unable to open database file"."""
    place, asked = tmp_path / "resluts" / "of may" / "v", []

    def worth(S):
        asked.append(len(S))
        return S.sum(axis=1)

    said = re.escape(f"there is no folder {place.parent}; make it, or correct the path")
    found = ff.compare([0.0, 1.0, 1.0, 4.0])
    for write in (
        found.save,
        found.first.save,
        ff.interactions([0.0, 1.0, 1.0, 4.0]).save,
        lambda path: ff.report(found, f"{path}.html"),
        lambda path: ff.shapley(worth, players=3, store=path),
        lambda path: ff.shapley(worth, players=30, budget=100, store=path),
    ):
        with pytest.raises((FileNotFoundError, ff.StoreError), match=said):
            write(place)
    assert not asked
    for option, ending in {"csv": "csv", "json": "json", "report": "html", "store": "db"}.items():
        refused = run("game", worths, f"--{option}", place.with_suffix(f".{ending}"))
        assert refused.exit_code == 2
        assert f"there is no folder {place.parent}" in refused.output
    assert not place.parents[1].exists()


@pytest.mark.parametrize("output", ["closed", "/dev/full"])
def test_files_are_there_though_nobody_reads_the_table(output, worths, tmp_path):
    command = [*FAIRFIELD, "game", str(worths), "--csv", str(tmp_path / "v.csv")]
    if output == "closed":
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        error = process.stderr.read().decode()
        process.wait()
    else:
        with open(output, "w") as full:
            process = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        error = process.stderr.decode()
    assert process.returncode != 0
    assert (tmp_path / "v.csv").read_text().startswith("player,")
    assert "Traceback" not in error


def test_a_terminal_that_knows_only_ascii_is_no_error(tmp_path):
    path = tmp_path / "worths.csv"
    path.write_text(WORTHS.replace("ann", "Anné"), encoding="utf-8")
    done = subprocess.run(
        [*FAIRFIELD, "game", str(path)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=True,
    )  # fmt: skip
    assert b"Ann?" in done.stdout


@pytest.mark.parametrize("module", ["rich", "fairfield.cli.app", "fairfield.evaluation.store"])
def test_an_interrupt_while_modules_are_imported_is_one_line_and_130(module):
    code = (
        "import os, signal, sys\n"
        # Tests that run in the background would ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupt:\n"
        "    def find_spec(name, *given):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt)\n"
        "from fairfield.cli import main\n"
        "main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, "demo"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (130, "stopped\n")
