"""What waits for a user: releases to decide, to start, and their own on the way. Bounded queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from catalog.access import Powers, releases_to_decide, releases_to_start, visible_releases
from catalog.appeals import appeals_to_decide
from catalog.availability import missing_of
from catalog.models import Appeal, Approval, Release, State
from governance.approvals import holds
from governance.gates import judge_gates, policy_of, subject_of
from governance.policy import needs_of

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
    """The groups of an inbox, each oldest first and cut at `MOST`.

    `decide` and `start` wait for this user; `blocked` is theirs to start as soon as its gates open.
    """

    decide: tuple[Waiting, ...]
    start: tuple[Waiting, ...]
    blocked: tuple[Waiting, ...]
    approved: tuple[Waiting, ...]
    mine: tuple[Waiting, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not (self.decide or self.start or self.blocked or self.approved or self.mine)


def inbox_of(powers: Powers) -> Inbox:
    """What waits for the user, by what they can do about it; each release once."""
    open_ones = (State.PROPOSED, State.APPROVED, State.CANARY)
    decide, approved = _decide(powers)
    start = _rows(releases_to_start(powers).filter(state=State.APPROVED))
    mine = _rows(visible_releases(powers).filter(proposer_id=powers.user_id, state__in=open_ones))
    known = {one.pk for one in start}
    rows = _waitings([*decide, *start, *approved, *mine])
    starting = [rows[one.pk] for one in start]
    return Inbox(
        decide=tuple(rows[one.pk] for one in decide),
        start=tuple(row for row in starting if not row.shut),
        blocked=tuple(row for row in starting if row.shut),
        approved=tuple(rows[one.pk] for one in approved),
        mine=tuple(rows[one.pk] for one in mine if one.pk not in known),
    )


def waiting_appeals(powers: Powers) -> list[Appeal]:
    """The appeals that wait for this user's decision, oldest first, with all that a row shows."""
    if not powers.is_approver:
        return []
    return list(appeals_to_decide(powers).select_related("version__skill", "by")[:MOST])


def count_waiting(powers: Powers) -> int:
    """How many releases and appeals wait for this user, to be decided or started, up to `MOST` of each."""
    if not (powers.is_approver or powers.is_publisher):
        return 0
    start = _waitings(_rows(releases_to_start(powers).filter(state=State.APPROVED)))
    appeals = appeals_to_decide(powers)[:MOST].count() if powers.is_approver else 0
    return len(_decide(powers)[0]) + sum(not row.shut for row in start.values()) + appeals


def _decide(powers: Powers) -> tuple[list[Release], list[Release]]:
    """The proposals that the user has yet to decide on, and those that they approved as they are now."""
    if not powers.is_approver:
        return [], []
    signed = Approval.objects.filter(release=OuterRef("pk"), user=powers.user_id, voided_at=None)
    proposals = releases_to_decide(powers).filter(state=State.PROPOSED)
    untouched, touched = _rows(proposals.exclude(Exists(signed))), _rows(proposals.filter(Exists(signed)))
    approved = [one for one in touched if any(held.user_id == powers.user_id for held in _held(one))]
    # An approval of something else, such as an earlier policy, has to be given again.
    decide = [*untouched, *(one for one in touched if one not in approved)]
    return sorted(decide, key=lambda one: (one.proposed_at, one.pk))[:MOST], approved


def _held(release: Release) -> list[Approval]:
    """The approvals that hold, by the rule of the release's own page."""
    signed: list[Approval] = release.signed  # type: ignore[attr-defined]  # by the prefetch of `_rows`
    return [one for one in signed if holds(one, release)]


def _rows(releases: QuerySet[Release]) -> list[Release]:
    """The oldest of these, with all that a row shows."""
    related = releases.select_related(
        "environment", "skill__team", "version__publisher", "version__skill", "proposer"
    )
    approvals = Prefetch("approvals", Approval.objects.filter(voided_at=None), to_attr="signed")
    found = related.prefetch_related(approvals, "version__dependencies").order_by("proposed_at", "pk")
    return list(found[:MOST])


def _waitings(releases: list[Release]) -> dict[UUID, Waiting]:
    """The releases with what holds them up, by their ids; a fixed number of queries for them all."""
    known = {release.pk: release for release in releases}
    live = _live(known.values())
    missing = missing_of([(release.version, release.environment_id) for release in known.values()])
    return {
        pk: _waiting(release, live, missing[release.version_id, release.environment_id])
        for pk, release in known.items()
    }


def _live(releases: Collection[Release]) -> dict[tuple[UUID, UUID], str]:
    """The version that is live, by environment and skill."""
    if not releases:
        return {}
    rows = Release.objects.filter(
        state=State.LIVE,
        environment__in={release.environment_id for release in releases},
        skill__in={release.skill_id for release in releases},
    ).values_list("environment_id", "skill_id", "version__version")
    return {(environment, skill): version for environment, skill, version in rows}


def _waiting(release: Release, live: Mapping[tuple[UUID, UUID], str], missing: list[str]) -> Waiting:
    gates = judge_gates(release.version, release.environment, missing)
    policy, subject = policy_of(release.environment), subject_of(release.version)
    return Waiting(
        release=release,
        held=len(_held(release)),
        needed=needs_of(policy, subject).approvals,
        shut=tuple(gate.detail for gate in gates if not gate.passed),
        live=live.get((release.environment_id, release.skill_id), ""),
    )
