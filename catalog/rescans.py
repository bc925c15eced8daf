"""Scanning again: a version is read from the store and judged by the rules of today (spec 1.9).

Its findings, its runtimes and its suggested risk become those of today; its bytes and what was
declared beside them never change. Appeals stay with findings that are found again. What was found
about the upload or the record, which is not in the store, is kept as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from catalog import access, blobs, journal
from catalog.access import Powers
from catalog.bundles.bundle import is_riskier
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.findings import Finding
from catalog.bundles.reading import read_bundle
from catalog.bundles.safety import UNDERSTATED
from catalog.insertion import RULE_VERSION, finding_rows, runtimes_of
from catalog.journal import Actor
from catalog.models import Scan, Skill, Version, VersionFinding
from catalog.risks import lock_version, settle_risk

BATCH = 50
MOST_NAMED = 100
# Found in what is gone by now (the archive, the form of the upload), or by looking at the record.
KEPT = frozenset(
    {
        "dependency-missing",
        "filename-encoding-guessed",
        "files-outside-skills",
        "json-metadata-ignored",
        "junk-files-ignored",
        "name-confusable",
        "nested-skill-md",
        "path-backslash-separator",
        "path-normalised",
        "path-not-nfc",
        "permission-gained",
        "skill-md-lowercase",
        "vendored-dependencies",
        "version-from-bundle",
    }
)


@dataclass(frozen=True, slots=True)
class Rescan:
    """What a scan changed: how many findings came and went, and the suggested risk before and after."""

    version: Version
    gained: int
    lost: int
    risk_before: str
    risk_after: str

    @property
    def changed(self) -> bool:
        """Whether anything is another than before."""
        return bool(self.gained or self.lost or self.risk_before != self.risk_after)

    @property
    def riskier(self) -> bool:
        """Whether the suggested risk is higher than it was."""
        return is_riskier(self.risk_after, self.risk_before)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What the rules of today say of the bytes."""

    findings: tuple[Finding, ...]
    runtimes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """What a run over the catalog did; `lost` are versions whose bytes are not all there."""

    scanned: int
    changed: int
    riskier: tuple[str, ...]
    lost: tuple[str, ...]
    finished: bool


def may_rescan(powers: Powers, skill: Skill) -> bool:
    """Scan a version again: a publisher of the owning team, and administrators."""
    return powers.is_admin or powers.may_publish(skill.team)


def rescan(*, version: Version, limits: Limits, actor: Actor, now: datetime) -> Rescan:
    """Scan one version. Raises NotAllowed, and FileNotFoundError where bytes are lost."""
    _ask(actor, version)
    judged = _judge(version, limits)
    with transaction.atomic():
        done = _write(version, judged, now)
        # The skill may have been given away while its bytes were read.
        _ask(actor, done.version)
        journal.append(
            actor=actor,
            verb="version.rescan",
            target=f"{version.skill.name} {version.version}",
            before={"suggested_risk": done.risk_before},
            after={
                "suggested_risk": done.risk_after,
                "gained": done.gained,
                "lost": done.lost,
                "rules": RULE_VERSION,
            },
            now=now,
        )
    return done


def rescan_catalog(
    *,
    limits: Limits,
    actor: Actor,
    clock: Callable[[], datetime],
    until: datetime | None = None,
    all_of: bool = False,
) -> Run:
    """Scan what older rules have judged (`all_of`: everything), one version a transaction.

    A run that ends on the way, or at `until`, is taken up by the next: what is done is not done
    again. One entry of the journal tells of the run, unless it had nothing to do.
    """
    access.require(actor, lambda powers: powers.is_admin, "Scanning the whole catalog is for administrators.")
    started = clock()
    done, lost = [], []
    for version in _each(all_of=all_of):
        if until is not None and clock() >= until:
            break
        try:
            judged = _judge(version, limits)
            with transaction.atomic():
                done.append(_told(_write(version, judged, clock())))
        except FileNotFoundError:
            lost.append(str(version))
    else:
        until = None
    riskier = tuple(name for name, _, rises in done if rises)
    changed = sum(one for _, one, _ in done)
    run = Run(len(done), changed, riskier[:MOST_NAMED], tuple(lost[:MOST_NAMED]), finished=until is None)
    if done or lost:
        _tell(run, actor, started, clock())
    return run


