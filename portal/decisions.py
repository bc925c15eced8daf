"""What can be done with a release now, by whom, and why not where it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from catalog.access import Powers
from catalog.clearance import Gate
from catalog.journal import Actor
from catalog.models import Release, State
from catalog.releases import STARTS_FROM
from catalog.transitions import WrongState, refuse_overdue, refuse_withdrawn
from governance import approvals, rollouts
from governance.clearing import Review
from governance.policy import HARD_GATES
from governance.refusals import (
    VOIDED,
    hard_gates,
    why_not_break_glass,
    why_not_decide,
    why_not_override,
    why_not_serve,
    why_not_stop,
)
from portal.decision_texts import Texts, texts_of


@dataclass(frozen=True, slots=True)
class Act:
    """What an action does, what it takes of a form or a body, and what of that it cannot do without."""

    perform: Callable[..., Release]
    takes: tuple[str, ...]
    needs: tuple[str, ...] = ()


# In the order in which they are offered: what moves the release on comes first.
ACTIONS: Mapping[str, Act] = {
    "approve": Act(approvals.approve, ("note", "confirm")),
    "start": Act(rollouts.start, ("percent",)),
    "advance": Act(rollouts.advance, ("percent",), needs=("percent",)),
    "resume": Act(rollouts.resume, ("percent",)),
    "reject": Act(approvals.reject, ("reason",)),
    "withdraw": Act(approvals.withdraw, ("reason",)),
    "halt": Act(rollouts.halt, ("reason",)),
    "rollback": Act(rollouts.roll_back, ("reason",)),
    "override": Act(approvals.override, ("gate", "reason"), needs=("gate",)),
    "break_glass": Act(rollouts.break_glass, ("reason",)),
}
# What moves a release on; what takes something away; what only a right of its own allows.
MAIN = frozenset({"approve", "start", "advance", "resume"})
GRAVE = frozenset({"reject", "halt", "rollback", "break_glass"})
SPECIAL = frozenset({"override", "break_glass"})


def perform(
    action: str, release: Release, sent: Mapping[str, Any], *, actor: Actor, now: datetime
) -> Release:
    """Do one of `ACTIONS` with what was sent; raises KeyError for any other, and what the domain raises."""
    act = ACTIONS[action]
    taken = {name: sent[name] for name in act.takes}
    return act.perform(release=release, actor=actor, now=now, **taken)


def needs_confirmation(action: str, seen: Review) -> bool:
    """Whether the action asks for the skill's name and the password of who does it (spec 4.2)."""
    return action == "break_glass" or (action == "approve" and seen.needs.confirmation)


@dataclass(frozen=True, slots=True)
class Offer:
    """One action: what its button says, what its dialog asks and explains, and why it is shut ("" where open).

    `gate` is the one that an override is for; `confirmed` whether name and password are asked for.
    """

    action: str
    texts: Texts
    refusal: str
    confirmed: bool = False
    gate: str = ""

    @property
    def key(self) -> str:
        """What tells it from the other actions of the page."""
        return f"{self.action}-{self.gate}" if self.gate else self.action

    @property
    def allowed(self) -> bool:
        """Whether this user may do it now."""
        return not self.refusal

    @property
    def is_button(self) -> bool:
        """Whether it has a button of the decision: an open action, or a main step that is shut."""
        shut = self.action in MAIN and self.action != "advance"
        return not self.special and (self.allowed or shut)

    @property
    def grave(self) -> bool:
        """Whether it takes something away."""
        return self.action in GRAVE

    @property
    def needs_reason(self) -> bool:
        """Whether it cannot be done without a reason."""
        return self.grave or self.action == "override"

    @property
    def special(self) -> bool:
        """Whether it stands apart from the decision: a shut gate, an emergency."""
        return self.action in SPECIAL


def offers(
    release: Release, powers: Powers, seen: Review, *, now: datetime, has_password: bool = True
) -> tuple[Offer, ...]:
    """The actions that start from the release's state; special ones only for who holds the right.

    `has_password` says whether the user can confirm with one.
    """
    found = (
        Offer(
            action,
            texts_of(action, release, gate),
            _refusal(action, release, powers, seen, now) or _why_not_confirm(action, seen, has_password),
            needs_confirmation(action, seen),
            gate.name if gate else "",
        )
        for action, gate in _startable(release, powers, seen)
    )
    return tuple(found)


