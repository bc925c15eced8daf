"""Publishing: a bundle becomes a version, once and for all time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction

from catalog import access, blobs, journal, semver
from catalog.admission import Admission, Declared, Status, admit
from catalog.bundles.artifacts import flat_zip
from catalog.bundles.bundle import Bundle
from catalog.bundles.files import Limits, Upload
from catalog.bundles.findings import Finding, error, in_order
from catalog.bundles.language import language_of
from catalog.bundles.paths import folded
from catalog.bundles.reading import read_bundle
from catalog.bundles.runtimes import judge
from catalog.cards import card_of, files_to_ship, is_resource, is_script
from catalog.journal import Actor
from catalog.models import (
    Blob,
    BundleFile,
    Dependency,
    Skill,
    SkillSet,
    SkillTag,
    Team,
    Version,
    VersionFinding,
)

# Raised whenever a rule changes what it finds; a rescan brings older findings up to date.
RULE_VERSION = 1
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Publication:
    """What became of one bundle of an upload."""

    status: Status
    name: str
    version: str
    bundle_sha256: str
    risk_level: str
    findings: tuple[Finding, ...]
    bundle: Bundle
    row: Version | None = field(default=None, repr=False)


def publish_upload(
    *,
    upload: Upload,
    team: Team,
    declared: Declared,
    actor: Actor,
    provenance: dict[str, Any],
    limits: Limits,
    now: datetime,
    dry_run: bool = False,
) -> list[Publication]:
    """Publish each bundle of an upload by itself; the first of two with one name wins (spec 1.6).

    Raises NotAllowed where the actor may not publish for the team. An upload that was refused
    as a whole gives an empty list; its reasons are in `upload.findings`.
    """
    if actor.user is not None and not access.powers_of(actor.user).may_publish(team):
        raise access.NotAllowed(f"Publishing for {team.name} needs the role publisher in that team.")
    publications: list[Publication] = []
    taken: dict[str, str] = {}
    for tree in upload.trees:
        bundle = read_bundle(tree, limits=limits)
        if bundle.folder in taken and not bundle.refused:
            publications.append(_second_of_name(bundle, taken[bundle.folder]))
            continue
        if not bundle.refused:
            taken[bundle.folder] = tree.folder
        publications.append(
            publish(
                bundle=bundle,
                team=team,
                declared=declared,
                actor=actor,
                provenance=provenance,
                now=now,
                dry_run=dry_run,
            )
        )
    return publications


def publish(
    *,
    bundle: Bundle,
    team: Team,
    declared: Declared,
    actor: Actor,
    provenance: dict[str, Any],
    now: datetime,
    dry_run: bool = False,
) -> Publication:
    """Store a bundle as a version, or say why not; safe when many publish the same at once.

    The bytes are on disk before a row refers to them. The right to publish is the caller's to
    check (`publish_upload` does).
    """
    admission = admit(bundle=bundle, team=team, declared=declared)
    if dry_run and admission.status == "published":
        return _publication("checked", bundle, admission)
    if dry_run or admission.status != "published":
        return _publication(admission.status, bundle, admission)
    made = _prepare(bundle)
    for digest, content in made.contents.items():
        blobs.write_blob(content, digest)
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return _store(
                    bundle=bundle,
                    team=team,
                    declared=declared,
                    actor=actor,
                    provenance=provenance,
                    now=now,
                    made=made,
                )
        except _Refused as refused:
            return _publication(refused.admission.status, bundle, refused.admission)
        except IntegrityError:
            # Another one has made the same skill or version since we looked; look again.
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


class _Refused(Exception):
    """Under the locks the verdict is another; what the transaction has written is taken back."""

    def __init__(self, admission: Admission) -> None:
        super().__init__(admission.status)
        self.admission = admission


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What is worked out of a bundle before the transaction, which is to be short."""

    contents: dict[str, bytes]
    artifact: str
    card: dict[str, Any]
    runtimes: dict[str, Any]
    language: str


def _prepare(bundle: Bundle) -> _Prepared:
    shipped = flat_zip(files_to_ship(bundle))
    artifact = sha256(shipped).hexdigest()
    return _Prepared(
        contents={**{file.sha256: file.content for file in bundle.tree.files}, artifact: shipped},
        artifact=artifact,
        card=card_of(bundle),
        runtimes=runtimes_of(bundle),
        language=language_of(bundle.description),
    )


