"""Registries: modules that are found by themselves, and names taken once."""

import sys

import pytest

from fairfield.core.registry import import_all, refuse_taken


def test_every_module_of_a_package_is_imported(tmp_path, monkeypatch):
    package = tmp_path / "found_by_itself"
    package.mkdir()
    for name in ("__init__", "one", "two"):
        (package / f"{name}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    import_all("found_by_itself")
    assert {"found_by_itself.one", "found_by_itself.two"} <= set(sys.modules)


def test_a_name_is_taken_once_but_by_the_same_definition():
    def one():
        """The first of the name."""

    def other():
        """Another one."""

    refuse_taken("a thing 'x'", None, one)
    refuse_taken("a thing 'x'", one, one)
    with pytest.raises(ValueError, match=r"there is a thing 'x' already, .*one; choose another"):
        refuse_taken("a thing 'x'", one, other)