def _startable(release: Release, powers: Powers, seen: Review) -> Iterator[tuple[str, Gate | None]]:
    """The actions that make sense now, an override once for each gate that somebody may answer for."""
    for action in ACTIONS:
        if release.state not in STARTS_FROM[action] or (action == "approve" and _holds(release, seen)):
            continue
        if action in SPECIAL and not powers.may_break_glass(release):
            continue
        if action == "override":
            yield from ((action, gate) for gate in seen.shut if gate.name not in HARD_GATES)
        elif action != "break_glass" or seen.shut or seen.lacks_approvals:
            yield action, None


def _holds(release: Release, seen: Review) -> bool:
    """Whether the release is approved and its approvals are not void."""
    return release.state == State.APPROVED and not seen.lacks_approvals


def why_not(found: tuple[Offer, ...]) -> tuple[str, ...]:
    """The reasons why actions are shut, each once; beside open ones those of the main step alone."""
    plain = [offer for offer in found if not offer.special]
    told = [offer for offer in plain if offer.refusal]
    if any(offer.allowed for offer in plain):
        told = [offer for offer in told if offer.action in MAIN]
    return tuple(dict.fromkeys(offer.refusal for offer in told))


def is_open(release: Release) -> bool:
    """Whether anything can still be done with the release."""
    return any(release.state in STARTS_FROM[action] for action in ACTIONS)


def _refusal(action: str, release: Release, powers: Powers, seen: Review, now: datetime) -> str:
    if action == "approve":
        return why_not_decide(release, powers) or _why_not_again(release, seen, powers) or _gone(release, now)
    if action == "reject":
        return why_not_decide(release, powers)
    if action == "withdraw":
        allowed = powers.may_withdraw(release)
        text = _("Withdrawing needs the role publisher in %(team)s.")
        return "" if allowed else text % {"team": release.skill.team.name}
    if action in {"halt", "rollback"}:
        return why_not_stop(release, powers)
    if action == "override":
        return why_not_override(release, powers)
    if action == "break_glass":
        return why_not_break_glass(release, powers) or hard_gates(seen) or _gone(release, now)
    return _why_not_serve(release, powers, seen, now)


def _why_not_again(release: Release, seen: Review, powers: Powers) -> str:
    """Why this user has no approval left to give, where one is still needed."""
    used = {one.right_of_id: one for one in seen.approvals} if seen.lacks_approvals else {}
    if any(one.user_id == powers.user_id for one in used.values()):
        return _("You have approved it; another approver has to as well.")
    holders = powers.deciding_for(release)
    if not holders or not used.keys() >= set(holders):
        return ""
    one = used[holders[0]]
    if one.right_of_id == powers.user_id:
        told = {"user": str(one.user)}
        return _("%(user)s has approved it with your right; another approver has to as well.") % told
    told = {"giver": str(one.right_of)}
    return _("The right that %(giver)s lent you was used for it; another approver has to as well.") % told


def _gone(release: Release, now: datetime) -> str:
    """Why neither the version nor the proposal can go on, "" where both can."""
    try:
        refuse_withdrawn(release.version)
        refuse_overdue(release, now)
    except WrongState as refusal:
        return str(refusal)
    return ""


def _why_not_serve(release: Release, powers: Powers, seen: Review, now: datetime) -> str:
    if refusal := why_not_serve(release, powers) or _gone(release, now):
        return refusal
    if release.state in VOIDED and seen.lacks_approvals:
        return VOIDED[State(release.state)]
    if seen.shut:
        return _("A gate is shut: %(gates)s.") % {"gates": " ".join(gate.detail for gate in seen.shut)}
    return ""


def _why_not_confirm(action: str, seen: Review, has_password: bool) -> str:
    if has_password or not needs_confirmation(action, seen):
        return ""
    return _(
        "It is confirmed with your password, and your account has none here. "
        "An administrator helps you to one, or somebody else with the right does it."
    )
