"""The README's commands, in its order, by a newcomer with a shell."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.requirements import find_program
from tests.served.instance import ROOT, Instance

README = ROOT / "README.md"


def blocks() -> list[str]:
    """The shell blocks below "Publish a skill, release it, read it"."""
    part = README.read_text().split("## Publish a skill, release it, read it", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"```sh\n(.*?)```", part, flags=re.DOTALL)


def test_readme_begins_with_the_two_commands() -> None:
    part = README.read_text().split("## Start it", 1)[1].split("\n## ", 1)[0]
    assert re.findall(r"```sh\n(.*?)\n```", part, flags=re.DOTALL) == ["make run", "make test"]


def test_curl_lines_publish_release_and_read_a_skill(served: Instance, tmp_path: Path) -> None:
    find_program("curl")
    script = "set -eu\n" + "\necho ----\n".join(blocks())
    script = script.replace("http://127.0.0.1:8000", served.url)
    script = script.replace(".venv/bin/python manage.py", f"{sys.executable} {ROOT / 'manage.py'}")
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path, env={**served.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    _, published, released, read, traced = done.stdout.split("----\n")

    [result] = json.loads(published)["results"]
    assert (result["name"], result["version"], result["status"]) == ("standup-notes", "1.0.0", "published")
    assert '"state":"approved"' in released
    assert '"state":"live"' in released
    assert "- **standup-notes**: Turns what was said in a stand-up" in read
    assert '"instructions":"# Stand-up notes' in read
    [folder] = tmp_path.iterdir()
    with ZipFile(folder / "bundle.zip") as bundle:
        assert bundle.namelist() == ["SKILL.md"]
    assert (folder / "unpacked/standup-notes/SKILL.md").is_file()
    assert '{"accepted":1,"duplicates":0,"rejected":[]}' in traced
    assert re.search(r"Send the notes to \[EMAIL·[0-9a-f]{4}\]", traced)
    assert "maria@example.com" not in traced


@pytest.mark.parametrize("name", re.findall(r"^\| `([A-Z_]+)` \|", README.read_text(), flags=re.MULTILINE))
def test_a_documented_setting_is_read(name: str) -> None:
    text = (ROOT / "portal/settings.py").read_text() + (ROOT / "portal/environment.py").read_text()
    assert f'"{name}"' in text


def test_every_setting_is_documented() -> None:
    text = (ROOT / "portal/settings.py").read_text() + (ROOT / "portal/environment.py").read_text()
    read = set(re.findall(r'(?:read_\w+|env\.\w+)\(\s*"([A-Z_]+)"', text))
    assert read == set(re.findall(r"^\| `([A-Z_]+)` \|", README.read_text(), flags=re.MULTILINE))
