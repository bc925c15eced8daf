"""Keeping the store and the record in order: `verify` looks, `sweep` removes what is left over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice

from django.db import connection, transaction
from django.db.models import Prefetch, QuerySet

from catalog import blobs, journal
from catalog.admission import declaration_digest
from catalog.bundles.digest import bundle_digest
from catalog.bundles.files import File
from catalog.models import Blob, BundleFile, IdempotencyKey, JobRun, Version

# Longer than any upload takes: what is younger may belong to one that is not yet committed.
GRACE = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep removed."""

    rows: int
    files: int


def find_faults(*, anchor: tuple[int, str] | None = None) -> Iterator[str]:
    """A sentence for each fault: blobs lost or changed, versions that do not add up, a broken journal.

    `anchor` is an earlier head of the journal, kept elsewhere: an entry removed since is told too.
    """
    looked_at: set[str] = set()
    yield from _find_version_faults(looked_at)
    for digest, size in Blob.objects.order_by("pk").values_list("pk", "size").iterator():
        if digest not in looked_at:
            _, fault = _read(digest, size)
            yield from fault
    chain = journal.check_chain(anchor=anchor)
    if not chain.intact:
        yield f"The audit log does not fit together at entry {chain.broken_at}."


def _read(digest: str, size: int) -> tuple[bytes | None, list[str]]:
    """The bytes of a blob where they are what they should be, else a sentence."""
    try:
        content = blobs.read_blob(digest)
    except OSError:
        return None, [f"Blob {digest} is missing from the store."]
    if sha256(content).hexdigest() != digest or len(content) != size:
        return None, [f"The bytes of blob {digest} have changed, or the size of its row has."]
    return content, []


def _find_version_faults(looked_at: set[str]) -> Iterator[str]:
    """Faults of versions and of their files' blobs; `looked_at` gathers the digests of the latter."""
    with_files = Version.objects.select_related("skill").prefetch_related(
        Prefetch("files", BundleFile.objects.select_related("blob"))
    )
    for version in with_files.iterator(chunk_size=100):
        files, rows = [], list(version.files.all())
        for row in rows:
            content, fault = _read(row.blob_id, row.blob.size)
            if content is not None:
                files.append(File(row.path, content))
            if row.blob_id not in looked_at:
                yield from fault
                looked_at.add(row.blob_id)
        yield from _faults_of(version, rows, files)


def _faults_of(version: Version, rows: list[BundleFile], files: list[File]) -> Iterator[str]:
    if len(rows) != version.file_count:
        yield f"{version} lacks rows of its files, or has too many."
    elif len(files) != len(rows):
        yield f"{version} lacks a file."
    elif bundle_digest(files) != version.bundle_sha256:
        yield f"{version} no longer has the digest that it was published with."
    elif [row.executable for row in rows] != [file.executable for file in files]:
        yield f"{version} no longer tells which of its files are executable."
    undeclared = version.declared_risk not in {"", version.risk_level}
    if undeclared or declaration_digest(version.declared) != version.declaration_sha256:
        yield f"{version} no longer declares what it was published with."


def sweep(*, now: datetime, grace: timedelta = GRACE) -> Swept:
    """Remove blobs that nothing refers to, and files that belong to no blob, once older than `grace`.

    Each is looked at again under the lock of its row, which a publication of the same bytes holds
    until it commits.
    """
    before = now - grace
    rows = sum(_drop_blob(digest, before) for digest in _unreferenced(before).values_list("pk", flat=True))
    old = (path for path, written_at in blobs.list_files() if written_at < before)
    files = sum(_drop_stray(path) for batch in _batches(old) for path in _without_row(batch))
    return Swept(rows=rows, files=files)


def look_over() -> None:
    """Have SQLite look at what its tables hold, by which it chooses an index; PostgreSQL does that by itself."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA analysis_limit = 1000")
            cursor.execute("ANALYZE")


def _unreferenced(before: datetime) -> QuerySet[Blob]:
    return Blob.objects.filter(files=None, artifacts=None, created_at__lt=before)


def _drop_blob(digest: str, before: datetime) -> int:
    with transaction.atomic():
        locked = Blob.objects.select_for_update().filter(pk=digest).first()
        if locked is None or not _unreferenced(before).filter(pk=digest).exists():
            return 0
        blobs.delete_blob(digest)
        locked.delete()
    return 1


def _batches(paths: Iterable[str]) -> Iterator[list[str]]:
    ahead = iter(paths)
    while batch := list(islice(ahead, BATCH)):
        yield batch


def _without_row(paths: list[str]) -> list[str]:
    """Those of the paths that are not where the bytes of a known blob lie."""
    known = Blob.objects.filter(pk__in=[_digest_of(path) for path in paths]).values_list("pk", flat=True)
    places = {blobs.path_of(digest) for digest in known}
    return [path for path in paths if path not in places]


def _digest_of(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _drop_stray(path: str) -> int:
    digest = _digest_of(path)
    if path != blobs.path_of(digest):
        blobs.store().delete(path)
        return 1
    with transaction.atomic():
        # A row of our own is the lock: a publication that comes meanwhile waits, and writes again.
        row = Blob(sha256=digest, size=0, created_at=LOCK_TIME)
        Blob.objects.bulk_create([row], ignore_conflicts=True)
        if not Blob.objects.filter(pk=digest, created_at=LOCK_TIME).delete()[0]:
            return 0
        blobs.delete_blob(digest)
    return 1


BATCH = 500
# No blob is this old; it marks the row of a sweep.
LOCK_TIME = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def forget(*, now: datetime) -> int:
    """Remove answers kept for idempotency after a day, and runs of jobs after a year."""
    keys, _ = IdempotencyKey.objects.filter(created_at__lt=now - timedelta(days=1)).delete()
    runs, _ = JobRun.objects.filter(started_at__lt=now - timedelta(days=365)).delete()
    return keys + runs
