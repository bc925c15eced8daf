"""The Makefile on machines that lack something."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout without .venv, and a `bin` of programs that is all its PATH names."""
    (tmp_path / "path").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt", "bin/make-venv"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("sh", "bash", "make", "rm", "touch", "echo", "find", "sed", "expand"):
        program = shutil.which(name)
        assert program, name
        (tmp_path / "path" / name).symlink_to(program)
    return tmp_path


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments], cwd=checkout, env={"PATH": str(checkout / "path")}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def add_python(checkout: Path, name: str, *, version: str, venv: bool = True) -> None:
    """A stand-in that claims a version, knows venv or not, and notes that it made an environment."""
    program = checkout / "path" / name
    major, minor = version.split(".")
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        f'  *version_info*) [ {major} -eq 3 ] && [ {minor} -ge 11 ] ;;\n'
        f"  *ensurepip*) {'true' if venv else 'false'} ;;\n"
        f'  "-m venv "*) echo {name} > "$PWD/made-with"; exec {sys.executable} -m venv --without-pip "$3" ;;\n'
        "  *) false ;;\n"
        "esac\n"
    )  # fmt: skip
    program.chmod(0o755)


def read_message(done: subprocess.CompletedProcess[str]) -> str:
    """What is said beside make's own line."""
    assert done.returncode == 2
    return "\n".join(line for line in done.stderr.splitlines() if not line.startswith("make:"))


def test_no_python_is_one_sentence(checkout: Path) -> None:
    assert read_message(make(checkout, "install")) == (
        "Quartermaster needs Python 3.11 or newer: install it, on Debian or Ubuntu with "
        "'sudo apt-get install python3 python3-venv'."
    )
    assert not (checkout / ".venv").exists()


def test_old_python_is_the_same_sentence(checkout: Path) -> None:
    add_python(checkout, "python3", version="3.9")
    assert read_message(make(checkout, "install")).startswith("Quartermaster needs Python 3.11 or newer")


@pytest.mark.parametrize("name", ["python3", "python3.12"])
def test_python_without_venv_is_one_sentence(checkout: Path, name: str) -> None:
    add_python(checkout, "python3", version="3.10")
    add_python(checkout, name, version="3.12", venv=False)
    assert read_message(make(checkout, "install")) == (
        f"{name} cannot make virtual environments: install its venv module, on Debian or Ubuntu with "
        f"'sudo apt-get install {name}-venv'."
    )


@pytest.mark.parametrize(
    ("pythons", "chosen"),
    [
        ({"python3": "3.11", "python3.13": "3.13"}, "python3"),
        ({"python3": "3.9", "python3.11": "3.11"}, "python3.11"),
        ({"python3": "3.10", "python3.12": "3.12", "python3.13": "3.13"}, "python3.13"),
    ],
)
def test_first_python_that_is_new_enough_is_taken(
    checkout: Path, pythons: dict[str, str], chosen: str
) -> None:
    for name, version in pythons.items():
        add_python(checkout, name, version=version)
    make(checkout, ".venv/bin/python")
    assert (checkout / "made-with").read_text().strip() == chosen
    assert (checkout / ".venv/bin/python").exists()


def test_second_install_does_nothing(checkout: Path) -> None:
    (checkout / ".venv/bin").mkdir(parents=True)
    for name in ("bin/python", ".requirements", ".requirements-dev"):
        (checkout / ".venv" / name).touch()
    done = make(checkout, "install")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing to be done" in done.stdout
    os.utime(checkout / "requirements.txt", (2**31, 2**31))
    assert "pip" in make(checkout, "--dry-run", "install").stdout


def test_run_installs_what_the_portal_needs_and_no_more(checkout: Path) -> None:
    (checkout / "path/python3").symlink_to(sys.executable)
    steps = make(checkout, "--dry-run", "run", "PORT=8123").stdout
    order = ["make-venv", "-r requirements.txt", "migrate", "sample_data", "serve --port 8123"]
    places = [steps.find(step) for step in order]
    assert -1 not in places
    assert places == sorted(places)
    assert "requirements-dev" not in steps


def test_help_names_every_target_for_people(checkout: Path) -> None:
    text = make(checkout).stdout
    first = ["help", "install", "install-dev", "install-js", "run", "test"]
    assert re.findall(r"(?m)^  make (\S+)", text)[:6] == first


def test_locks_hold_hashes_and_no_addresses() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        text = (ROOT / name).read_text()
        pinned = re.findall(r"(?m)^[a-z0-9][\w.\[\],-]*==[^\s;]+.*\\$", text)
        assert len(pinned) > 50
        assert len(re.findall(r"(?m)^[a-z]", text)) == len(pinned)
        assert "--hash=sha256:" in text
        assert not re.search(r"(?m)^--|https?://|file:", text)
