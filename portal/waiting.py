"""What waits for a user: releases to decide, to start, and their own on the way. Bounded queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, prefetch_related_objects

from catalog.access import Powers
from catalog.appeals import appeals_to_decide
from catalog.availability import missing_of
from catalog.models import Appeal, Approval, Override, Release, State, Transition, User
from catalog.visibility import releases_to_decide, releases_to_start, visible_releases
from governance.clearing import Review, judge
from governance.refusals import why_held

MOST = 100
MOST_TOLD = 10
GLASS_DAYS = 14
DECIDED_DAYS = 7
DECISIONS = (
    "approve",
    "reject",
    "withdraw",
    "expire",
    "halt",
    "resume",
    "rollback",
    "override",
    "break_glass",
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A release on its way: who approved, approvals held, void and needed, the shut gates, and the version live there.

    `lent_by` is whose right the user would decide with, "" for their own; `held_by` what keeps a canary
    where it is.
    """

    release: Release
    approvers: frozenset[UUID]
    held: int
    void: int
    needed: int
    shut: tuple[str, ...]
    live: str
    held_by: str
    lent_by: str = ""

    @property
    def lacks_approvals(self) -> bool:
        """Whether fewer approvals hold than it needs."""
        return self.held < self.needed

    @property
    def is_ready(self) -> bool:
        """Whether nothing keeps it from being started."""
        return not self.shut and not self.lacks_approvals


