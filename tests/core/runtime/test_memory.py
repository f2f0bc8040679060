"""Memory as the limits of a container leave it."""

import pytest

from fairfield.core.runtime import memory


@pytest.mark.parametrize("version", [1, 2])
def test_limits_of_control_groups_are_kept(tmp_path, version):
    kind = "" if version == 2 else "memory"
    limit, usage, given_up = memory.FILES[kind]
    for path, most in (("", "max" if version == 2 else str(2**63 - 4096)), ("job/step", "1000")):
        folder = tmp_path / "sys/fs/cgroup" / kind / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / limit).write_text(most + "\n")
        (folder / usage).write_text("700\n")
        (folder / "memory.stat").write_text(f"anon 500\n{given_up} 200\n")
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(f"7:cpu:/\n4:{kind}:/job/step\n")
    assert list(memory.group_limits(tmp_path)) == [(1000, 500)]
    (tmp_path / "proc/self/cgroup").write_text(f"4:{kind}:/elsewhere/job\n")
    assert list(memory.group_limits(tmp_path)) == []


def test_without_limits_the_memory_of_the_machine_counts(tmp_path, monkeypatch):
    assert list(memory.group_limits(tmp_path)) == []
    assert memory.free_memory() > 10**6
    monkeypatch.setattr(memory, "group_limits", lambda: [(20_000, 10_000), (2**50, 2**40)])
    assert memory.free_memory() == 10_000
    assert memory.memory_limit() == 20_000


@pytest.mark.parametrize(
    "lines", ["5:memory:/job", "5:hugetlb,memory:/job\n0::/", "strange\n5:memory:/job"]
)
@pytest.mark.parametrize("stat", [None, "strange\n", "cache 3\ntotal_inactive_file 500\n"])
def test_a_limit_counts_whatever_else_a_group_says(lines, stat, tmp_path):
    """Without a readable memory.stat, or beside another controller, it was passed over."""
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(lines)
    group = tmp_path / "sys/fs/cgroup/memory/job"
    group.mkdir(parents=True)
    (group / "memory.limit_in_bytes").write_text("1000\n")
    (group / "memory.usage_in_bytes").write_text("400\n")
    if stat is not None:
        (group / "memory.stat").write_text(stat)
    left = 1000 if stat and "500" in stat else 600  # never more than the limit
    assert list(memory.group_limits(tmp_path)) == [(1000, left)]
