"""What the buttons and dialogs say about each action on a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.clearance import Gate
from catalog.models import Release


@dataclass(frozen=True, slots=True)
class Texts:
    """A button, the heading and the explanation of its dialog, and the button that changes nothing."""

    title: str
    question: str
    explanation: str
    keep: str


def texts_of(action: str, release: Release, gate: Gate | None = None) -> Texts:
    """The words for one action on the release; `gate` is the one to be overridden."""
    told = {
        "version": release.version.version,
        "environment": release.environment.title,
        "skill": release.skill.name,
        "before": release.previous.version if release.previous else "",
        "percent": release.percent,
        "gate": gate_title(gate.name) if gate else "",
        "detail": gate.detail if gate else "",
    }
    key = "take_out" if action == "rollback" and not release.previous else action
    return Texts(*(str(text) % told for text in _TEXTS[key]))


def gate_title(name: str) -> str:
    """A gate as people call it."""
    return str(_GATES.get(name, name))


_GATES: Mapping[str, Promise] = {
    "permissions": _("Permissions"),
    "risk": _("Risk"),
    "stability": _("Stability"),
    "idempotency": _("Side effects"),
    "evaluation": _("Evaluation"),
    "dependencies": _("Dependencies"),
}
# action → button, heading, explanation, and the button that changes nothing
_TEXTS: Mapping[str, tuple[Promise, Promise, Promise, Promise]] = {
    "approve": (
        _("Approve %(version)s for %(environment)s"),
        _("Approve %(skill)s %(version)s for %(environment)s?"),
        _("Your approval is for these bytes, this declaration and this environment."),
        _("Not yet"),
    ),
    "reject": (
        _("Reject %(version)s"),
        _("Reject %(skill)s %(version)s?"),
        _("It closes the proposal for good. Its proposer reads the reason."),
        _("Keep the proposal"),
    ),
    "withdraw": (
        _("Withdraw the proposal"),
        _("Withdraw %(skill)s %(version)s?"),
        _("It closes the proposal. The version can be proposed again."),
        _("Keep the proposal"),
    ),
    "start": (
        _("Start %(version)s in %(environment)s"),
        _("Serve %(skill)s %(version)s in %(environment)s?"),
        _("Agents see it at their next poll. Less than 100 %% starts a canary."),
        _("Not yet"),
    ),
    "advance": (
        _("Change the canary's share"),
        _("How many callers get %(version)s?"),
        _("%(percent)s %% do now. At 100 %% it is live and replaces the version before."),
        _("Keep %(percent)s %%"),
    ),
    "resume": (
        _("Resume the canary"),
        _("Serve %(skill)s %(version)s in %(environment)s again?"),
        _("It was halted at %(percent)s %%. The callers who had it get it again at their next poll."),
        _("Keep it halted"),
    ),
    "halt": (
        _("Halt the canary"),
        _("Halt the canary of %(version)s?"),
        _("Every caller gets the live version again at the next poll. It can be resumed."),
        _("Keep the canary"),
    ),
    "rollback": (
        _("Roll back to %(before)s"),
        _("Roll back to %(skill)s %(before)s?"),
        _("%(version)s is taken out of %(environment)s; new sessions get %(before)s at the next poll."),
        _("Keep %(version)s"),
    ),
    "take_out": (
        _("Take %(version)s out"),
        _("Take %(skill)s out of %(environment)s?"),
        _(
            "No version was live before %(version)s: agents in %(environment)s lose the skill at the next poll."
        ),
        _("Keep %(version)s"),
    ),
    "override": (
        _("Override the gate %(gate)s"),
        _("Answer for the gate %(gate)s?"),
        _(
            "%(detail)s Your name and your reason stand beside the gate for ever. "
            "It counts as open until what it saw, the policy or the risk changes."
        ),
        _("Leave it shut"),
    ),
    "break_glass": (
        _("Break the glass"),
        _("Serve %(skill)s %(version)s to everyone in %(environment)s at once?"),
        _(
            "It goes live without the approvals it lacks and past every shut gate but permissions and risk. "
            "Every approver and administrator is told, and this page says so for ever."
        ),
        _("Leave it as it is"),
    ),
}
