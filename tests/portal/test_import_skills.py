"""`import_skills` reads one folder after another: the bytes of a large tree are never all in memory."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from weakref import ref

import pytest
from django.core.management import call_command

from catalog.bundles import folders
from catalog.bundles.files import Limits, Tree
from catalog.models import Version
from tests import make

pytestmark = pytest.mark.django_db
NAMES = [f"skill-{letter}" for letter in "abcdefgh"]


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """A folder of eight skills; the team that gets them is there."""
    make.team("payments")
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_bytes(make.skill_md(name, version="1.0.0"))
    return tmp_path


@pytest.mark.parametrize("form", ["text", "json"])
def test_few_trees_are_held_at_once(skills: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ref[Tree]] = []
    most = 0
    work = folders.read_folder

    def watched(path: Path, limits: Limits) -> Tree:
        nonlocal most
        tree = work(path, limits)
        made.append(ref(tree))
        most = max(most, sum(one() is not None for one in made))
        return tree

    monkeypatch.setattr(folders, "read_folder", watched)
    out = StringIO()
    call_command("import_skills", str(skills), team="payments", format=form, stdout=out)
    assert len(made) == len(NAMES)
    assert most == 2  # the one that is read, and the one before it, which was just told
    assert Version.objects.count() == len(NAMES)
    if form == "json":
        told = json.loads(out.getvalue())
        assert [(one["folder"], one["status"]) for one in told["results"]] == [
            (name, "published") for name in NAMES
        ]
        assert told["findings"] == []


def test_each_is_told_as_soon_as_it_is_published(skills: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, seen = StringIO(), []
    work = folders.read_folder

    def watched(path: Path, limits: Limits) -> Tree:
        seen.append(sum(line.startswith("published") for line in out.getvalue().splitlines()))
        return work(path, limits)

    monkeypatch.setattr(folders, "read_folder", watched)
    call_command("import_skills", str(skills), team="payments", stdout=out)
    assert seen == list(range(len(NAMES)))
    assert out.getvalue().splitlines()[-1] == "8 published."


def test_two_folders_are_one_import(skills: Path, tmp_path: Path) -> None:
    out = StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command(
            "import_skills", str(skills / NAMES[0]), str(skills), team="payments", format="json", stdout=out
        )
    results = json.loads(out.getvalue())["results"]
    assert [one["folder"] for one in results] == [NAMES[0], *NAMES]
    assert [one["status"] for one in results] == ["published", "rejected", *["published"] * 7]
    assert "name-collision" in {finding["code"] for finding in results[1]["findings"]}