def _tell(run: Run, actor: Actor, started: datetime, now: datetime) -> None:
    with transaction.atomic():
        journal.append(
            actor=actor,
            verb="catalog.rescan",
            target=f"rules {RULE_VERSION}",
            after={
                "scanned": run.scanned,
                "changed": run.changed,
                "riskier": list(run.riskier),
                "bytes_lost": list(run.lost),
                "finished": run.finished,
                "began": started.isoformat(),
            },
            now=now,
        )


def stale_versions() -> QuerySet[Version]:
    """The versions that were judged by older rules alone; those of deleted skills are left."""
    fresh = VersionFinding.objects.filter(rule_version__gte=RULE_VERSION).values("version_id")
    scanned = Scan.objects.filter(rule_version__gte=RULE_VERSION).values("version_id")
    known = Version.objects.filter(skill__deleted_at=None)
    return known.exclude(pk__in=fresh).exclude(pk__in=scanned)


def tree_of(version: Version) -> Tree:
    """The bundle of a version, read from the store; raises FileNotFoundError where bytes are lost."""
    rows = version.files.values_list("path", "blob_id")
    files = [File(path, blobs.read_blob(digest)) for path, digest in rows]
    return Tree(version.skill.folder, tuple(sorted(files, key=lambda file: file.path.encode())))


def _ask(actor: Actor, version: Version) -> None:
    refusal = f"Scanning again needs the role publisher in {version.skill.team.name}, or an administrator."
    access.require(actor, lambda powers: may_rescan(powers, version.skill), refusal)


def _told(done: Rescan) -> tuple[str, bool, bool]:
    return str(done.version), done.changed, done.riskier


def _each(*, all_of: bool) -> Iterator[Version]:
    """The versions in the order of their ids, a few at a time."""
    last = None
    while True:
        found = Version.objects.filter(skill__deleted_at=None) if all_of else stale_versions()
        if last is not None:
            found = found.filter(pk__gt=last)
        batch = list(found.select_related("skill__team").order_by("pk")[:BATCH])
        yield from batch
        if len(batch) < BATCH:
            return
        last = batch[-1].pk


def _judge(version: Version, limits: Limits) -> _Judged:
    """Read the bytes and judge them, before any lock is taken."""
    bundle = read_bundle(tree_of(version), limits=limits)
    return _Judged(bundle.findings, runtimes_of(bundle))


def _write(version: Version, judged: _Judged, now: datetime) -> Rescan:
    """Write what is another; inside a transaction."""
    fresh = lock_version(version)
    found = [finding for finding in judged.findings if finding.code != UNDERSTATED]
    rows = {row.fingerprint: row for row in finding_rows(fresh, found)}
    old = dict(fresh.findings.values_list("fingerprint", "code"))
    gone = [key for key, code in old.items() if key not in rows and code not in {*KEPT, UNDERSTATED}]
    fresh.findings.filter(fingerprint__in=gone).delete()
    VersionFinding.objects.bulk_create(row for key, row in rows.items() if key not in old)
    fresh.findings.exclude(rule_version=RULE_VERSION).update(rule_version=RULE_VERSION)
    if fresh.runtimes != judged.runtimes:
        fresh.runtimes = judged.runtimes
        fresh.save(update_fields=["runtimes"])
    Scan.objects.update_or_create(version=fresh, defaults={"rule_version": RULE_VERSION, "at": now})
    # What is said of the declared risk follows from the suggested one, appeals heard.
    before, after = settle_risk(fresh, now=now)
    new = set(fresh.findings.values_list("fingerprint", flat=True))
    return Rescan(fresh, len(new - old.keys()), len(old.keys() - new), before, after)