def _store(
    *,
    bundle: Bundle,
    team: Team,
    declared: Declared,
    actor: Actor,
    provenance: dict[str, Any],
    now: datetime,
    made: _Prepared,
) -> Publication:
    """Write the version; raises _Refused where it may not be any more. Locks: blobs, skill, journal."""
    _hold_blobs(made.contents, now=now)
    skill, _ = Skill.objects.select_for_update(no_key=True).get_or_create(
        folder=bundle.folder,
        defaults={
            "name": bundle.name,
            "team": team,
            "owner": actor.user,
            "created_at": now,
            "updated_at": now,
        },
    )
    if bundle.manifest and bundle.manifest.dependencies:
        # Two skills that name each other, published at once, would not see that: one after the other.
        journal.lock_head()
    admission = admit(bundle=bundle, team=team, declared=declared)
    if admission.status != "published":
        raise _Refused(admission)
    version = _insert_version(skill, bundle, admission, declared, actor, provenance, made, now)
    _insert_parts(version, bundle, admission)
    if declared.set_slug:
        skill.sets.add(SkillSet.objects.get(slug=declared.set_slug))
    refresh_latest(skill, now=now)
    journal.append(
        actor=actor,
        verb="version.publish",
        target=f"{skill.name} {version.version}",
        after={
            "bundle_sha256": version.bundle_sha256,
            "declaration": version.declaration,
            "team": team.slug,
        },
        now=now,
    )
    return _publication("published", bundle, admission, version)


def _hold_blobs(contents: dict[str, bytes], *, now: datetime) -> None:
    """Lock the rows of the blobs until the commit, so that no sweep removes one in between."""
    digests = sorted(contents)
    held: set[str] = set()
    # A sweep that held a row when it was looked for may have removed it: then it is made again.
    while len(held) < len(digests):
        Blob.objects.bulk_create(
            [Blob(sha256=one, size=len(contents[one]), created_at=now) for one in digests if one not in held],
            ignore_conflicts=True,
        )
        rows = Blob.objects.select_for_update(no_key=True).filter(pk__in=digests).order_by("pk")
        held = set(rows.values_list("pk", flat=True))
    for digest in digests:
        blobs.write_blob(contents[digest], digest)


def _insert_version(
    skill: Skill,
    bundle: Bundle,
    admission: Admission,
    declared: Declared,
    actor: Actor,
    provenance: dict[str, Any],
    made: _Prepared,
    now: datetime,
) -> Version:
    files = bundle.tree.files
    inline = provenance.get("form") == "json"
    return Version.objects.create(
        skill=skill,
        version=admission.version,
        version_text=bundle.version_text,
        precedence=semver.precedence_key(admission.version),
        prerelease=semver.parse(admission.version).prerelease is not None,
        description=bundle.description,
        language=made.language,
        fields=made.card,
        risk_level=admission.risk_level,
        suggested_risk=bundle.suggested_risk,
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


def refresh_latest(skill: Skill, *, now: datetime) -> None:
    """Point the skill at its latest version and give it that version's tags (`manifest.md`, Versions)."""
    offered = skill.versions.filter(yanked_at=None, revoked_at=None)
    skill.latest = (
        offered.filter(prerelease=False).order_by("-precedence").first()
        or offered.order_by("-precedence").first()
    )
    skill.updated_at = now
    skill.save(update_fields=["latest", "updated_at"])
    tags = skill.latest.tags if skill.latest else []
    SkillTag.objects.filter(skill=skill).exclude(tag__in=tags).delete()
    SkillTag.objects.bulk_create([SkillTag(skill=skill, tag=tag) for tag in tags], ignore_conflicts=True)


def runtimes_of(bundle: Bundle) -> dict[str, Any]:
    """How each agent runtime reads the bundle (spec 1.8), as it is stored and answered."""
    return {
        name: {"verdict": verdict.verdict, "notes": list(verdict.notes)}
        for name, verdict in judge(bundle).items()
    }


def _second_of_name(bundle: Bundle, first: str) -> Publication:
    finding = error(
        "name-collision",
        f"The folder {first} of this upload already holds a skill named {bundle.name}; the first one counts.",
        "Remove one of the two folders, or rename its skill.",
    )
    return Publication(
        status="rejected",
        name=bundle.name,
        version=bundle.version or "",
        bundle_sha256=bundle.bundle_sha256,
        risk_level=bundle.suggested_risk,
        findings=in_order([*bundle.findings, finding]),
        bundle=bundle,
    )


def _publication(
    status: Status, bundle: Bundle, admission: Admission, row: Version | None = None
) -> Publication:
    return Publication(
        status=status,
        name=bundle.name,
        version=admission.version,
        bundle_sha256=bundle.bundle_sha256,
        risk_level=admission.risk_level,
        findings=admission.findings,
        bundle=bundle,
        row=row or admission.existing,
    )
