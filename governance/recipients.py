"""Who is told of what: one table, from the verb of an entry to groups of people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from catalog.access import Powers
from catalog.appeals import why_not_decide
from catalog.models import Skill, State
from governance.happenings import Crowd, Happening

Group = Callable[[Happening, Crowd], Iterable[UUID | None]]


def recipients(happening: Happening, crowd: Crowd) -> frozenset[UUID]:
    """The active people to tell: those who may see the skill, but for who did it.

    Of a password that was chosen by a link its person is told too: whoever held the link acted as them.
    """
    told = {user for group in WHO.get(happening.entry.verb, ()) for user in group(happening, crowd)}
    doer = crowd.names.get(happening.entry.actor)
    return frozenset(
        user
        for user in told
        if user in crowd.powers
        and (doer is None or user != doer.pk or happening.entry.verb == "user.password")
        and (happening.skill is None or may_be_told(crowd.powers[user], happening.skill))
    )


def may_be_told(powers: Powers, skill: Skill) -> bool:
    """Whether the user sees the skill, or saw it until it was deleted."""
    if skill.deleted_at is None:
        return powers.may_see(skill)
    shown = Skill(
        team_id=skill.team_id, owner_id=skill.owner_id, visibility=skill.visibility, deleted_at=None
    )
    return powers.may_see(shown)


def _deciders(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    """Who may decide, while it still waits for that; rights that were lent count."""
    release = happening.release
    if release is None or release.state != State.PROPOSED:
        return ()
    return (user for user, powers in crowd.powers.items() if powers.may_decide(release))


def _proposer(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    return (happening.release.proposer_id,) if happening.release else ()


def _keepers(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    """The owner and the maintainers of the skill."""
    skill = happening.skill
    return (skill.owner_id, *(one.pk for one in skill.maintainers.all())) if skill else ()


def _team(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    """The publishers of the team, where nobody owns the skill."""
    skill = happening.skill
    if skill is None or skill.owner_id is not None:
        return ()
    return (user for user, powers in crowd.powers.items() if powers.may_publish(skill.team))


def _approvers_who_approved(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    return (one.user_id for one in happening.release.approvals.all()) if happening.release else ()


def _approvers_there(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    release = happening.release
    if release is None:
        return ()
    return (user for user, powers in crowd.powers.items() if powers.is_approver_of(release))


def _administrators(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    return (user for user, powers in crowd.powers.items() if powers.is_admin)


def _appeal_deciders(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    appeal = happening.appeal
    if appeal is None:
        return ()
    return (user for user, powers in crowd.powers.items() if not why_not_decide(appeal, powers))


def _appellant(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    return (happening.appeal.by_id,) if happening.appeal else ()


def _people(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    """Whom the entry names."""
    return happening.people


def _whose_password(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    """Whose password another one replaces; who has none yet has an invitation."""
    return happening.people if happening.said("password") == "replaced" else ()


def _witnesses(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    """Every administrator, of a right that somebody gave to or took from themselves."""
    return _administrators(happening, crowd) if happening.is_own else ()


def _completes(happening: Happening, crowd: Crowd) -> Iterable[UUID | None]:
    """Proposer and keepers, once an approval was the last that is needed."""
    if happening.before.get("state") != State.PROPOSED or happening.after.get("state") == State.PROPOSED:
        return ()
    return (*_proposer(happening, crowd), *_keepers(happening, crowd))


_OF_PROPOSAL: tuple[Group, ...] = (_proposer, _keepers)
_OF_ROLLOUT: tuple[Group, ...] = (_proposer, _keepers, _approvers_who_approved)
_OF_SKILL: tuple[Group, ...] = (_keepers, _team)
WHO: Mapping[str, tuple[Group, ...]] = {
    "release.propose": (_deciders,),
    "release.approve": (_completes,),
    **{f"release.{action}": _OF_PROPOSAL for action in ("reject", "expire", "withdraw")},
    **{
        f"release.{action}": _OF_ROLLOUT
        for action in ("start", "advance", "halt", "hold", "resume", "rollback", "override")
    },
    "release.break_glass": (*_OF_ROLLOUT, _approvers_there, _administrators),
    **{f"version.{action}": _OF_SKILL for action in ("yank", "revoke", "deprecate")},
    **{f"skill.{action}": _OF_SKILL for action in ("degrade", "restore", "transfer", "delete")},
    "skill.settle": (_people,),
    "appeal.make": (_appeal_deciders,),
    "appeal.grant": (_appellant,),
    "appeal.refuse": (_appellant,),
    "grant.create": (_people, _witnesses),
    "grant.remove": (_people, _witnesses),
    "delegation.create": (_people,),
    "delegation.end": (_people,),
    # Who makes a link to somebody's password can act as them.
    "user.link": (_whose_password, _administrators),
    "user.password": (_whose_password, _administrators),
}
