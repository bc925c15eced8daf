"""Publishing: a bundle becomes a version, once and for all time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from catalog import access, journal
from catalog.admission import Admission, Declared, Status, admit
from catalog.bundles.bundle import Bundle
from catalog.bundles.files import Limits, Tree, Upload
from catalog.bundles.findings import Finding, error, in_order
from catalog.bundles.reading import read_bundle
from catalog.insertion import Prepared, hold_blobs, insert_version, keep_blobs, prepare
from catalog.journal import Actor
from catalog.models import Skill, SkillSet, SkillTag, Team, Version
from catalog.sets import add_to_set

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
    publications = publish_trees(
        trees=upload.trees,
        team=team,
        declared=declared,
        actor=actor,
        provenance=provenance,
        limits=limits,
        now=now,
        dry_run=dry_run,
    )
    return list(publications)


def publish_trees(
    *, trees: Iterable[Tree], team: Team, actor: Actor, limits: Limits, **told: Any
) -> Iterator[Publication]:
    """`publish_upload` for trees that are read one after another, so that only one is held."""
    access.require(actor, lambda powers: powers.may_publish(team), needs_publisher(team))
    taken: dict[str, str] = {}
    for tree in trees:
        bundle = read_bundle(tree, limits=limits)
        if bundle.folder in taken and not bundle.refused:
            yield _second_of_name(bundle, taken[bundle.folder])
            continue
        if not bundle.refused:
            taken[bundle.folder] = tree.folder
        yield publish(bundle=bundle, team=team, actor=actor, limits=limits, **told)


def publish(
    *,
    bundle: Bundle,
    team: Team,
    declared: Declared,
    actor: Actor,
    provenance: dict[str, Any],
    limits: Limits,
    now: datetime,
    dry_run: bool = False,
) -> Publication:
    """Store a bundle as a version, or say why not; safe when many publish the same at once.

    The bytes are on disk before a row refers to them. Raises NotAllowed.
    """
    access.require(actor, lambda powers: powers.may_publish(team), needs_publisher(team))
    admission = admit(bundle=bundle, team=team, declared=declared, limits=limits)
    if dry_run and admission.status == "published":
        return _publication("checked", bundle, admission)
    if dry_run or admission.status != "published":
        return _publication(admission.status, bundle, admission)
    made = prepare(bundle)
    draft = _Draft(bundle, team, declared, actor, provenance, limits, now, made)
    kept = keep_blobs(made.contents, now=now)
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return _store(draft, kept)
        except _Refused as refused:
            return _publication(refused.admission.status, bundle, refused.admission)
        except IntegrityError:
            # Another one has made the same skill or version since we looked; look again.
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def needs_publisher(team: Team) -> str:
    """What is said to somebody who may not publish for the team."""
    return f"Publishing for {team.name} needs the role publisher in that team."


class _Refused(Exception):
    """Under the locks the verdict is another; what the transaction has written is taken back."""

    def __init__(self, admission: Admission) -> None:
        super().__init__(admission.status)
        self.admission = admission


@dataclass(frozen=True, slots=True)
class _Draft:
    """What `publish` was asked to store, and what it has made of it."""

    bundle: Bundle
    team: Team
    declared: Declared
    actor: Actor
    provenance: dict[str, Any]
    limits: Limits
    now: datetime
    made: Prepared


def _store(draft: _Draft, kept: Mapping[str, datetime]) -> Publication:
    """Write the version; raises _Refused where it may not be any more. Locks: blobs, skill, journal."""
    bundle, team, actor, now = draft.bundle, draft.team, draft.actor, draft.now
    access.require(actor, lambda powers: powers.may_publish(team), needs_publisher(team))
    hold_blobs(draft.made.contents, kept, now=now)
    skill = _lock_skill(draft)
    if bundle.manifest and bundle.manifest.dependencies:
        # Two skills that name each other, published at once, would not see that: one after the other.
        journal.lock_head()
    admission = admit(bundle=bundle, team=team, declared=draft.declared, limits=draft.limits)
    if admission.status != "published":
        raise _Refused(admission)
    version = insert_version(
        skill=skill,
        bundle=bundle,
        admission=admission,
        declared=draft.declared,
        actor=actor,
        provenance=draft.provenance,
        made=draft.made,
        now=now,
    )
    if draft.declared.set_slug:
        chosen = SkillSet.objects.get(slug=draft.declared.set_slug)
        add_to_set(skill_set=chosen, skills=[skill], actor=actor, now=now)
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


def _lock_skill(draft: _Draft) -> Skill:
    """The skill of the bundle's folder, made where there is none."""
    skill, _ = Skill.objects.select_for_update(no_key=True).get_or_create(
        folder=draft.bundle.folder,
        defaults={
            "name": draft.bundle.name,
            "team": draft.team,
            "owner": draft.actor.user,
            "created_at": draft.now,
            "updated_at": draft.now,
        },
    )
    return skill


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
