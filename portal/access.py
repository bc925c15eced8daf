"""Fetch a thing, or answer 404 where the user may not see it: one helper for each thing.

What a user may not see and what is not there look the same, so that no name leaks.
"""

from __future__ import annotations

from difflib import get_close_matches
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from catalog.access import NotAllowed, Powers, powers_of
from catalog.delegations import visible_delegations
from catalog.journal import Actor
from catalog.models import (
    Agent,
    Appeal,
    Delegation,
    Environment,
    Release,
    Skill,
    Team,
    Token,
    User,
    Version,
    VersionFinding,
)
from catalog.visibility import visible_agents, visible_releases, visible_skills, visible_versions
from governance.models import Erasure

NEAR_NAMES = 3


class NotFound(Http404):
    """Nothing of that name that the user may see; `near` are names alike, of skills they may see.

    The message is a sentence for the page.
    """

    def __init__(self, message: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.near = near


def powers(request: HttpRequest) -> Powers:
    """What the user of the request may do; read once for each request."""
    held: Powers | None = getattr(request, "powers", None)
    if held is None:
        held = powers_of(request.user)
        request.powers = held  # type: ignore[attr-defined]  # kept with the request, as Django does with its user
    return held


def actor(request: HttpRequest) -> Actor:
    """Who acts in this request and from where, for the journal."""
    user = request.user
    origin = str(request.META.get("REMOTE_ADDR") or "")[:100]
    return Actor(user=user if isinstance(user, User) else None, origin=origin)


def skill_read(request: HttpRequest, name: str) -> Skill:
    """The skill by its name or its folder name."""
    seen = visible_skills(powers(request))
    skill = (
        seen.filter(Q(name=name) | Q(folder=name))
        .select_related("team", "owner", "latest", "latest__publisher")
        .first()
    )
    if skill is None:
        raise NotFound(_("There is no skill called %(name)s") % {"name": name[:100]}, near_names(seen, name))
    return skill


def version_read(request: HttpRequest, name: str, version: str) -> Version:
    """The version of a skill, revoked ones too: their page says what happened."""
    skill = skill_read(request, name)
    found = (
        visible_versions(powers(request))
        .filter(skill=skill, version=version)
        .select_related("artifact", "publisher")
        .first()
    )
    if found is None:
        told = {"name": skill.name, "version": version[:100]}
        raise NotFound(_("There is no version %(version)s of %(name)s") % told)
    found.skill = skill
    return found


def finding_read(request: HttpRequest, name: str, version: str, fingerprint: str) -> VersionFinding:
    """The finding of a version by its fingerprint."""
    row = version_read(request, name, version)
    finding = row.findings.filter(fingerprint=fingerprint).first()
    if finding is None:
        raise NotFound(_("There is no such finding in %(version)s") % {"version": str(row)[:100]})
    finding.version = row
    return finding


def appeal_read(request: HttpRequest, appeal_id: UUID) -> Appeal:
    """The appeal with its version, the skill and the people."""
    appeal = (
        Appeal.objects.filter(pk=appeal_id, version__in=visible_versions(powers(request)))
        .select_related(
            "version__skill__team", "version__skill__latest", "version__skill__owner", "by", "decided_by"
        )
        .first()
    )
    if appeal is None:
        raise NotFound(_("There is no such appeal"))
    return appeal


def release_read(request: HttpRequest, release_id: UUID) -> Release:
    """The release with its skill, version, environment and people."""
    release = (
        visible_releases(powers(request))
        .filter(pk=release_id)
        .select_related(
            "environment", "skill__team", "skill__owner", "version__publisher", "previous", "proposer"
        )
        .first()
    )
    if release is None:
        raise NotFound(_("There is no such release"))
    return release


def agent_read(request: HttpRequest, name: str) -> Agent:
    """The agent by its name, a retired one too: its page says when it ended."""
    seen = visible_agents(powers(request), with_retired=True)
    agent = seen.filter(name=name).select_related("team").first()
    if agent is None:
        raise NotFound(_("There is no agent called %(name)s") % {"name": name[:100]})
    return agent


def environment_read(request: HttpRequest, name: str) -> Environment:
    """The environment by its name; everyone signed in reads every policy."""
    environment = Environment.objects.filter(name=name).first()
    if environment is None:
        known = ", ".join(Environment.objects.values_list("name", flat=True))
        told = {"name": name[:100], "known": known}
        raise NotFound(_("There is no environment called %(name)s; there are %(known)s") % told)
    return environment


def token_read(request: HttpRequest, token_id: UUID) -> Token:
    """A token of the user, or of an agent that they see."""
    managed = visible_agents(powers(request), with_retired=True)
    mine = Q(user=person(request)) | Q(agent__in=managed)
    rows = Token.objects.filter(mine, pk=token_id).select_related("agent__team", "environment", "user")
    token = rows.first()
    if token is None:
        raise NotFound(_("There is no such token"))
    return token


def team_read(slug: str) -> Team:
    """The team by its slug; everybody who is signed in knows the teams."""
    team = Team.objects.filter(slug=slug).first()
    if team is None:
        raise NotFound(_("There is no team called %(name)s") % {"name": slug[:100]})
    return team


def person_read(username: str) -> User:
    """The account by its user name. The caller has asked whether the user may know of it."""
    person = User.objects.filter(username=username).first()
    if person is None:
        raise NotFound(_("There is nobody called %(name)s") % {"name": username[:100]})
    return person


def delegation_read(request: HttpRequest, delegation_id: UUID) -> Delegation:
    """The delegation, of those that the user gave or took."""
    row = visible_delegations(powers(request)).filter(pk=delegation_id).first()
    if row is None:
        raise NotFound(_("There is no such delegation"))
    return row


def erasure_read(erasure_id: UUID) -> Erasure:
    """The erasure. The caller has asked whether the user may know of it."""
    erasure = Erasure.objects.filter(pk=erasure_id).select_related("requested_by").first()
    if erasure is None:
        raise NotFound(_("There is no such erasure"))
    return erasure


def person(request: HttpRequest) -> User:
    """The account that is signed in."""
    if not isinstance(request.user, User):
        raise NotAllowed(_("Sign in first."))
    return request.user


def known_people(most: int) -> list[tuple[str, str]]:
    """User name and name of up to so many people who can sign in, to choose from."""
    people = User.objects.filter(is_active=True).order_by("username")[:most]
    return [(one.username, str(one)) for one in people]


def ask_administrator(request: HttpRequest, refusal: str) -> None:
    """Raise NotAllowed with the refusal for all but administrators."""
    if not powers(request).is_admin:
        raise NotAllowed(refusal)


def near_names(skills: QuerySet[Skill], name: str) -> tuple[str, ...]:
    """Up to three names of these skills that are spelled much like `name`; one bounded query."""
    start = name[:2].lower()
    rows = skills.filter(Q(name__istartswith=start) | Q(name__icontains=name[:32])).order_by("name")
    names = list(rows.values_list("name", flat=True)[:500])
    return tuple(get_close_matches(name.lower(), names, n=NEAR_NAMES, cutoff=0.5))


def may_download(request: HttpRequest, version: Version) -> bool:
    """Whether the user gets the bytes of a version: those of a revoked one go to administrators alone."""
    return version.revoked_at is None or powers(request).is_admin
