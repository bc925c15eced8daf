"""Upkeep: what `verify` finds, and what a sweep removes and must not."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection, transaction

from catalog import blobs, insertion, journal, upkeep
from catalog.bundles.bundle import Bundle
from catalog.models import Blob, BundleFile, Dependency, IdempotencyKey, JobRun, JournalEntry, Skill, Version
from catalog.upkeep import GRACE, Swept, find_faults, sweep
from tests import cast as crew
from tests import make

RULES = b"Thirty days.\n"


def bundle(version: str = "1.0.0") -> Bundle:
    """A skill with a resource and a script."""
    head = make.skill_md(version=version)
    return make.bundle(
        {"SKILL.md": head, "references/rules.md": RULES, "scripts/run.sh": b"#!/bin/sh\n"},
        folder="refund-check",
    )


def place(tmp_path: Path, digest: str) -> Path:
    """Where the blob lies."""
    return tmp_path / "blobs" / blobs.path_of(digest)


def digest_of(path: str) -> str:
    """The blob of a file of the version."""
    return BundleFile.objects.get(path=path).blob_id


# -- verify


@pytest.mark.django_db
def test_a_sound_catalog_has_no_fault() -> None:
    cast = make.cast()
    make.publication(bundle(), team=cast.payments)
    make.publication(crew.tool("refund.issue"), team=cast.payments)
    assert list(find_faults()) == []
    assert list(find_faults(anchor=journal.read_head())) == []


def lose(tmp_path: Path, digest: str) -> None:
    place(tmp_path, digest).unlink()


def change(tmp_path: Path, digest: str) -> None:
    place(tmp_path, digest).write_bytes(b"Ninety days.\n")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lose, "Blob {0} is missing from the store."),
        (change, "The bytes of blob {0} have changed, or the size of its row has."),
    ],
)
def test_a_blob_that_is_lost_or_changed(
    tmp_path: Path, damage: Callable[[Path, str], None], said: str
) -> None:
    make.publication(bundle(), team=make.cast().payments)
    digest = digest_of("references/rules.md")
    damage(tmp_path, digest)
    assert list(find_faults()) == [said.format(digest), "refund-check 1.0.0 lacks a file."]


@pytest.mark.django_db
def test_a_blob_of_two_versions_is_told_once(tmp_path: Path) -> None:
    team = make.cast().payments
    make.publication(bundle(), team=team)
    make.publication(bundle("1.1.0"), team=team)
    digest = sha256(RULES).hexdigest()
    lose(tmp_path, digest)
    assert sorted(find_faults()) == [
        f"Blob {digest} is missing from the store.",
        "refund-check 1.0.0 lacks a file.",
        "refund-check 1.1.0 lacks a file.",
    ]


@pytest.mark.django_db
def test_an_artifact_that_is_lost(tmp_path: Path) -> None:
    made = make.publication(bundle(), team=make.cast().payments)
    assert made.row is not None
    lose(tmp_path, made.row.artifact_id)
    assert list(find_faults()) == [f"Blob {made.row.artifact_id} is missing from the store."]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            lambda: BundleFile.objects.filter(path="references/rules.md").delete(),
            "refund-check 1.0.0 lacks rows of its files, or has too many.",
        ),
        (
            lambda: Version.objects.update(bundle_sha256="0" * 64),
            "refund-check 1.0.0 no longer has the digest that it was published with.",
        ),
        (
            lambda: BundleFile.objects.filter(path="references/rules.md").update(path="references/rule.md"),
            "refund-check 1.0.0 no longer has the digest that it was published with.",
        ),
        (
            lambda: BundleFile.objects.filter(path="scripts/run.sh").update(executable=False),
            "refund-check 1.0.0 no longer tells which of its files are executable.",
        ),
        (
            lambda: Version.objects.update(declared_risk="high"),
            "refund-check 1.0.0 no longer declares what it was published with.",
        ),
        (
            lambda: Version.objects.update(declared_risk="low", risk_level="high"),
            "refund-check 1.0.0 no longer declares what it was published with.",
        ),
        (
            lambda: Version.objects.update(permissions=["send"]),
            "refund-check 1.0.0 no longer declares what it was published with.",
        ),
        (
            lambda: Blob.objects.filter(pk=sha256(RULES).hexdigest()).update(size=1),
            "refund-check 1.0.0 lacks a file.",
        ),
        (
            lambda: JournalEntry.objects.filter(n=1).update(actor="forged"),
            "The audit log does not fit together at entry 1.",
        ),
    ],
)
def test_rows_that_were_changed(damage: Callable[[], object], said: str) -> None:
    make.publication(bundle(), team=make.cast().payments)
    damage()
    assert list(find_faults())[-1] == said


@pytest.mark.django_db
def test_a_journal_cut_at_its_end_shows_against_an_anchor() -> None:
    make.publication(bundle(), team=make.cast().payments)
    assert list(find_faults(anchor=(9, "0" * 64))) == ["The audit log does not fit together at entry 2."]


@pytest.mark.django_db
def test_the_number_of_questions_does_not_grow_with_versions(django_assert_max_num_queries: object) -> None:
    team = make.cast().payments
    for n in range(6):
        make.publication(bundle(f"1.{n}.0"), team=team)
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert list(find_faults()) == []


# -- sweep


def now() -> datetime:
    """The clock of the store: files have the machine's times."""
    return datetime.now(UTC)


