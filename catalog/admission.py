"""Rules of a publication that need the record: names, versions, dependencies, declaration.

Everything here reads and judges; `catalog.publishing` writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from django.db.models import Q

from catalog import semver
from catalog.bundles.bundle import Bundle, Risk, Stability
from catalog.bundles.characters import shown
from catalog.bundles.findings import Finding, advice, error, has_errors, in_order, warning
from catalog.bundles.names import read_version
from catalog.models import Dependency, Skill, Team, Version

Status = Literal["published", "unchanged", "conflict", "rejected", "checked"]


@dataclass(frozen=True, slots=True)
class Declared:
    """What the publisher says beside the bytes; None where nothing was said."""

    version: str | None = None
    risk_level: Risk | None = None
    permissions: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    stability: Stability | None = None
    notes: str = ""
    set_slug: str | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """The verdict: what would be stored, and whether it may be.

    `status` is `published` for a version that may be made, else why it is not. `existing` is the
    version that has the same number, where there is one.
    """

    status: Status
    version: str
    risk_level: str
    permissions: tuple[str, ...]
    tags: tuple[str, ...]
    stability: str
    findings: tuple[Finding, ...]
    existing: Version | None = None

    @property
    def declaration_sha256(self) -> str:
        """The hash over what is declared beside the bytes (spec 3.2)."""
        return declaration_digest(
            {
                "risk_level": self.risk_level,
                "permissions": list(self.permissions),
                "tags": list(self.tags),
                "stability": self.stability,
            }
        )


def declaration_digest(declaration: Mapping[str, Any]) -> str:
    """The hash of a declaration as `Version.declaration` tells it."""
    return sha256(json.dumps(declaration, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def admit(*, bundle: Bundle, team: Team, declared: Declared) -> Admission:
    """Judge a bundle that was read against the record; all problems at once."""
    skill = Skill.objects.filter(folder=bundle.folder).first() if bundle.folder else None
    # Nothing about the versions of another team's skill shows in the answer.
    own = skill if skill and skill.team_id == team.pk else None
    version, found = _choose_version(bundle, declared, own)
    findings = [*bundle.findings, *found]
    if bundle.folder:
        findings += [*_judge_name(bundle, team, skill), *_judge_dependencies(bundle, team)]
    admission = _declare(bundle, declared, version, findings)
    if has_errors(admission.findings):
        return admission
    existing = Version.objects.filter(skill=skill, version=version).first() if skill else None
    return _compare(admission, bundle, existing) if existing else admission


def _declare(bundle: Bundle, declared: Declared, version: str, findings: Sequence[Finding]) -> Admission:
    """Join what the manifest says, what the publisher says, and the defaults; the manifest wins."""
    manifest = bundle.manifest
    risk = (manifest and manifest.risk_level) or declared.risk_level or bundle.suggested_risk
    permissions = manifest.permissions if manifest else None
    if permissions is None:
        permissions = declared.permissions or ()
    stability = (manifest and manifest.stability) or declared.stability
    tags = (manifest.tags if manifest else ()) or declared.tags or ()
    ranks = ("low", "medium", "high")
    extra = []
    if not manifest and ranks.index(risk) < ranks.index(bundle.suggested_risk):
        extra.append(
            warning(
                "risk-level-understated",
                f"The bundle is declared as {risk} risk; the scan suggests {bundle.suggested_risk}.",
                f"It is treated as {bundle.suggested_risk} risk until the findings behind it are gone.",
            )
        )
    ordered = in_order([*findings, *extra])
    return Admission(
        status="rejected" if has_errors(ordered) else "published",
        version=version,
        risk_level=risk,
        permissions=tuple(sorted(set(permissions))),
        tags=tuple(dict.fromkeys(tags)),
        stability=stability or _stability_of(version),
        findings=ordered,
    )


def _stability_of(version: str) -> Stability:
    """Stable from 1.0.0 on, experimental before and for pre-releases (`manifest.md`)."""
    parsed = semver.parse(version) if version else None
    return "stable" if parsed and parsed.major >= 1 and not parsed.prerelease else "experimental"


def _compare(admission: Admission, bundle: Bundle, existing: Version) -> Admission:
    """The same number again: the same bytes and declaration change nothing, others are refused."""
    version = admission.version
    same_bytes = existing.bundle_sha256 == bundle.bundle_sha256
    if same_bytes and existing.declaration_sha256 == admission.declaration_sha256:
        finding = advice(
            "version-exists-identical",
            f"Version {version} is there already with the same bytes and declaration; nothing changes.",
        )
        return _with(admission, "unchanged", finding, existing)
    what = "another declaration" if same_bytes else f"other bytes (sha256 {existing.bundle_sha256[:12]}…)"
    finding = error(
        "version-exists",
        f"Version {version} of {bundle.name} exists with {what}, and a version never changes.",
        "Give the bundle a new version number.",
    )
    return _with(admission, "conflict", finding, existing)


def _with(admission: Admission, status: Status, finding: Finding, existing: Version) -> Admission:
    return Admission(
        status=status,
        version=admission.version,
        risk_level=admission.risk_level,
        permissions=admission.permissions,
        tags=admission.tags,
        stability=admission.stability,
        findings=in_order([*admission.findings, finding]),
        existing=existing,
    )


def _choose_version(
    bundle: Bundle, declared: Declared, skill: Skill | None
) -> tuple[str, tuple[Finding, ...]]:
    """The bundle's own version, else the one sent, else that of the same bytes, else the next."""
    sent, found = read_version(declared.version) if declared.version else (None, ())
    if bundle.version:
        if sent == bundle.version or not declared.version:
            return bundle.version, ()
        return bundle.version, (
            advice(
                "version-from-bundle",
                f"The bundle names version {bundle.version}; the version sent, {declared.version}, is not used.",
                "Change the version in the bundle, or send none.",
            ),
        )
    if declared.version:
        return (sent, found) if sent else ("", (_not_a_version(declared.version),))
    ordered = Version.objects.filter(skill=skill).order_by("-precedence") if skill else Version.objects.none()
    versions = list(ordered.values_list("version", "bundle_sha256"))
    same = next((version for version, digest in versions if digest == bundle.bundle_sha256), None)
    return same or (semver.bump(versions[0][0], "minor") if versions else "1.0.0"), ()


