"""What can be done with a version after it is published, by this user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from catalog import lifecycle
from catalog.access import Powers
from catalog.models import SERVED, Release, Version

ACTS: dict[str, Callable[..., Version]] = {
    "deprecate": lifecycle.deprecate,
    "yank": lifecycle.yank,
    "revoke": lifecycle.revoke,
}


@dataclass(frozen=True, slots=True)
class Act:
    """One action: what its button says, what its dialog asks and explains, and how to leave it."""

    action: str
    title: str
    question: str
    explanation: str
    keep: str
    grave: bool


def acts_of(version: Version, powers: Powers) -> tuple[Act, ...]:
    """The actions that this user may take now; none is taken back."""
    return tuple(
        act for action in ACTS if may_act(action, version, powers) for act in [act_of(action, version)]
    )


def may_act(action: str, version: Version, powers: Powers) -> bool:
    """Whether the user may take the action, and it is not taken yet."""
    if action == "revoke":
        return powers.is_admin and version.revoked_at is None
    taken = {"deprecate": version.deprecated_at, "yank": version.yanked_at}[action]
    return powers.may_publish(version.skill.team) and taken is None and version.revoked_at is None


def act_of(action: str, version: Version) -> Act:
    """The words of an action."""
    told = {"skill": version.skill.name, "version": version.version}
    if action == "deprecate":
        return Act(
            action,
            _("Deprecate"),
            _("Deprecate %(skill)s %(version)s?") % told,
            _("Agents still get it, and are told that it is to be left. It cannot be undone."),
            _("Keep it as it is"),
            grave=False,
        )
    if action == "yank":
        return Act(
            action,
            _("Yank"),
            _("Yank %(skill)s %(version)s?") % told,
            _("New sessions do not get it; sessions that hold it keep it. It cannot be undone."),
            _("Keep it served"),
            grave=True,
        )
    return Act(
        action,
        _("Revoke"),
        _("Revoke %(skill)s %(version)s everywhere?") % told,
        _("For malware: nobody gets it any more, pinned sessions included. It cannot be undone."),
        _("Keep it"),
        grave=True,
    )


def served_in(version: Version) -> list[str]:
    """Where the version is live or a canary: the titles of the environments, in their order."""
    releases = Release.objects.filter(version=version, state__in=SERVED)
    return list(releases.order_by("environment__order").values_list("environment__title", flat=True))


def what_was_done(action: str, version: Version) -> str:
    """The outcome in a sentence."""
    told = {"skill": version.skill.name, "version": version.version}
    texts = {
        "deprecate": _("%(skill)s %(version)s is deprecated."),
        "yank": _("%(skill)s %(version)s is yanked."),
        "revoke": _("%(skill)s %(version)s is revoked."),
    }
    return texts[action] % told
