"""The suggested risk of a version in the record: what its permissions and findings call for, appeals heard."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import cast

from django.db.models import Min

from catalog.bundles.bundle import Risk
from catalog.bundles.findings import Finding
from catalog.bundles.safety import UNDERSTATED, suggested_risk, understated
from catalog.insertion import finding_rows
from catalog.models import SERVED, Appeal, Environment, Skill, Version, VersionFinding
from catalog.revisions import revise


def lock_version(version: Version) -> Version:
    """The version as it is now, locked until the transaction ends; before it every environment, as releases do."""
    list(Environment.objects.select_for_update(no_key=True).order_by("order"))
    skill = Skill.objects.select_for_update(of=("self",), no_key=True).select_related("team")
    held = skill.get(pk=version.skill_id)
    fresh = Version.objects.select_for_update(no_key=True).get(pk=version.pk)
    fresh.skill = held
    return fresh


def risk_of(permissions: Iterable[str], codes: Iterable[str]) -> Risk:
    """What permissions and codes of findings call for."""
    return suggested_risk(permissions, [Finding(code, "warning", "") for code in codes])


def granted_of(version: Version) -> set[str]:
    """The fingerprints of the findings whose appeal is granted."""
    granted = Appeal.objects.filter(version=version, state=Appeal.State.GRANTED)
    return set(granted.values_list("fingerprint", flat=True))


def settle_risk(version: Version, *, now: datetime) -> tuple[str, str]:
    """Set the suggested risk anew, of a version that is locked; answers it before and after.

    Approvals that were given for another risk are void by that, since they are bound to it. The
    finding that the declared risk is too low comes and goes with it.
    """
    granted = granted_of(version)
    rows = version.findings.values_list("code", "fingerprint")
    codes = [code for code, fingerprint in rows if fingerprint not in granted]
    found = risk_of(version.permissions, codes)
    before = version.suggested_risk
    _settle_understated(version, found)
    if found == before:
        return before, before
    version.suggested_risk = found
    if not version.declared_risk:
        # Nobody named a level: then the suggested one is the level.
        version.risk_level = found
    version.save(update_fields=["suggested_risk", "risk_level"])
    served = Environment.objects.filter(releases__version=version, releases__state__in=SERVED)
    for environment in served.distinct().order_by("order"):
        revise(environment=environment, folders=[version.skill.folder], now=now)
    return before, found


def _settle_understated(version: Version, suggested: Risk) -> None:
    """Let the finding `risk-level-understated` say what is so at the risk that is suggested from now on."""
    told = version.findings.filter(code=UNDERSTATED)
    declared = cast(Risk | None, version.declared_risk or None)
    due = finding_rows(version, understated(declared, suggested))
    if due and suggested == version.suggested_risk and told.exists():
        return
    # As old as the others: what an appeal changes is no scan by the rules of today.
    oldest = version.findings.aggregate(oldest=Min("rule_version"))["oldest"]
    for row in due:
        row.rule_version = row.rule_version if oldest is None else oldest
    told.exclude(fingerprint__in=[row.fingerprint for row in due]).delete()
    VersionFinding.objects.bulk_create(due, ignore_conflicts=True)
