"""The rows of a version, and hold of its bytes until they are committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from catalog import blobs, semver
from catalog.admission import Admission, Declared
from catalog.bundles.artifacts import flat_zip
from catalog.bundles.bundle import Bundle
from catalog.bundles.findings import Finding
from catalog.bundles.language import language_of
from catalog.bundles.paths import folded
from catalog.bundles.runtimes import judge
from catalog.cards import card_of, files_to_ship, is_resource, is_script
from catalog.journal import Actor
from catalog.models import Blob, BundleFile, Dependency, Skill, Version, VersionFinding

# Raised whenever a rule changes what it finds; a rescan brings older findings up to date.
RULE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is worked out of a bundle before the transaction, which is to be short."""

    contents: Mapping[str, bytes]
    artifact: str
    card: dict[str, Any]
    runtimes: dict[str, Any]
    language: str


def prepare(bundle: Bundle) -> Prepared:
    """The bytes to keep by their digests, the artifact among them, and what the version says of itself."""
    shipped = flat_zip(files_to_ship(bundle))
    artifact = sha256(shipped).hexdigest()
    return Prepared(
        contents={**{file.sha256: file.content for file in bundle.tree.files}, artifact: shipped},
        artifact=artifact,
        card=card_of(bundle),
        runtimes=runtimes_of(bundle),
        language=language_of(bundle.description),
    )


def runtimes_of(bundle: Bundle) -> dict[str, Any]:
    """How each agent runtime reads the bundle (spec 1.8), as it is stored and answered."""
    return {
        name: {"verdict": verdict.verdict, "notes": list(verdict.notes)}
        for name, verdict in judge(bundle).items()
    }


def keep_blobs(contents: Mapping[str, bytes], *, now: datetime) -> dict[str, datetime]:
    """Put bytes and their rows into the store, before the transaction that will refer to them.

    Answers when each row was made, by which `hold_blobs` tells whether it still is that one.
    """
    _make_rows(contents, now)
    kept = dict(Blob.objects.filter(pk__in=list(contents)).values_list("pk", "created_at"))
    for digest, content in contents.items():
        blobs.write_blob(content, digest)
    return kept


def hold_blobs(contents: Mapping[str, bytes], kept: Mapping[str, datetime], *, now: datetime) -> None:
    """Lock the rows until the commit, so that no sweep removes one, and write again what one took.

    Bytes go only with their row: where that is still the one of `keep_blobs`, they are there.
    """
    held: dict[str, datetime] = {}
    # A row that is made here is never taken for the one of `keep_blobs`.
    later = now + timedelta(microseconds=1)
    # A sweep that held a row when it was looked for may have removed it: then it is made again.
    while len(held) < len(contents):
        _make_rows(contents, later)
        rows = Blob.objects.select_for_update(no_key=True).filter(pk__in=list(contents)).order_by("pk")
        held = dict(rows.values_list("pk", "created_at"))
    for digest, made_at in held.items():
        if kept.get(digest) != made_at:
            blobs.write_blob(contents[digest], digest)


def _make_rows(contents: Mapping[str, bytes], now: datetime) -> None:
    """Sorted, so that two who make the same rows wait for each other in one order."""
    rows = [Blob(sha256=one, size=len(contents[one]), created_at=now) for one in sorted(contents)]
    Blob.objects.bulk_create(rows, ignore_conflicts=True)


def insert_version(
    *,
    skill: Skill,
    bundle: Bundle,
    admission: Admission,
    declared: Declared,
    actor: Actor,
    provenance: dict[str, Any],
    made: Prepared,
    now: datetime,
) -> Version:
    """Write the version with its files, dependencies and findings."""
    files = bundle.tree.files
    inline = provenance.get("form") == "json"
    version = Version.objects.create(
        skill=skill,
        version=admission.version,
        version_text=bundle.version_text,
        precedence=semver.precedence_key(admission.version),
        prerelease=semver.parse(admission.version).prerelease is not None,
        description=bundle.description,
        language=made.language,
        fields=made.card,
        declared_risk=admission.declared_risk or "",
        risk_level=admission.risk_level,
        suggested_risk=admission.suggested_risk,
        permissions=list(admission.permissions),
        tags=list(admission.tags),
        stability=admission.stability,
        declaration_sha256=admission.declaration_sha256,
        runtimes=made.runtimes,
        bundle_sha256=bundle.bundle_sha256,
        artifact_id=made.artifact,
        size=sum(file.size for file in files),
        file_count=len(files),
        has_resources=any(is_resource(file.path, inline=inline) for file in files),
        has_scripts=any(is_script(file.path) for file in files),
        notes=declared.notes,
        provenance=provenance,
        publisher=actor.user,
        published_at=now,
    )
    _insert_parts(version, bundle, admission)
    return version


def _insert_parts(version: Version, bundle: Bundle, admission: Admission) -> None:
    BundleFile.objects.bulk_create(
        BundleFile(
            version=version,
            path=file.path,
            folded_path=folded(file.path),
            blob_id=file.sha256,
            executable=file.executable,
        )
        for file in bundle.tree.files
    )
    wanted = bundle.manifest.dependencies if bundle.manifest else {}
    Dependency.objects.bulk_create(
        Dependency(version=version, folder=folder, minimum=minimum) for folder, minimum in wanted.items()
    )
    VersionFinding.objects.bulk_create(finding_rows(version, admission.findings))


def finding_rows(version: Version, findings: Sequence[Finding]) -> list[VersionFinding]:
    """The findings of a validation as rows of the version."""
    return [
        VersionFinding(
            version=version,
            code=finding.code,
            severity=finding.severity,
            path=finding.path,
            line=finding.line,
            message=finding.message,
            hint=finding.hint,
            fingerprint=fingerprint(finding),
            rule_version=RULE_VERSION,
        )
        for finding in findings
    ]


def fingerprint(finding: Finding) -> str:
    """What makes a finding the same one when its bundle is scanned again."""
    told = "\0".join((finding.code, finding.path, str(finding.line), finding.message))
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
