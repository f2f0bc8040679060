"""Engines that are started here are open to nobody else."""

import subprocess
import sys

import pytest

from conftest import needs

SOCKETS = """
import os, sys
from pathlib import Path
from fairfield.cli.engines import Backend, engine

def addresses():
    \"\"\"The addresses at which processes of this session listen.\"\"\"
    mine = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(place.name)) == os.getsid(0):
                mine |= {os.readlink(each) for each in (place / "fd").iterdir()}
        except OSError:
            pass
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in mine:
                yield cells[1].split(":")[0]

if __name__ == "__main__":
    with engine(Backend(sys.argv[1]), None, 1):
        print(*set(addresses()))
"""
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "0" * 24 + "01000000"}


@pytest.mark.parametrize(("name", "library"), [("dask", "distributed"), ("ray", "ray")])
def test_they_listen_at_the_loopback_alone(name, library):
    needs(library, name)
    done = subprocess.run(
        [sys.executable, "-c", SOCKETS, name],
        capture_output=True, text=True, check=True, start_new_session=True,
    )  # fmt: skip
    found = set(done.stdout.split("\n")[-2].split())
    assert found
    assert found <= LOOPBACK, found
