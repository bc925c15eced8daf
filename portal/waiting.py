"""What waits for a user: releases to decide, to start, and their own on the way. Bounded queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet

from catalog.access import Powers, visible_releases
from catalog.availability import unmet
from catalog.models import Approval, Release, State
from governance.gates import policy_of, subject_of
from governance.policy import gates_of, needs_of
from portal.access import releases_to_decide

MOST = 100


@dataclass(frozen=True, slots=True)
class Waiting:
    """A release on its way: approvals held and needed, the shut gates, and the version live there."""

    release: Release
    held: int
    needed: int
    shut: tuple[str, ...]
    live: str


@dataclass(frozen=True, slots=True)
class Inbox:
    """The groups of an inbox, each oldest first and cut at `MOST`."""

    decide: tuple[Waiting, ...]
    start: tuple[Waiting, ...]
    approved: tuple[Waiting, ...]
    mine: tuple[Waiting, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not (self.decide or self.start or self.approved or self.mine)


def inbox_of(powers: Powers) -> Inbox:
    """What waits for the user, by what they can do about it; each release once."""
    seen = visible_releases(powers)
    mine = _rows(
        seen.filter(proposer_id=powers.user_id, state__in=(State.PROPOSED, State.APPROVED, State.CANARY))
    )
    decide = _rows(releases_to_decide(powers)) if powers.is_approver else []
    approved = _rows(seen.filter(_approved_by(powers), state=State.PROPOSED)) if powers.is_approver else []
    start = []
    if powers.is_approver or powers.is_publisher:
        start = [one for one in _rows(seen.filter(state=State.APPROVED)) if powers.may_start(one)]
    known = {one.pk for one in start}
    live = _live([*decide, *start, *approved, *mine])
    return Inbox(
        decide=tuple(_waiting(one, live) for one in decide),
        start=tuple(_waiting(one, live) for one in start),
        approved=tuple(_waiting(one, live) for one in approved),
        mine=tuple(_waiting(one, live) for one in mine if one.pk not in known),
    )


def _approved_by(powers: Powers) -> Q:
    held = Approval.objects.filter(user=powers.user_id, voided_at=None)
    return Q(pk__in=held.values("release_id"))


def _rows(releases: QuerySet[Release]) -> list[Release]:
    """The oldest of these, with all that a row shows."""
    related = releases.select_related("environment", "skill__team", "version__publisher", "proposer")
    approvals = Prefetch("approvals", Approval.objects.filter(voided_at=None), to_attr="held_approvals")
    found = related.prefetch_related(approvals, "version__dependencies").order_by("proposed_at", "pk")
    return list(found[:MOST])


def _live(releases: list[Release]) -> dict[tuple[UUID, str], str]:
    """The live version by environment and folder name, of these skills and all that they depend on."""
    folders = {release.skill.folder for release in releases}
    folders |= {one.folder for release in releases for one in release.version.dependencies.all()}
    if not folders:
        return {}
    rows = Release.objects.filter(
        state=State.LIVE,
        environment__in={release.environment_id for release in releases},
        skill__folder__in=folders,
        skill__deleted_at=None,
    ).values_list("environment_id", "skill__folder", "version__version")
    return {(environment, folder): version for environment, folder, version in rows}


def _waiting(release: Release, live: Mapping[tuple[UUID, str], str]) -> Waiting:
    policy, subject = policy_of(release.environment), subject_of(release.version)
    here = {folder: version for (where, folder), version in live.items() if where == release.environment_id}
    wanted = {one.folder: one.minimum for one in release.version.dependencies.all()}
    shut = [gate.detail for gate in gates_of(policy, subject) if not gate.passed]
    return Waiting(
        release=release,
        held=len(release.held_approvals),  # type: ignore[attr-defined]  # by the prefetch above
        needed=needs_of(policy, subject).approvals,
        shut=(*shut, *unmet(wanted, here)),
        live=here.get(release.skill.folder, ""),
    )
