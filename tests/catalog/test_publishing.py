"""Publishing: a version is made once, whole, and never changes."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.conf import settings as django_settings
from django.db import IntegrityError, transaction

from catalog import blobs, insertion, publishing
from catalog.access import NotAllowed
from catalog.admission import Declared
from catalog.bundles.bundle import Bundle
from catalog.bundles.digest import bundle_digest
from catalog.bundles.files import Limits, Upload
from catalog.models import Blob, BundleFile, JournalEntry, Skill, SkillTag, Version
from catalog.publishing import Publication, publish_upload
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


def md(name: str = "refund-check", version: str = "1.0.0", body: str = make.BODY, **files: bytes) -> Bundle:
    """A skill of one file, or more."""
    more = {path.replace("__", "/"): content for path, content in files.items()}
    return make.bundle({"SKILL.md": make.skill_md(name, version=version, body=body), **more}, folder=name)


def stored(tmp_path: Path) -> list[str]:
    """The names of all files in the store."""
    return sorted(path.name for path in (tmp_path / "blobs").rglob("*") if path.is_file())


def upload(cast: make.Cast, *bundles: Bundle, **fields: Any) -> list[Publication]:
    """Publish these as one upload, as Ines."""
    told: dict[str, Any] = {
        "upload": Upload(trees=tuple(bundle.tree for bundle in bundles)),
        "team": cast.payments,
        "declared": Declared(),
        "actor": crew.actor(cast.ines),
        "provenance": {"form": "zip"},
        "limits": Limits(),
        "now": make.NOW,
    }
    return publish_upload(**{**told, **fields})


def test_a_version_is_stored_whole(cast: make.Cast, tmp_path: Path) -> None:
    bundle = md(references__rules=b"rules", scripts__run=b"#!/bin/sh\n", assets__empty=b"")
    made = make.publication(bundle, team=cast.payments, publisher=cast.ines, notes="First.")
    row = Version.objects.get()
    assert (made.status, made.row) == ("published", row)
    assert row.bundle_sha256 == made.bundle_sha256 == bundle_digest(bundle.tree.files)
    assert [(file.path, file.executable) for file in row.files.all()] == [
        ("SKILL.md", False), ("assets/empty", False), ("references/rules", False), ("scripts/run", True),
    ]  # fmt: skip
    for file in row.files.select_related("blob"):
        content = blobs.read_blob(file.blob_id)
        assert len(content) == file.blob.size
        assert content == bundle.tree.get(file.path).content  # type: ignore[union-attr]
    assert (row.size, row.file_count) == (sum(f.size for f in bundle.tree.files), 4)
    assert (row.has_resources, row.has_scripts, row.notes) == (True, True, "First.")
    assert row.publisher == row.skill.owner == cast.ines
    assert len(stored(tmp_path)) == Blob.objects.count() == 5
    entry = JournalEntry.objects.get(verb="version.publish")
    assert entry.target == "refund-check 1.0.0"
    assert entry.after["bundle_sha256"] == row.bundle_sha256


def test_the_same_again_changes_nothing(cast: make.Cast, tmp_path: Path) -> None:
    first = make.publication(md(), team=cast.payments)
    seen = (Version.objects.values().get(), Skill.objects.values().get(), stored(tmp_path), crew.verbs())
    again = make.publication(md(), team=cast.payments)
    assert (again.status, again.row) == ("unchanged", first.row)
    assert "version-exists-identical" in {finding.code for finding in again.findings}
    assert seen == (
        Version.objects.values().get(),
        Skill.objects.values().get(),
        stored(tmp_path),
        crew.verbs(),
    )


@pytest.mark.parametrize(
    ("other", "declared", "what"),
    [
        (md(body="# Other\n\nOther bytes.\n"), {}, "other bytes"),
        (md(), {"tags": ("money",)}, "another declaration"),
        (md(), {"risk_level": "high"}, "another declaration"),
    ],
)
def test_a_version_never_changes(
    cast: make.Cast, tmp_path: Path, other: Bundle, declared: dict[str, Any], what: str
) -> None:
    make.publication(md(), team=cast.payments)
    seen = (Version.objects.values().get(), stored(tmp_path), crew.verbs())
    refused = make.publication(other, team=cast.payments, **declared)
    assert refused.status == "conflict"
    [finding] = [finding for finding in refused.findings if finding.code == "version-exists"]
    assert what in finding.message
    assert finding.severity == "error"
    assert seen == (Version.objects.values().get(), stored(tmp_path), crew.verbs())


@pytest.mark.parametrize(
    ("bundle", "status"),
    [
        (md(version="1.1.0", body="New.\n"), "checked"),
        (md(), "unchanged"),
        (md(body="Other.\n"), "conflict"),
        (make.bundle({"SKILL.md": b"no frontmatter"}, folder="x"), "rejected"),
    ],
)
def test_a_dry_run_writes_nothing(cast: make.Cast, tmp_path: Path, bundle: Bundle, status: str) -> None:
    make.publication(md(), team=cast.payments)
    seen = (
        Version.objects.count(),
        Blob.objects.count(),
        BundleFile.objects.count(),
        stored(tmp_path),
        crew.verbs(),
    )
    [told] = upload(cast, bundle, dry_run=True)
    assert told.status == status
    assert seen == (
        Version.objects.count(), Blob.objects.count(), BundleFile.objects.count(), stored(tmp_path), crew.verbs(),
    )  # fmt: skip


def test_what_is_refused_leaves_nothing(cast: make.Cast, tmp_path: Path) -> None:
    [told] = upload(cast, make.bundle({"SKILL.md": b"no frontmatter"}, folder="x"))
    assert told.status == "rejected"
    assert not Skill.objects.exists()
    assert not Blob.objects.exists()
    assert stored(tmp_path) == []


def test_of_two_with_one_name_in_an_upload_the_first_counts(cast: make.Cast) -> None:
    first, second = md(), md(body="Second.\n")
    trees = (crew.tree({f.path: f.content for f in first.tree.files}, "a"),
             crew.tree({f.path: f.content for f in second.tree.files}, "b"))  # fmt: skip
    one, two = upload(cast, upload=Upload(trees=trees))
    assert (one.status, two.status) == ("published", "rejected")
    assert [f.message for f in two.findings if f.code == "name-collision"] == [
        "The folder a of this upload already holds a skill named refund-check; the first one counts."
    ]
    assert Version.objects.get().bundle_sha256 == first.bundle_sha256


def test_a_refused_first_does_not_take_the_name(cast: make.Cast) -> None:
    broken = make.bundle({"SKILL.md": b"---\nname: refund-check\n---\n"}, folder="refund-check")
    one, two = upload(cast, broken, md())
    assert (one.status, two.status) == ("rejected", "published")


@pytest.mark.parametrize("name", ["sven", "mara", "lena", "ravi", "ada", "nora"])
def test_only_publishers_of_the_team_publish(cast: make.Cast, name: str) -> None:
    with pytest.raises(NotAllowed, match=r"^Publishing for Payments needs the role publisher in that team.$"):
        upload(cast, md(), actor=crew.actor(getattr(cast, name)))
    assert not Skill.objects.exists()


@pytest.mark.parametrize(
    ("numbers", "latest"),
    [
        (("1.9.0", "1.10.0"), "1.10.0"),
        (("1.10.0", "1.9.0"), "1.10.0"),
        (("1.0.0", "2.0.0-rc.1"), "1.0.0"),
        (("2.0.0-rc.1",), "2.0.0-rc.1"),
        (("2.0.0-rc.1", "2.0.0-rc.10", "2.0.0-rc.9"), "2.0.0-rc.10"),
        (("1.0.0", "99999999999999999999.0.0", "2.0.0"), "99999999999999999999.0.0"),
        (("2.0.0-rc.1", "2.0.0"), "2.0.0"),
    ],
)
def test_latest_is_the_highest_release(cast: make.Cast, numbers: tuple[str, ...], latest: str) -> None:
    for number in numbers:
        make.version("refund-check", number, cast=cast, body=f"{number}\n")
    skill = Skill.objects.select_related("latest").get()
    assert skill.latest is not None
    assert skill.latest.version == latest


def test_tags_follow_the_latest_version(cast: make.Cast) -> None:
    make.version("refund-check", "1.0.0", cast=cast, tags=("money", "old"))
    make.version("refund-check", "1.1.0", cast=cast, tags=("money", "new"), body="1.1\n")
    assert set(SkillTag.objects.values_list("tag", flat=True)) == {"money", "new"}
    make.version("refund-check", "1.0.1", cast=cast, tags=("patched",), body="1.0.1\n")
    assert set(SkillTag.objects.values_list("tag", flat=True)) == {"money", "new"}


def test_the_skill_joins_the_set_that_is_named(cast: make.Cast) -> None:
    make.skill_set("desk")
    make.publication(md(), team=cast.payments, set_slug="desk")
    assert Skill.objects.get().sets.get().slug == "desk"


# -- what clients download


def shipped(row: Version | None) -> ZipFile:
    """The artifact."""
    assert row is not None
    return ZipFile(BytesIO(blobs.read_blob(row.artifact_id)))


def test_the_artifact_is_the_same_for_the_same_files(cast: make.Cast) -> None:
    files = {"references/b": b"b", "assets/a": b"a", "scripts/run.sh": b"#!/bin/sh\n"}
    heads = {"SKILL.md": make.skill_md()}
    one = make.bundle({**heads, **files}, folder="refund-check")
    other = make.bundle(dict(reversed({**files, **heads}.items())), folder="another-folder")
    assert insertion.prepare(one).artifact == insertion.prepare(other).artifact
    row = make.publication(one, team=cast.payments).row
    archive = shipped(row)
    assert archive.namelist() == ["SKILL.md", "assets/a", "references/b", "scripts/run.sh"]
    assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
    assert (modes["SKILL.md"], modes["scripts/run.sh"]) == (0o644, 0o755)


def test_a_tool_skill_ships_a_skill_md(cast: make.Cast) -> None:
    row = make.publication(crew.tool("refund.issue"), team=cast.payments).row
    archive = shipped(row)
    assert archive.namelist() == ["SKILL.md", "manifest.yaml", "run.py"]
    text = archive.read("SKILL.md").decode()
    assert text.startswith("---\nname: refund-issue\ndescription: ")
    assert '"order_id"' in text
    assert row is not None
    assert [file.path for file in row.files.all()] == ["manifest.yaml", "run.py"]
    again = crew.read({"SKILL.md": archive.read("SKILL.md")}, "refund-issue")
    assert not again.refused


def test_a_small_skill_md_ships_under_its_right_name(cast: make.Cast) -> None:
    bundle = make.bundle({"skill.md": make.skill_md(), "references/a": b"a"}, folder="refund-check")
    made = make.publication(bundle, team=cast.payments)
    assert made.row is not None, made.findings
    assert shipped(made.row).namelist() == ["SKILL.md", "references/a"]
    assert [file.path for file in made.row.files.all()] == ["references/a", "skill.md"]


# -- much, and at once


def test_a_thousand_files_are_one_version(cast: make.Cast) -> None:
    files = {f"references/{n:04}.md": f"Rule {n}.\n".encode() for n in range(999)}
    made = make.publication(
        make.bundle({"SKILL.md": make.skill_md(), **files}, folder="refund-check"), team=cast.payments
    )
    assert made.row is not None
    assert BundleFile.objects.count() == 1000
    assert make.publication(made.bundle, team=cast.payments).status == "unchanged"
    assert django_settings.LIMITS.max_files == 1000


def test_a_version_is_unique_in_the_database_too(cast: make.Cast) -> None:
    row = make.version("refund-check", cast=cast)
    row.pk = None
    row._state.adding = True
    with pytest.raises(IntegrityError), transaction.atomic():
        Version.objects.bulk_create([row])


def test_a_verdict_that_changes_under_the_lock_leaves_nothing(
    cast: make.Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the first look and the lock another skill has closed the circle."""
    first = publishing.admit
    seen = []

    def admit(**fields: Any) -> Any:
        if not seen:
            seen.append(first(**fields))
            make.publication(crew.tool("b.two", needs={"a.one": "1.0.0"}), team=cast.payments)
            return seen[0]
        return first(**fields)

    monkeypatch.setattr(publishing, "admit", admit)
    made = make.publication(crew.tool("a.one", needs={"b.two": "1.0.0"}), team=cast.payments)
    assert made.status == "rejected"
    assert "dependency-cycle" in {finding.code for finding in made.findings}
    assert list(Skill.objects.values_list("folder", flat=True)) == ["b-two"]
