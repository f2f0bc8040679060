"""The command ``python -m paper`` in this process."""

from types import SimpleNamespace

import pytest


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the command in an empty folder and gives its exit code and output."""
    from paper.__main__ import main

    monkeypatch.chdir(tmp_path)

    def go(*arguments):
        capsys.readouterr()
        try:
            code = main([str(each) for each in arguments])
        except SystemExit as ended:  # argparse
            code = ended.code
        out, err = capsys.readouterr()
        return SimpleNamespace(exit_code=code, stdout=out, stderr=err, output=out + err)

    return go
