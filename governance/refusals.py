"""Why somebody cannot do something with a release, in a sentence; and what every decision asks for."""

from __future__ import annotations

from collections.abc import Mapping

from catalog.access import NotAllowed, Powers
from catalog.models import Release, State
from governance.clearing import Review
from governance.policy import HARD_GATES

# Of a release whose approvals no longer hold: what it needs.
VOIDED: Mapping[State, str] = {
    State.APPROVED: "Its approvals are void, since the policy, the risk, the team or a gate has changed; it needs new ones.",
    State.CANARY: (
        "Its approvals are void, since the policy, the risk, the team or a gate has changed; "
        "halt it and propose the version again."
    ),
    State.HALTED: (
        "Its approvals are void, since the policy, the risk, the team or a gate has changed; propose the version again."
    ),
}


class ReasonMissing(Exception):
    """The action needs a reason and none was given."""


def ask(refusal: str) -> None:
    """Raise NotAllowed with the refusal, unless it is empty."""
    if refusal:
        raise NotAllowed(refusal)


def need_reason(text: str) -> str:
    """The reason without white space around it; raises ReasonMissing where nothing is left."""
    if not text.strip():
        raise ReasonMissing("Give a reason; it is kept with the release.")
    return text.strip()


def why_not_decide(release: Release, powers: Powers) -> str:
    """Why this user cannot approve or reject the release; "" where they can."""
    if powers.may_decide(release):
        return ""
    where = release.environment
    if not powers.is_approver_of(release):
        return f"Deciding needs the role approver for {where.title}."
    if release.proposer_id == powers.user_id:
        return "You proposed this release; another approver decides."
    if release.version.publisher_id == powers.user_id:
        return "You published this version; another approver decides."
    if where.outside_approval:
        return f"{where.title} wants approvers who do not publish for {release.skill.team.name}."
    return "Who lent you the right proposed this release or published its version; another approver decides."


def why_not_override(release: Release, powers: Powers) -> str:
    """Why this user cannot override a gate of the release; "" where they can."""
    if powers.may_override(release):
        return ""
    if not powers.may_break_glass(release):
        return f"Overriding needs an approver for {release.environment.title} with that right."
    return "You proposed this release or published its version; another approver with that right overrides."


def why_not_stop(release: Release, powers: Powers) -> str:
    """Why this user cannot halt or roll back the release; "" where they can."""
    if powers.may_stop(release):
        return ""
    where = release.environment.title
    return f"This needs an approver for {where} or a publisher in {release.skill.team.name}."


def why_not_serve(release: Release, powers: Powers) -> str:
    """Why this user cannot start or move the release, gates and approvals aside; "" where they can."""
    return "" if powers.may_start(release) else why_not_decide(release, powers)


def why_not_break_glass(release: Release, powers: Powers) -> str:
    """Why this user cannot break the glass; "" where they can."""
    if powers.may_break_glass(release):
        return ""
    return f"Breaking the glass needs an approver for {release.environment.title} with that right."


def why_held(release: Release, seen: Review) -> str:
    """What keeps an approved, running or halted release from being served further; "" for nothing."""
    if seen.shut:
        return " ".join(gate.detail for gate in seen.shut)
    return VOIDED.get(State(release.state), "") if seen.lacks_approvals else ""


def hard_gates(seen: Review) -> str:
    """What even a broken glass does not open: the details of those gates, "" where none is shut."""
    return " ".join(gate.detail for gate in seen.shut if gate.name in HARD_GATES)