def stray(tmp_path: Path, name: str, *, hours: float = 0) -> Path:
    """A file in the store that no row knows."""
    path = tmp_path / "blobs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"stray")
    then = (now() - timedelta(hours=hours)).timestamp()
    os.utime(path, (then, then))
    return path


def orphan(content: bytes = b"orphan", *, hours: float) -> str:
    """A blob with its row that no version refers to."""
    digest = sha256(content).hexdigest()
    blobs.write_blob(content, digest)
    Blob.objects.create(sha256=digest, size=len(content), created_at=now() - timedelta(hours=hours))
    return digest


@pytest.mark.django_db
def test_what_is_referred_to_stays(tmp_path: Path) -> None:
    make.publication(bundle(), team=make.cast().payments)
    assert sweep(now=now() + timedelta(days=900)) == Swept(rows=0, files=0)
    assert list(find_faults()) == []


@pytest.mark.django_db
@pytest.mark.parametrize(("hours", "rows"), [(23, 0), (25, 1)])
def test_what_nothing_refers_to_goes_after_its_grace(tmp_path: Path, hours: float, rows: int) -> None:
    digest = orphan(hours=hours)
    assert sweep(now=now()) == Swept(rows=rows, files=0)
    assert place(tmp_path, digest).exists() == Blob.objects.exists() == (not rows)
    assert sweep(now=now()) == Swept(rows=0, files=0)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", [".half.part", "ab/cd/.018f.part", f"{'0' * 2}/{'0' * 2}/{'0' * 64}", "README"]
)
@pytest.mark.parametrize(("hours", "files"), [(23, 0), (25, 1)])
def test_files_without_a_row_go_after_their_grace(
    tmp_path: Path, name: str, hours: float, files: int
) -> None:
    path = stray(tmp_path, name, hours=hours)
    assert sweep(now=now()) == Swept(rows=0, files=files)
    assert path.exists() == (not files)
    assert not Blob.objects.exists()


@pytest.mark.django_db
def test_an_old_file_with_a_row_stays(tmp_path: Path) -> None:
    make.publication(bundle(), team=make.cast().payments)
    for file in (tmp_path / "blobs").rglob("*"):
        if file.is_file():
            stray(tmp_path, str(file.relative_to(tmp_path / "blobs")), hours=900)
    assert sweep(now=now()) == Swept(rows=0, files=0)


@pytest.mark.django_db
def test_the_grace_can_be_none(tmp_path: Path) -> None:
    orphan(hours=0.01)
    assert sweep(now=now(), grace=timedelta(0)).rows == 1
    assert timedelta(hours=24) == GRACE


@pytest.mark.django_db
def test_a_publication_during_the_sweep_keeps_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep has chosen the blob; before it locks the row a version refers to the same bytes."""
    team = make.cast().payments
    orphan(RULES, hours=48)
    drop = upkeep._drop_blob

    def publish_first(digest: str, before: datetime) -> int:
        make.publication(bundle(), team=team)
        return drop(digest, before)

    monkeypatch.setattr(upkeep, "_drop_blob", publish_first)
    assert sweep(now=now()).rows == 0
    assert list(find_faults()) == []


def test_sweeps_and_publications_of_the_same_bytes_at_once(shared_database: str, tmp_path: Path) -> None:
    """Whoever comes first: what is published has its bytes, and nobody fails."""
    team = make.cast().payments
    for n in range(12):
        orphan(RULES, hours=48)
        number = f"1.{n}.0"
        done = crew.together(
            [lambda number=number: make.publication(bundle(number), team=team).status]  # type: ignore[misc]
            + [lambda: sweep(now=now())] * 2
        )
        assert done[0] == "published", done
        assert all(isinstance(swept, Swept) for swept in done[1:]), done
        assert list(find_faults()) == []
        with transaction.atomic():
            for model in (BundleFile, Dependency):
                model.objects.all().delete()
            Skill.objects.update(latest=None)
            Version.objects.all().delete()
            Blob.objects.all().delete()
    connection.close()


@pytest.mark.django_db
def test_blobs_that_a_sweep_took_meanwhile_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep that holds a row while it is looked for takes it away once it is waited for."""
    content = {sha256(RULES).hexdigest(): RULES}
    create = Blob.objects.bulk_create
    asked = []

    def taken_once(rows: list[Blob], **options: bool) -> list[Blob]:
        asked.append(len(rows))
        made = create(rows, **options)
        if len(asked) == 1:
            Blob.objects.all().delete()
        return made

    monkeypatch.setattr(Blob.objects, "bulk_create", taken_once)
    insertion.hold_blobs(content, {}, now=make.NOW)
    assert asked == [1, 1]
    assert Blob.objects.count() == 1


@pytest.mark.django_db
def test_answers_and_runs_are_forgotten_in_time() -> None:
    token, _ = make.token(user=make.user("pat"))
    for key, hours in (("new", 23), ("old", 25)):
        then = make.NOW - timedelta(hours=hours)
        IdempotencyKey.objects.create(token=token, key=key, request_sha256="0" * 64, created_at=then)
    for period, days in (("new", 364), ("old", 366)):
        then = make.NOW - timedelta(days=days)
        JobRun.objects.create(name="sweep", period=period, owner=uuid4(), started_at=then, leased_until=then)
    assert upkeep.forget(now=make.NOW) == 2
    assert IdempotencyKey.objects.get().key == JobRun.objects.get().period == "new"


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL looks over its tables by itself")
def test_sqlite_knows_what_its_tables_hold() -> None:
    make.version(cast=make.cast())
    upkeep.look_over()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'catalog_version'")
        assert cursor.fetchone()[0] > 0
