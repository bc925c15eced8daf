"""Policies of environments in words: a value, a policy in a few sentences, and what is unwise about one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from catalog.bundles.bundle import PERMISSIONS, RISKS
from catalog.models import Confirmation, Environment, Risk, Stability
from catalog.terms import Terms
from governance.retention import MOST_COUNTED

PERMISSION_WORDS: Mapping[str, str | Promise] = {
    "network": gettext_lazy("Reach other computers"),
    "filesystem.read": gettext_lazy("Read files"),
    "filesystem.write": gettext_lazy("Write, change and delete files"),
    "shell": gettext_lazy("Run commands"),
    "secrets": gettext_lazy("Read keys and passwords"),
    "send": gettext_lazy("Send messages to people"),
}
CHOICES: Mapping[str, Mapping[str, str | Promise]] = {
    "highest_risk": dict(Risk.choices),
    "lowest_stability": dict(Stability.choices),
    "call_confirmation": dict(Confirmation.choices),
    "script_confirmation": dict(Confirmation.choices),
}


def say(field: str, value: Any) -> str:
    """The value of a field as people read it."""
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    if field == "permissions":
        return ", ".join(value) or _("None")
    if field == "soak_minutes":
        return ngettext("%(n)d minute", "%(n)d minutes", value) % {"n": value}
    if field == "retention_days":
        return ngettext("%(n)d day", "%(n)d days", value) % {"n": value}
    return str(CHOICES.get(field, {}).get(value, value))


def summarise(environment: Environment) -> list[str]:
    """The policy in a few short sentences: who decides, what is allowed, what is asked for."""
    told = [_approvals(environment)]
    if environment.second_confirmation:
        told.append(_("For high risk the skill's name is typed."))
    if environment.outside_approval:
        told.append(_("Approvers are from outside the owning team."))
    if environment.highest_risk != Risk.HIGH:
        told.append(_("Risk up to %(risk)s.") % {"risk": environment.get_highest_risk_display().lower()})
    if refused := [name for name in PERMISSIONS if name not in environment.permissions]:
        told.append(_("Not allowed: %(names)s.") % {"names": ", ".join(refused)})
    if environment.lowest_stability == Stability.STABLE:
        told.append(_("Stable versions only."))
    elif environment.lowest_stability == Stability.DEPRECATED:
        told.append(_("No experimental versions."))
    if environment.call_confirmation == Confirmation.HIGH:
        told.append(_("Calls of high-risk skills need consent."))
    elif environment.call_confirmation == Confirmation.ALWAYS:
        told.append(_("Every call needs consent."))
    return told


def warn(terms: Terms) -> list[str]:
    """What is unwise about these terms, a sentence each."""
    low, medium, high = (terms[f"approvals_{risk}"] for risk in RISKS)
    told = []
    if terms["highest_risk"] == Risk.HIGH and not high:
        told.append(
            _("High-risk releases need no approval: what a publisher proposes here reaches agents at once.")
        )
    elif terms["highest_risk"] == Risk.HIGH and high < max(low, medium):
        told.append(_("A high-risk release needs fewer approvals than one of lower risk."))
    if terms["second_confirmation"] and not high:
        told.append(_("Nobody types the skill's name, for nobody approves high-risk releases."))
    if not terms["permissions"]:
        told.append(_("No permission is allowed: skills that declare any are not served here."))
    return told


def tell_expiring(count: int) -> str:
    """What becomes of calls that are older than a shorter retention; `count` is theirs, up to MOST_COUNTED."""
    if not count:
        return _("No call here is older than the new retention: nothing is deleted now.")
    if count >= MOST_COUNTED:
        return _(
            "%(n)s calls and more are older than the new retention: they are deleted within an hour, and cannot be "
            "brought back."
        ) % {"n": f"{MOST_COUNTED:,}"}
    return ngettext(
        "%(n)s call is older than the new retention: it is deleted within an hour, and cannot be brought back.",
        "%(n)s calls are older than the new retention: they are deleted within an hour, and cannot be brought back.",
        count,
    ) % {"n": f"{count:,}"}


def _approvals(environment: Environment) -> str:
    counts = [getattr(environment, f"approvals_{risk}") for risk in RISKS]
    if not any(counts):
        return _("No approval is needed.")
    if len(set(counts)) == 1:
        return ngettext("%(n)d approval.", "%(n)d approvals.", counts[0]) % {"n": counts[0]}
    told = dict(zip(RISKS, counts, strict=True))
    return _("Approvals by risk: low %(low)d, medium %(medium)d, high %(high)d.") % told
