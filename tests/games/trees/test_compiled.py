"""The first use says that it compiles; the second finds the machine code on disk."""

import os
import subprocess
import sys

SCRIPT = """
from fairfield.games.trees.nodes import Tree, join
from fairfield.games.trees.worths import extent
stump = Tree([1, -1, -1], [2, -1, -1], [0, 0, 0], [0.0] * 3, [False] * 3, [0.0, 1.0, 2.0], [2, 1, 1])
print(*extent(join([stump])[0]))
"""


def test_a_notice_before_the_first_compilation(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    )
    assert first.stdout == second.stdout == "[1] [1]\n"
    assert first.stderr.count("compiling loops over trees for this machine") == 1
    assert not second.stderr
