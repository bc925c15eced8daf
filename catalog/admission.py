"""Rules of a publication that need the record: names, versions, dependencies, declaration.

Everything here reads and judges; `catalog.publishing` writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

from catalog import semver
from catalog.bundles.bundle import RISKS, Bundle, Manifest, Risk, Stability
from catalog.bundles.files import Limits
from catalog.bundles.findings import Finding, advice, error, has_errors, in_order
from catalog.bundles.safety import UNDERSTATED, suggested_risk, understated
from catalog.dependencies import judge_dependencies
from catalog.models import Skill, Team, Version
from catalog.names import judge_name
from catalog.numbers import choose_version, judge_honesty, promised_in

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

    `status` is `published` for a version that may be made, else why it is not. `declared_risk` is
    the risk level that bundle or publisher names, and `risk_level` what it comes to: where none is
    named the one that permissions and scan suggest. `existing` is the version that has the same
    number, where there is one.
    """

    status: Status
    version: str
    declared_risk: Risk | None
    risk_level: Risk
    suggested_risk: Risk
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
                "risk_level": self.declared_risk,
                "permissions": list(self.permissions),
                "tags": list(self.tags),
                "stability": self.stability,
            }
        )


def declaration_digest(declaration: Mapping[str, Any]) -> str:
    """The hash of a declaration as `Version.declaration` tells it.

    A risk level that nobody named is no part of it: what the scan suggests may change with its
    rules, and the same bytes and words are still the same version.
    """
    return sha256(json.dumps(declaration, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def admit(*, bundle: Bundle, team: Team, declared: Declared, limits: Limits) -> Admission:
    """Judge a bundle that was read against the record; all problems at once."""
    skill = Skill.objects.filter(folder=bundle.folder).first() if bundle.folder else None
    # Nothing about the versions of another team's skill shows in the answer.
    own = skill if skill and skill.team_id == team.pk else None
    permissions = _permissions(bundle, declared)
    promised = promised_in(bundle, permissions)
    version, found = choose_version(bundle, declared.version, own, promised, limits)
    existing = own.versions.filter(version=version).first() if own else None
    findings = [*bundle.findings, *found]
    if bundle.folder:
        findings += [*judge_name(bundle, team, skill), *judge_dependencies(bundle, team)]
    if version and existing is None and not bundle.refused:
        findings += judge_honesty(version, own, promised)
    admission = _declare(bundle, declared, version, permissions, findings)
    if has_errors(admission.findings):
        return admission
    return _compare(admission, bundle, existing) if existing else admission


def _permissions(bundle: Bundle, declared: Declared) -> tuple[str, ...]:
    """Those that the manifest names, else those that the publisher names."""
    named = bundle.manifest.permissions if bundle.manifest else None
    return tuple(sorted(set((declared.permissions or ()) if named is None else named)))


def _declare(
    bundle: Bundle,
    declared: Declared,
    version: str,
    permissions: tuple[str, ...],
    findings: Sequence[Finding],
) -> Admission:
    """Join what the manifest says, what the publisher says, and the defaults; the manifest wins."""
    manifest = bundle.manifest or Manifest()
    named = manifest.risk_level or declared.risk_level
    # The bundle's own suggestion counts findings that are not told twice.
    suggested = max(bundle.suggested_risk, suggested_risk(permissions, ()), key=RISKS.index)
    # The bundle's reader may have told it already, with its line.
    told = any(one.code == UNDERSTATED for one in findings)
    ordered = in_order([*findings, *(() if told else understated(named, suggested))])
    return Admission(
        status="rejected" if has_errors(ordered) else "published",
        version=version,
        declared_risk=named,
        risk_level=named or suggested,
        suggested_risk=suggested,
        permissions=permissions,
        tags=tuple(dict.fromkeys(manifest.tags or declared.tags or ())),
        stability=manifest.stability or declared.stability or _stability_of(version),
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
    findings = in_order([*admission.findings, finding])
    return replace(admission, status=status, findings=findings, existing=existing)
