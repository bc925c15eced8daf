"""A notice in words: one sentence for each verb, and the page that it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext, gettext_lazy

from catalog.models import Role, State
from governance.happenings import Crowd, Happening
from governance.masks import masker
from governance.models import Notice

LONGEST_REASON = 500


def told_of(happening: Happening, crowd: Crowd) -> dict[str, Any]:
    """What the sentence names, as the notice keeps it. What people typed is masked, and cut."""
    entry, release, skill = happening.entry, happening.release, happening.skill
    doer = crowd.names.get(entry.actor)
    told: dict[str, Any] = {
        "actor": str(doer) if doer else "" if entry.actor in {"system", "nobody"} else entry.actor,
        "skill": skill.name if skill else "",
        "version": _version(happening),
        "environment": happening.environment.title if happening.environment else "",
        "reason": _masked(happening.said("reason")),
    }
    if release:
        told |= {"state": happening.said("state"), "percent": happening.after.get("percent")}
    if happening.appeal:
        told |= {"appeal": str(happening.appeal.pk), "code": happening.appeal.code}
    if entry.verb.startswith(("grant.", "delegation.", "skill.")):
        told |= {key: happening.said(key) for key in _NAMED if happening.said(key)}
    if entry.verb.startswith("grant.") and happening.is_own:
        told["own"] = True
    if entry.verb.startswith("user."):
        told |= _person(happening, crowd)
    return told


def _person(happening: Happening, crowd: Crowd) -> dict[str, str]:
    """The account that the entry is about."""
    username = happening.entry.target.removeprefix("user ")
    person = crowd.names.get(username)
    return {"username": username, "person": str(person or username), "id": str(person.pk) if person else ""}


_NAMED = ("role", "team", "environment", "giver", "taker", "owner", "fallback", "starts_at", "ends_at")


def _version(happening: Happening) -> str:
    if happening.release:
        return happening.release.version.version
    if happening.appeal:
        return happening.appeal.version.version
    return happening.entry.target.partition(" ")[2] if happening.entry.verb.startswith("version.") else ""


def _masked(text: str) -> str:
    """What somebody typed, without personal data and secrets."""
    masked: str = masker().mask_text(text[: LONGEST_REASON * 4]).value
    return masked if len(masked) <= LONGEST_REASON else masked[:LONGEST_REASON] + "…"


def sentence(notice: Notice) -> str:
    """What happened, in one sentence on one line."""
    told: Mapping[str, Any] = notice.told
    words = {name: " ".join(str(value).split()) for name, value in told.items()}
    words["actor"] = words.get("actor") or gettext("The scheduler")
    if told.get("role") in Role.values:
        words["role"] = str(Role(told["role"]).label)
    text = _text(notice.verb, told)
    return text % _Words(words) if text else f"{notice.verb} {words.get('skill', '')}".strip()


class _Words(dict[str, str]):
    """A word that a notice does not hold is a dash."""

    def __missing__(self, name: str) -> str:
        return "–"


def _text(verb: str, told: Mapping[str, Any]) -> str:
    if verb in {"release.start", "release.advance", "release.resume"} and told.get("state") == State.CANARY:
        verb = f"{verb}.canary"
    if verb == "skill.degrade" and told.get("fallback"):
        verb = "skill.degrade.fallback"
    if verb.startswith("grant."):
        verb = f"{verb}.own" if told.get("own") else verb
        verb = f"{verb}.team" if told.get("team") else verb
    text = TEXTS.get(verb)
    return str(text) if text else ""


TEXTS: Mapping[str, Any] = {
    "release.propose": gettext_lazy(
        "%(actor)s proposes %(skill)s %(version)s for %(environment)s; it waits for your decision."
    ),
    "release.approve": gettext_lazy("%(skill)s %(version)s is approved for %(environment)s."),
    "release.reject": gettext_lazy("%(actor)s rejected %(skill)s %(version)s for %(environment)s."),
    "release.expire": gettext_lazy(
        "The proposal of %(skill)s %(version)s for %(environment)s has expired; nobody decided in time."
    ),
    "release.withdraw": gettext_lazy("%(actor)s withdrew %(skill)s %(version)s for %(environment)s."),
    "release.start": gettext_lazy("%(skill)s %(version)s is live in %(environment)s, by %(actor)s."),
    "release.start.canary": gettext_lazy(
        "%(actor)s started %(skill)s %(version)s in %(environment)s as a canary at %(percent)s %%."
    ),
    "release.advance": gettext_lazy("%(skill)s %(version)s is live in %(environment)s, by %(actor)s."),
    "release.advance.canary": gettext_lazy(
        "%(actor)s moved the canary of %(skill)s %(version)s in %(environment)s to %(percent)s %%."
    ),
    "release.halt": gettext_lazy("%(actor)s halted the canary of %(skill)s %(version)s in %(environment)s."),
    "release.hold": gettext_lazy(
        "The canary of %(skill)s %(version)s in %(environment)s did not take its next step."
    ),
    "release.resume": gettext_lazy("%(skill)s %(version)s is live in %(environment)s, by %(actor)s."),
    "release.resume.canary": gettext_lazy(
        "%(actor)s resumed the canary of %(skill)s %(version)s in %(environment)s at %(percent)s %%."
    ),
    "release.rollback": gettext_lazy("%(actor)s rolled %(skill)s %(version)s back in %(environment)s."),
    "release.override": gettext_lazy(
        "%(actor)s answered for a shut gate of %(skill)s %(version)s in %(environment)s."
    ),
    "release.break_glass": gettext_lazy(
        "%(actor)s broke the glass: %(skill)s %(version)s is live in %(environment)s without what it lacks."
    ),
    "version.yank": gettext_lazy("%(actor)s yanked %(skill)s %(version)s."),
    "version.revoke": gettext_lazy("%(actor)s revoked %(skill)s %(version)s."),
    "version.deprecate": gettext_lazy("%(actor)s deprecated %(skill)s %(version)s."),
    "skill.degrade": gettext_lazy("%(actor)s switched %(skill)s off in %(environment)s."),
    "skill.degrade.fallback": gettext_lazy(
        "%(actor)s switched %(skill)s off in %(environment)s; %(fallback)s stands in."
    ),
    "skill.restore": gettext_lazy("%(actor)s switched %(skill)s on again in %(environment)s."),
    "skill.transfer": gettext_lazy("%(actor)s moved %(skill)s to the team %(team)s."),
    "skill.delete": gettext_lazy("%(actor)s deleted %(skill)s."),
    "skill.settle": gettext_lazy("%(actor)s changed who owns %(skill)s: now %(owner)s."),
    "appeal.make": gettext_lazy(
        "%(actor)s appeals %(code)s in %(skill)s %(version)s; it waits for your decision."
    ),
    "appeal.grant": gettext_lazy("%(actor)s granted your appeal of %(code)s in %(skill)s %(version)s."),
    "appeal.refuse": gettext_lazy("%(actor)s refused your appeal of %(code)s in %(skill)s %(version)s."),
    "grant.create": gettext_lazy("%(actor)s gave you the role %(role)s for all teams."),
    "grant.create.team": gettext_lazy("%(actor)s gave you the role %(role)s in the team %(team)s."),
    "grant.remove": gettext_lazy("%(actor)s took the role %(role)s for all teams from you."),
    "grant.remove.team": gettext_lazy("%(actor)s took the role %(role)s in the team %(team)s from you."),
    "grant.create.own": gettext_lazy("%(actor)s gave themselves the role %(role)s for all teams."),
    "grant.create.own.team": gettext_lazy(
        "%(actor)s gave themselves the role %(role)s in the team %(team)s."
    ),
    "grant.remove.own": gettext_lazy("%(actor)s gave up the role %(role)s for all teams."),
    "grant.remove.own.team": gettext_lazy("%(actor)s gave up the role %(role)s in the team %(team)s."),
    "user.link": gettext_lazy(
        "%(actor)s made a link by which a password for the account of %(person)s is chosen."
    ),
    "user.password": gettext_lazy("A password for the account of %(person)s was chosen by a link."),
    "delegation.create": gettext_lazy("%(giver)s lends rights of an approver to %(taker)s."),
    "delegation.end": gettext_lazy("The loan of rights from %(giver)s to %(taker)s has ended."),
}


def path_of(notice: Notice) -> str:
    """The address of the page that the notice is about; "" where there is none (any more)."""
    told = notice.told
    if notice.verb.startswith(("grant.", "delegation.")):
        return reverse("profile")
    if notice.verb.startswith("user."):
        return _account(notice)
    if not told.get("skill") or notice.verb == "skill.delete":
        return ""
    try:
        if notice.release_id:
            return reverse("release-detail", args=[notice.release_id])
        if told.get("appeal"):
            return reverse("appeal-detail", args=[told["appeal"]])
        if told.get("version"):
            return reverse("version-detail", args=[told["skill"], told["version"]])
        return reverse("skill-detail", args=[told["skill"]])
    except NoReverseMatch:  # a name of an entry that somebody tampered with
        return ""


def _account(notice: Notice) -> str:
    """One's own profile, and for administrators the page of the person."""
    if notice.told.get("id") == str(notice.user_id):
        return reverse("profile")
    try:
        return reverse("person-detail", args=[notice.told["username"]])
    except (KeyError, NoReverseMatch):
        return ""
