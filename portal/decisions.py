"""What can be done with a release now, by whom, and why not where it cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from catalog.access import Powers
from catalog.journal import Actor
from catalog.models import Release, State
from catalog.releases import STARTS_FROM
from governance import approvals, rollouts
from governance.clearing import Review
from governance.refusals import VOIDED, why_not_decide


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
    "reject": Act(approvals.reject, ("reason",)),
    "withdraw": Act(approvals.withdraw, ("reason",)),
    "halt": Act(rollouts.halt, ("reason",)),
    "rollback": Act(rollouts.roll_back, ("reason",)),
}
MAIN = frozenset({"approve", "start", "advance"})
GRAVE = frozenset({"reject", "halt", "rollback"})


def perform(
    action: str, release: Release, sent: Mapping[str, Any], *, actor: Actor, now: datetime
) -> Release:
    """Do one of `ACTIONS` with what was sent; raises KeyError for any other, and what the domain raises."""
    act = ACTIONS[action]
    taken = {name: sent[name] for name in act.takes}
    return act.perform(release=release, actor=actor, now=now, **taken)


@dataclass(frozen=True, slots=True)
class Offer:
    """One action: what its button says, what its dialog asks and explains, and why it is shut ("" where open)."""

    action: str
    title: str
    question: str
    explanation: str
    keep: str
    refusal: str

    @property
    def allowed(self) -> bool:
        """Whether this user may do it now."""
        return not self.refusal

    @property
    def grave(self) -> bool:
        """Whether it takes something away and needs a reason."""
        return self.action in GRAVE


def offers(release: Release, powers: Powers, seen: Review) -> tuple[Offer, ...]:
    """The actions that start from the release's state."""
    return tuple(
        _offer(action, release, _refusal(action, release, powers, seen))
        for action in ACTIONS
        if release.state in STARTS_FROM[action] and not (action == "approve" and _holds(release, seen))
    )


def _holds(release: Release, seen: Review) -> bool:
    """Whether the release is approved and its approvals are not void."""
    return release.state == State.APPROVED and len(seen.approvals) >= seen.needs.approvals


def why_not(found: tuple[Offer, ...]) -> tuple[str, ...]:
    """The reasons why actions are shut, each once; beside open ones those of the main step alone."""
    told = [offer for offer in found if offer.refusal]
    if any(offer.allowed for offer in found):
        told = [offer for offer in told if offer.action in MAIN]
    return tuple(dict.fromkeys(offer.refusal for offer in told))


def is_open(release: Release) -> bool:
    """Whether anything can still happen to the release by itself."""
    return release.state in {State.PROPOSED, State.APPROVED, State.CANARY, State.LIVE}


def _refusal(action: str, release: Release, powers: Powers, seen: Review) -> str:
    told = {"team": release.skill.team.name, "environment": release.environment.title}
    if action in {"approve", "reject"}:
        if action == "approve" and any(one.user_id == powers.user_id for one in seen.approvals):
            return _("You have approved it; another approver has to as well.")
        return why_not_decide(release, powers)
    if action == "withdraw":
        allowed = powers.may_withdraw(release)
        return "" if allowed else _("Withdrawing needs the role publisher in %(team)s.") % told
    if action in {"halt", "rollback"}:
        allowed = powers.may_stop(release)
        text = _("Stopping it needs an approver for %(environment)s or a publisher in %(team)s.")
        return "" if allowed else text % told
    return _why_not_serve(action, release, powers, seen)


def _why_not_serve(action: str, release: Release, powers: Powers, seen: Review) -> str:
    if not powers.may_start(release):
        return why_not_decide(release, powers)
    if release.state in VOIDED and len(seen.approvals) < seen.needs.approvals:
        return VOIDED[State(release.state)]
    if seen.shut:
        return _("A gate is shut: %(gates)s.") % {"gates": " ".join(gate.detail for gate in seen.shut)}
    return ""


def _offer(action: str, release: Release, refusal: str) -> Offer:
    told = {
        "version": release.version.version,
        "environment": release.environment.title,
        "skill": release.skill.name,
        "before": release.previous.version if release.previous else "",
        "percent": release.percent,
    }
    title, question, explanation, keep = (text % told for text in _texts(action, release))
    return Offer(action, title, question, explanation, keep, refusal)


def _texts(action: str, release: Release) -> tuple[str, str, str, str]:
    """Button, heading of the dialog, its explanation, and the button that changes nothing."""
    if action == "approve":
        return (
            _("Approve %(version)s for %(environment)s"),
            _("Approve %(skill)s %(version)s for %(environment)s?"),
            _("Your approval is for these bytes, this declaration and this environment."),
            _("Not yet"),
        )
    if action == "reject":
        return (
            _("Reject %(version)s"),
            _("Reject %(skill)s %(version)s?"),
            _("It closes the proposal for good. Its proposer reads the reason."),
            _("Keep the proposal"),
        )
    if action == "withdraw":
        return (
            _("Withdraw the proposal"),
            _("Withdraw %(skill)s %(version)s?"),
            _("It closes the proposal. The version can be proposed again."),
            _("Keep the proposal"),
        )
    return _texts_of_serving(action, release)


def _texts_of_serving(action: str, release: Release) -> tuple[str, str, str, str]:
    if action == "start":
        return (
            _("Start %(version)s in %(environment)s"),
            _("Serve %(skill)s %(version)s in %(environment)s?"),
            _("Agents see it at their next poll. Less than 100 %% starts a canary."),
            _("Not yet"),
        )
    if action == "advance":
        return (
            _("Change the canary's share"),
            _("How many callers get %(version)s?"),
            _("%(percent)s %% do now. At 100 %% it is live and replaces the version before."),
            _("Keep %(percent)s %%"),
        )
    if action == "halt":
        return (
            _("Halt the canary"),
            _("Halt the canary of %(version)s?"),
            _("Every caller gets the live version again at the next poll."),
            _("Keep the canary"),
        )
    if release.previous:
        return (
            _("Roll back to %(before)s"),
            _("Roll back to %(skill)s %(before)s?"),
            _("%(version)s is taken out of %(environment)s; new sessions get %(before)s at the next poll."),
            _("Keep %(version)s"),
        )
    return (
        _("Take %(version)s out"),
        _("Take %(skill)s out of %(environment)s?"),
        _(
            "No version was live before %(version)s: agents in %(environment)s lose the skill at the next poll."
        ),
        _("Keep %(version)s"),
    )
