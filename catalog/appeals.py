"""Appeals: a publisher says why a warning is wrong here, and an approver decides (spec 1.9).

The finding of a granted appeal stays on its page and no longer raises the suggested risk.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from catalog import access, journal, visibility
from catalog.access import Powers
from catalog.journal import Actor
from catalog.models import Appeal, Role, Skill, VersionFinding
from catalog.risks import lock_version, settle_risk


class NotAppealable(Exception):
    """Only warnings are appealed, each once at a time; only what waits is decided."""


def may_appeal(powers: Powers, skill: Skill) -> bool:
    """Appeal a warning: a publisher of the owning team."""
    return powers.may_publish(skill.team)


def why_not_decide(appeal: Appeal, powers: Powers) -> str:
    """Why this user cannot decide the appeal; "" where they can (four eyes)."""
    team = appeal.version.skill.team
    if not _deciding_teams(powers) & {None, team.pk}:
        return f"Deciding an appeal needs the role approver in {team.name}, for every environment."
    if powers.user_id == appeal.by_id:
        return "You made this appeal; another approver decides."
    if powers.user_id == appeal.version.publisher_id:
        return "You published this version; another approver decides."
    return ""


def appeals_to_decide(powers: Powers) -> QuerySet[Appeal]:
    """The waiting appeals that `why_not_decide` lets this user decide, oldest first.

    Those of warnings that a later scan no longer finds wait for nobody.
    """
    teams = _deciding_teams(powers)
    scope = Q() if None in teams else Q(version__skill__team_id__in=teams)
    seen = visibility.visible_versions(powers)
    found = VersionFinding.objects.filter(version=OuterRef("version"), fingerprint=OuterRef("fingerprint"))
    waiting = Appeal.objects.filter(scope, Exists(found), version__in=seen, state=Appeal.State.WAITING)
    others = waiting.exclude(by_id=powers.user_id).exclude(version__publisher_id=powers.user_id)
    return others.order_by("at", "pk")


def _deciding_teams(powers: Powers) -> set[UUID | None]:
    """The teams (None: all) in which the user approves in every environment by a right of their own.

    A granted appeal lowers the risk everywhere, so the right for one environment is not enough.
    """
    approving = (right for right in powers.own if right.role == Role.APPROVER)
    return {right.team_id for right in approving if right.environment_id is None}


def appeals_made(powers: Powers) -> QuerySet[Appeal]:
    """The appeals that this user made, of versions that they still see: those that wait first, then the newest."""
    seen = visibility.visible_versions(powers)
    mine = Appeal.objects.filter(by_id=powers.user_id, version__in=seen)
    return mine.order_by(F("decided_at").desc(nulls_first=True), "-at", "-pk")


def appeal(*, finding: VersionFinding, actor: Actor, reason: str, now: datetime) -> Appeal:
    """Say why a warning is wrong here. Raises NotAllowed, NotAppealable."""
    with transaction.atomic():
        version = lock_version(finding.version)
        refusal = f"Appealing needs the role publisher in {version.skill.team.name}."
        access.require(actor, lambda powers: may_appeal(powers, version.skill), refusal)
        if finding.severity != "warning":
            raise NotAppealable("Only a warning can be appealed.")
        if not version.findings.filter(fingerprint=finding.fingerprint).exists():
            raise NotAppealable("This warning is gone since the version was scanned again.")
        try:
            with transaction.atomic():
                made = Appeal.objects.create(
                    version=version,
                    fingerprint=finding.fingerprint,
                    code=finding.code,
                    reason=reason,
                    by=actor.user,
                    at=now,
                )
        except IntegrityError as clash:
            raise NotAppealable("This warning is appealed already.") from clash
        _write(made, "appeal.make", actor, reason, now)
    return made


def decide(*, appeal: Appeal, granted: bool, actor: Actor, note: str, now: datetime) -> Appeal:
    """Grant or refuse an appeal; a granted one lowers the suggested risk where nothing else calls for it.

    Raises NotAllowed (four eyes), and NotAppealable where it is decided already.
    """
    with transaction.atomic():
        version = lock_version(appeal.version)
        fresh = Appeal.objects.select_for_update(no_key=True).get(pk=appeal.pk)
        fresh.version = version
        refusal = why_not_decide(fresh, access.powers_of(actor.user))
        if refusal:
            raise access.NotAllowed(refusal)
        if fresh.state != Appeal.State.WAITING:
            raise NotAppealable("This appeal is decided already.")
        fresh.state = Appeal.State.GRANTED if granted else Appeal.State.REFUSED
        fresh.decided_by, fresh.decided_at, fresh.note = actor.user, now, note
        fresh.save(update_fields=["state", "decided_by", "decided_at", "note"])
        before, after = settle_risk(version, now=now) if granted else (version.suggested_risk,) * 2
        told = {"suggested_risk": after} if before != after else {}
        _write(fresh, f"appeal.{'grant' if granted else 'refuse'}", actor, note, now, **told)
    return fresh


def _write(appeal: Appeal, verb: str, actor: Actor, reason: str, now: datetime, **more: str) -> None:
    journal.append(
        actor=actor,
        verb=verb,
        target=f"{appeal.version.skill.name} {appeal.version.version}",
        after={"code": appeal.code, "reason": reason, **more, "id": str(appeal.pk)},
        now=now,
    )
