"""Delegations: an approver lends their rights to somebody else for a time (spec 4.2).

What is lent is what the giver holds at that moment: `catalog.access.powers_of` reads it anew each
time. Rights that were lent and the right to override are not lent on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from catalog import access, journal
from catalog.access import Powers, Right, powers_of
from catalog.grants import lock_accounts
from catalog.journal import Actor
from catalog.models import Delegation, Environment, Grant, Role, Team, User

LONGEST = timedelta(days=90)
LATEST_START = timedelta(days=365)
# Clocks differ, and forms name minutes: what began so shortly ago begins now.
JUST_NOW = timedelta(minutes=1)


class NotLendable(ValueError):
    """Rights cannot be lent so; `field` names what is wrong, the text says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Loan:
    """A delegation as it stands: `state` is planned, running, over or ended, `lent` what it gives now."""

    row: Delegation
    state: str
    lent: tuple[Right, ...]

    @property
    def is_open(self) -> bool:
        """Whether it can still be ended."""
        return self.state in {"planned", "running"}


def lend(
    *,
    giver: User,
    taker: User,
    actor: Actor,
    ends_at: datetime,
    reason: str,
    now: datetime,
    starts_at: datetime | None = None,
    team: Team | None = None,
    environment: Environment | None = None,
) -> Delegation:
    """Lend the giver's approver rights, cut to a team and an environment (None: all that they hold).

    It begins now or later and lasts at most 90 days. Raises NotLendable, and NotAllowed for all but
    the giver.
    """
    begin = now if starts_at and now - JUST_NOW <= starts_at < now else starts_at or now
    if not reason.strip():
        raise NotLendable("reason", "Give a reason; it is kept in the audit log.")
    _check_time(begin, ends_at, now)
    with transaction.atomic():
        accounts = lock_accounts([giver, taker])
        if actor.user != giver and not actor.is_system:
            raise access.NotAllowed("Rights are lent by the person who holds them.")
        _check_people(accounts[giver.pk], accounts[taker.pk])
        own = powers_of(giver, now=now).own
        if not any(right.role == Role.APPROVER for right in own):
            raise access.NotAllowed("Lending needs the role approver, held by yourself.")
        if not _parts(own, giver, team, environment):
            raise NotLendable("team", "You hold no approver's right of your own there that could be lent.")
        _ask_once(giver, taker, team, environment, begin, ends_at)
        made = Delegation.objects.create(
            giver=giver,
            taker=taker,
            team=team,
            environment=environment,
            reason=reason.strip(),
            starts_at=begin,
            ends_at=ends_at,
            created_at=now,
        )
        _tell(made, "delegation.create", actor, now)
    return made


def end_delegation(*, delegation: Delegation, actor: Actor, now: datetime) -> Delegation:
    """End it now, also before it began; one that is over or ended stays as it is.

    Raises NotAllowed for all but the giver, the taker and administrators.
    """
    with transaction.atomic():
        if actor.user is None or actor.user.pk not in {delegation.giver_id, delegation.taker_id}:
            refusal = "A delegation is ended by who gave it, who took it, or an administrator."
            access.require(actor, lambda powers: powers.is_admin, refusal)
        close_delegation(delegation=delegation, actor=actor, now=now)
    delegation.refresh_from_db(fields=["ended_at"])
    return delegation


def close_delegation(*, delegation: Delegation, actor: Actor, now: datetime) -> None:
    """End a delegation for a caller that has checked the right."""
    still = Delegation.objects.filter(pk=delegation.pk, ended_at=None, ends_at__gt=now)
    if still.update(ended_at=now):
        _tell(delegation, "delegation.end", actor, now)


def visible_delegations(powers: Powers) -> QuerySet[Delegation]:
    """Those that the user gave or took; administrators see all."""
    rows = Delegation.objects.select_related("giver", "taker", "team", "environment")
    if powers.is_admin:
        return rows
    return rows.filter(Q(giver=powers.user_id) | Q(taker=powers.user_id))


def open_delegations(now: datetime) -> Q:
    """Which delegations run, or are planned."""
    return Q(ended_at=None, ends_at__gt=now)


def as_loans(rows: Sequence[Delegation], *, now: datetime) -> list[Loan]:
    """Each delegation with its state, and with what it gives at `now`; one query for all of them."""
    states = [_state(row, now) for row in rows]
    running = [row for row, state in zip(rows, states, strict=True) if state == "running"]
    held = _approver_rights(running)
    lent = {row.pk: _parts(held[row.giver_id], row.giver, row.team, row.environment) for row in running}
    return [Loan(row, state, lent.get(row.pk, ())) for row, state in zip(rows, states, strict=True)]


def _approver_rights(rows: Iterable[Delegation]) -> defaultdict[UUID, list[Right]]:
    held: defaultdict[UUID, list[Right]] = defaultdict(list)
    givers = {row.giver_id for row in rows}
    grants = Grant.objects.filter(user__in=givers, user__is_active=True, role=Role.APPROVER)
    for grant in grants.order_by("pk"):
        held[grant.user_id].append(Right(Role.APPROVER, grant.team_id, grant.environment_id))
    return held


def _parts(
    rights: Iterable[Right], giver: User, team: Team | None, environment: Environment | None
) -> tuple[Right, ...]:
    """What of the rights is lent, for a team and an environment."""
    scope = (team.pk if team else None, environment.pk if environment else None)
    cut = (access.cut(right, giver.pk, *scope) for right in rights if right.role == Role.APPROVER)
    return tuple(dict.fromkeys(part for part in cut if part))


def _state(row: Delegation, now: datetime) -> str:
    if row.ended_at is not None:
        return "ended"
    if row.ends_at <= now:
        return "over"
    return "planned" if row.starts_at > now else "running"


def _check_time(begin: datetime, end: datetime, now: datetime) -> None:
    if begin < now:
        raise NotLendable("starts_at", "It begins now or later; give no time in the past.")
    if begin - now > LATEST_START:
        raise NotLendable("starts_at", "It begins within a year from now.")
    if end <= begin:
        raise NotLendable("ends_at", "It ends after it begins.")
    if end - begin > LONGEST:
        raise NotLendable("ends_at", f"Rights are lent for at most {LONGEST.days} days.")


def _check_people(giver: User, taker: User) -> None:
    if giver.pk == taker.pk:
        raise NotLendable("taker", "Lend your rights to somebody else.")
    if not taker.is_active:
        raise NotLendable("taker", f"The account of {taker.username} is closed.")
    if not giver.is_active:
        raise NotLendable("taker", f"The account of {giver.username} is closed.")


def _ask_once(
    giver: User,
    taker: User,
    team: Team | None,
    environment: Environment | None,
    begin: datetime,
    end: datetime,
) -> None:
    """The same rights are lent to the same person once at a time."""
    same = {"giver": giver, "taker": taker, "team": team, "environment": environment, "ended_at": None}
    other = Delegation.objects.filter(**same, starts_at__lt=end, ends_at__gt=begin).first()
    if other is not None:
        until = f"{other.ends_at:%Y-%m-%d %H:%M} UTC"
        raise NotLendable("taker", f"The same rights are lent to {taker.username} until {until} already.")


def _tell(row: Delegation, verb: str, actor: Actor, now: datetime) -> None:
    told = {
        "giver": row.giver.username,
        "taker": row.taker.username,
        "team": row.team.slug if row.team else None,
        "environment": row.environment.name if row.environment else None,
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "reason": row.reason,
    }
    before, after = (told, None) if verb == "delegation.end" else (None, told)
    target = f"delegation {row.pk}"
    journal.append(actor=actor, verb=verb, target=target, before=before, after=after, now=now)