@dataclass(frozen=True, slots=True)
class Inbox:
    """The groups of an inbox, each oldest first and cut at `MOST`; a release stands in one of them.

    `decide`, `void` and `start` wait for this user: proposals, releases whose approvals hold no longer,
    and approved ones. `blocked` is theirs to start as soon as its gates open; `holds` are canaries that
    their schedule does not move.
    """

    decide: tuple[Waiting, ...]
    void: tuple[Waiting, ...]
    start: tuple[Waiting, ...]
    holds: tuple[Waiting, ...]
    blocked: tuple[Waiting, ...]
    approved: tuple[Waiting, ...]
    mine: tuple[Waiting, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not any(getattr(self, field.name) for field in fields(self))

    @property
    def waiting(self) -> int:
        """How many wait for this user."""
        return len(self.decide) + len(self.void) + len(self.start)


def inbox_of(powers: Powers) -> Inbox:
    """What waits for the user, by what they can do about it; each release once."""
    open_ones = (State.PROPOSED, State.APPROVED, State.CANARY)
    start = _to_start(powers)
    theirs = _to_decide(powers, start)
    canaries = _rows(releases_to_start(powers).filter(state=State.CANARY))
    mine = _rows(visible_releases(powers).filter(proposer_id=powers.user_id, state__in=open_ones))
    rows = _waitings([*theirs, *start, *canaries, *mine])
    decide, approved = _decide(powers, [rows[one.pk] for one in theirs])
    decide = _with_lenders(powers, decide)
    holds = [rows[one.pk] for one in canaries if rows[one.pk].held_by]
    known = {row.release.pk for row in (*decide, *approved, *holds)}
    starting = [rows[one.pk] for one in start if one.pk not in known]
    known |= {one.pk for one in start}
    return Inbox(
        decide=tuple(row for row in decide if not row.void),
        void=tuple(row for row in decide if row.void),
        start=tuple(row for row in starting if row.is_ready),
        holds=tuple(holds),
        blocked=tuple(row for row in starting if not row.is_ready),
        approved=tuple(approved),
        mine=tuple(rows[one.pk] for one in mine if one.pk not in known),
    )


def glass_broken(powers: Powers, *, now: datetime) -> list[Transition]:
    """Where the glass was broken within 14 days, newest first, with all that a row shows."""
    return list(
        Transition.objects.filter(
            action="break_glass",
            created_at__gte=now - timedelta(days=GLASS_DAYS),
            release__in=visible_releases(powers),
        )
        .select_related("actor", "release__skill", "release__version", "release__environment")
        .order_by("-created_at", "-pk")[:MOST_TOLD]
    )


def decided_lately(powers: Powers, *, now: datetime) -> list[Transition]:
    """What was decided within a week by the user or about their proposals, newest first."""
    near = Q(actor_id=powers.user_id) | Q(release__proposer_id=powers.user_id)
    return list(
        Transition.objects.filter(
            near,
            action__in=DECISIONS,
            created_at__gte=now - timedelta(days=DECIDED_DAYS),
            release__in=visible_releases(powers),
        )
        .select_related("actor", "release__skill", "release__version", "release__environment")
        .order_by("-created_at", "-pk")[:MOST_TOLD]
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
    start = _to_start(powers)
    theirs = _to_decide(powers, start)
    rows = _waitings([*theirs, *start])
    decide, _ = _decide(powers, [rows[one.pk] for one in theirs])
    ready = sum(rows[one.pk].is_ready for one in start)
    appeals = appeals_to_decide(powers)[:MOST].count() if powers.is_approver else 0
    return len(decide) + ready + appeals


def _to_start(powers: Powers) -> list[Release]:
    """The approved releases that the user may start."""
    return _rows(releases_to_start(powers).filter(state=State.APPROVED))


def _to_decide(powers: Powers, start: list[Release]) -> list[Release]:
    """The proposals that the user may decide on, and the approved ones, whose approvals may be void by now.

    The approved ones are among those that the user may `start`: whoever decides starts as well.
    """
    if not powers.is_approver:
        return []
    signed = Approval.objects.filter(release=OuterRef("pk"), user=powers.user_id, voided_at=None)
    theirs = releases_to_decide(powers)
    proposals = theirs.filter(state=State.PROPOSED)
    untouched, touched = proposals.exclude(Exists(signed)), proposals.filter(Exists(signed))
    return [*_rows(untouched), *_rows(touched), *(one for one in start if powers.may_decide(one))]


def _decide(powers: Powers, rows: list[Waiting]) -> tuple[list[Waiting], list[Waiting]]:
    """What the user has yet to decide on, and the proposals that they approved as they are now.

    An approval of something else, such as an earlier policy, has to be given again; a release that
    was approved by such needs new ones, unless a gate is shut as well.
    """
    given = {row.release.pk for row in rows if powers.user_id in row.approvers}
    proposals = [row for row in rows if row.release.state == State.PROPOSED]
    # Enough approve, since less is needed than when they did: anybody's click settles it.
    settled = [row for row in proposals if not row.lacks_approvals]
    lacking = [row for row in rows if row.lacks_approvals and row.release.pk not in given]
    decide = settled + [row for row in lacking if row.release.state == State.PROPOSED or not row.shut]
    decide.sort(key=lambda row: (row.release.proposed_at, row.release.pk))
    return decide[:MOST], [row for row in proposals if row.lacks_approvals and row.release.pk in given]


def _with_lenders(powers: Powers, rows: list[Waiting]) -> list[Waiting]:
    """The rows with whose right the user has for each, where it is lent; one query where any is."""
    lenders = {row.release.pk: powers.deciding_for(row.release)[:1] for row in rows}
    wanted = {pk for held in lenders.values() for pk in held} - {powers.user_id}
    if not wanted:
        return rows
    names = {user.pk: str(user) for user in User.objects.filter(pk__in=wanted)}
    return [
        replace(row, lent_by="".join(names.get(pk, "") for pk in lenders[row.release.pk])) for row in rows
    ]


def _rows(releases: QuerySet[Release]) -> list[Release]:
    """The oldest of these."""
    related = releases.select_related(
        "environment", "skill__team", "version__publisher", "version__skill", "previous", "proposer"
    )
    return list(related.order_by("proposed_at", "pk")[:MOST])


def _waitings(releases: list[Release]) -> dict[UUID, Waiting]:
    """The releases with what holds them up, by their ids; a fixed number of queries for them all."""
    known = {release.pk: release for release in releases}
    approvals = Prefetch("approvals", Approval.objects.filter(voided_at=None), to_attr="signed")
    overrides = Prefetch("overrides", Override.objects.select_related("user"), to_attr="answered")
    prefetch_related_objects(list(known.values()), approvals, overrides, "version__dependencies")
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
    seen = _judge(release, missing)
    return Waiting(
        release=release,
        approvers=frozenset(one.user_id for one in seen.approvals),
        held=len(seen.approvals),
        void=len(seen.void),
        needed=seen.needs.approvals,
        shut=tuple(gate.detail for gate in seen.shut),
        live=live.get((release.environment_id, release.skill_id), ""),
        held_by=why_held(release, seen) if release.state == State.CANARY else "",
    )


def _judge(release: Release, missing: list[str]) -> Review:
    """As the page of the release judges it; reads what `_waitings` prefetched."""
    signed: list[Approval] = release.signed  # type: ignore[attr-defined]  # by the prefetch of `_waitings`
    answered: list[Override] = release.answered  # type: ignore[attr-defined]  # as above
    return judge(release, missing, approvals=signed, overrides=answered)