def _not_a_version(text: str) -> Finding:
    return error(
        "version-invalid",
        f"The version sent, {shown(text)}, is no semantic version.",
        "Send three numbers such as 1.2.0, or none.",
    )


def _judge_name(bundle: Bundle, team: Team, skill: Skill | None) -> list[Finding]:
    """A folder name belongs to one skill of one team for ever (spec 3.1, `manifest.md`).

    Of a skill that the publisher may not see only this is told: that the name is not free.
    """
    if skill is None:
        return []
    hint = "Choose another name."
    if skill.team_id != team.pk and (skill.deleted_at or skill.visibility == Skill.Visibility.TEAM):
        text = f"The name {bundle.name} is not free."
    elif skill.deleted_at is not None:
        text = f"The name {skill.name} belonged to a skill that was deleted, and is not given again."
    elif skill.name != bundle.name:
        text = (
            f"{bundle.name} and the existing {skill.name} are one folder name ({skill.folder}) to an agent."
        )
    elif skill.team_id != team.pk:
        text = f"The name {skill.name} is taken by another team."
    else:
        return []
    return [error("name-collision", text, hint)]


def _judge_dependencies(bundle: Bundle, team: Team) -> list[Finding]:
    """What the bundle depends on must not lead back to it; what is missing is warned of.

    What another team keeps to itself is as good as missing, and its name is not told.
    """
    wanted = dict(bundle.manifest.dependencies) if bundle.manifest else {}
    if not wanted:
        return []
    known = _known(wanted, team)
    findings = [
        warning(
            "dependency-missing",
            f"The skill {folder}, on which this one depends, is not in the catalog.",
            "The version is unavailable in every environment where that skill is missing.",
            path="manifest.yaml",
        )
        for folder in sorted(set(wanted) - known)
    ]
    way = _way_back(bundle.folder, wanted)
    if way:
        told = way if set(way[1:-1]) <= _known(way, team) else [way[0], "…", way[-1]]
        findings.append(
            error(
                "dependency-cycle",
                f"The dependencies lead back to this skill: {' > '.join(told)}.",
                "Remove one of these dependencies.",
                path="manifest.yaml",
            )
        )
    return findings


def _known(folders: Iterable[str], team: Team) -> set[str]:
    """Those of the folder names that are skills which the whole organisation, or the team, may see."""
    seen = Q(visibility=Skill.Visibility.ORGANISATION) | Q(team=team)
    found = Skill.objects.filter(seen, folder__in=list(folders), deleted_at=None)
    return set(found.values_list("folder", flat=True))


def _way_back(folder: str, wanted: dict[str, str]) -> list[str]:
    """The names from `folder` over its dependencies back to it, or nothing.

    One query for each step of the longest chain; a name is followed once.
    """
    ways = {name: [folder, name] for name in wanted}
    step = list(wanted)
    while step:
        if folder in ways:
            return ways[folder]
        rows = Dependency.objects.filter(
            version__skill__folder__in=step, version__skill__deleted_at=None
        ).values_list("version__skill__folder", "folder")
        found = [(source, target) for source, target in rows.distinct() if target not in ways]
        for source, target in found:
            ways.setdefault(target, [*ways[source], target])
        step = [target for _, target in found]
    return []
