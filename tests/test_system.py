"""What an environment and a machine have."""

import fairfield as ff
from fairfield import system


def test_versions_are_those_of_the_environment(capsys):
    ff.show_versions()
    shown = dict(line.split(" ", 1) for line in capsys.readouterr().out.splitlines())
    import numpy
    import sklearn

    assert shown["fairfield"] == ff.__version__
    assert (shown["numpy"], shown["scikit-learn"]) == (numpy.__version__, sklearn.__version__)


def test_packages_are_those_of_the_project(monkeypatch):
    lines = ["numpy>=2.0", "torch>=2.2; extra == 'learning'", "absent-package; extra == 'all'"]
    monkeypatch.setattr(system, "requires", lambda name: lines)
    monkeypatch.setattr(system, "_installed", {"numpy": "1.26.4"}.get)
    found = system.packages()
    assert {name: [each.state for each in of] for name, of in found.items()} == {
        "": ["too old"],
        "learning": ["missing"],
    }


def test_gpus_are_those_the_driver_names(tmp_path, monkeypatch):
    assert system._gpus() == [] or all(", " in each for each in system._gpus())
    driver = tmp_path / "nvidia-smi"
    driver.write_text("#!/bin/sh\necho 'NVIDIA H200, 143771 MiB'\n")
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert system.machine()["gpus"] == ["NVIDIA H200, 143771 MiB"]
