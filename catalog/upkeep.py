"""Keeping the store and the record in order: `verify` looks, `sweep` removes what is left over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet

from catalog import blobs, journal
from catalog.bundles.digest import bundle_digest
from catalog.bundles.files import File
from catalog.models import Blob, IdempotencyKey, JobRun, Version

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
    for blob in Blob.objects.order_by("pk").iterator():
        if not blobs.is_intact(blob.sha256):
            yield f"Blob {blob.sha256} is missing from the store, or its bytes have changed."
    yield from _find_version_faults()
    chain = journal.check_chain(anchor=anchor)
    if not chain.intact:
        yield f"The audit log does not fit together at entry {chain.broken_at}."


def _find_version_faults() -> Iterator[str]:
    for version in Version.objects.select_related("skill").prefetch_related("files").iterator(chunk_size=100):
        try:
            files = [File(row.path, blobs.read_blob(row.blob_id)) for row in version.files.all()]
        except OSError:
            yield f"{version} lacks a file."
            continue
        if bundle_digest(files) != version.bundle_sha256:
            yield f"{version} no longer has the digest that it was published with."
    counted = Version.objects.annotate(n=Count("files")).exclude(n=F("file_count"))
    for version in counted.select_related("skill"):
        yield f"{version} lacks rows of its files."


def sweep(*, now: datetime, grace: timedelta = GRACE) -> Swept:
    """Remove blobs that nothing refers to, and files that belong to no blob, once older than `grace`.

    Each is looked at again under the lock of its row, which a publication of the same bytes holds
    until it commits.
    """
    rows = 0
    for digest in _unreferenced().filter(created_at__lt=now - grace).values_list("pk", flat=True):
        rows += _drop_blob(digest)
    files = 0
    for path, written_at in blobs.list_files():
        if written_at < now - grace:
            files += _drop_stray(path)
    return Swept(rows=rows, files=files)


def _unreferenced() -> QuerySet[Blob]:
    return Blob.objects.filter(Q(files=None) & Q(artifacts=None))


def _drop_blob(digest: str) -> int:
    with transaction.atomic():
        locked = Blob.objects.select_for_update().filter(pk=digest).first()
        if locked is None or not _unreferenced().filter(pk=digest).exists():
            return 0
        blobs.delete_blob(digest)
        locked.delete()
    return 1


def _drop_stray(path: str) -> int:
    digest = path.rsplit("/", 1)[-1]
    if path != blobs.path_of(digest):
        blobs.store().delete(path)
        return 1
    with transaction.atomic():
        # A row of our own is the lock: a publication that comes meanwhile waits, and writes again.
        if Blob.objects.bulk_create(
            [Blob(sha256=digest, size=0, created_at=LOCK_TIME)], ignore_conflicts=True
        ):
            claimed = Blob.objects.filter(pk=digest, created_at=LOCK_TIME).delete()[0]
            if claimed:
                blobs.delete_blob(digest)
                return 1
    return 0


# No blob is this old; it marks the row of a sweep.
LOCK_TIME = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def forget(*, now: datetime) -> int:
    """Remove answers kept for idempotency after a day, and runs of jobs after a year."""
    keys, _ = IdempotencyKey.objects.filter(created_at__lt=now - timedelta(days=1)).delete()
    runs, _ = JobRun.objects.filter(started_at__lt=now - timedelta(days=365)).delete()
    return keys + runs
