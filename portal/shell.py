"""What every page shows around its subject: navigation, environments, account.

The context processor hands templates one `shell`; each part is looked up when a template asks for
it, so that a fragment costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from catalog.access import Powers
from catalog.models import Environment, Role
from catalog.switches import with_switches
from governance.notices import count_unread
from portal import access
from portal.noticeboard import MOST_COUNTED, count_text
from portal.waiting import count_waiting

MOST_SHOWN = 99
# What the names of addresses begin with: pages of a skill, and those on which something is decided.
OF_SKILLS = ("skill-", "version-", "release-list", "release-propose")
OF_DECISIONS = ("inbox", "release-detail", "release-act", "appeal-")


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of the navigation; `count` says how much waits behind it, None where nothing is counted."""

    title: str
    icon: str
    url: str
    current: bool
    count: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Entries of the navigation under one heading."""

    title: str
    links: tuple[Link, ...]


class Shell:
    """The frame of a page for one request; empty where nobody is signed in."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.version = settings.VERSION

    @cached_property
    def signed_in(self) -> bool:
        """Whether there is a user to show a navigation to."""
        user = getattr(self.request, "user", None)
        return user is not None and user.is_authenticated

    @cached_property
    def powers(self) -> Powers:
        """What the user may do."""
        return access.powers(self.request)

    @cached_property
    def environments(self) -> list[Environment]:
        """Every environment, in its order."""
        return list(with_switches(Environment.objects.all())) if self.signed_in else []

    @cached_property
    def environment(self) -> Environment | None:
        """The environment that the user has chosen; None for all."""
        name = self.request.session.get("environment") if self.signed_in else None
        return next((one for one in self.environments if one.name == name), None)

    @property
    def filters_by_environment(self) -> bool:
        """Whether the page is a list that the chosen environment narrows; others show all of them."""
        match = self.request.resolver_match
        return match is not None and match.url_name in {"skill-list", "trace-list"}

    @cached_property
    def roles(self) -> str:
        """The user's roles in words, for the account menu."""
        held = {right.role for right in self.powers.rights}
        return ", ".join(str(role.label) for role in Role if role.value in held)

    @cached_property
    def waiting(self) -> int:
        """How many releases and appeals wait for this user; the page of the inbox knows and says so."""
        return count_waiting(self.powers)

    @property
    def inbox_count(self) -> str:
        """The same as it is shown, counted up to a limit."""
        count = self.waiting
        return "" if not count else f"{MOST_SHOWN}+" if count > MOST_SHOWN else str(count)

    @cached_property
    def unread_count(self) -> int:
        """How many notices the user has not read, counted up to a limit."""
        return count_unread(self.powers, most=MOST_COUNTED)

    @property
    def unread(self) -> str:
        """That number as the bell shows it."""
        return count_text(self.unread_count)

    @cached_property
    def navigation(self) -> tuple[Group, ...]:
        """The groups of links to what the user may use."""
        powers = self.powers
        groups = [(_("Skills"), [self._link(_("Catalog"), "catalog", "skill-list", *OF_SKILLS)])]
        if powers.is_publisher:
            groups[0][1].append(self._link(_("Publish"), "upload", "publish", "publish"))
        if powers.is_approver or powers.is_publisher:
            link = self._link(_("Inbox"), "inbox", "inbox", *OF_DECISIONS, count=self.inbox_count)
            groups.append((_("Review"), [link]))
        if powers.reads_some_traces or powers.is_admin:
            groups.append((_("Observe"), self._observed()))
        if powers.is_admin or powers.is_publisher:
            groups.append((_("Connect"), [self._link(_("Agents"), "agent", "agent-list", "agent-")]))
        groups.append(
            (_("Govern"), [self._link(_("Environments"), "shield", "environment-list", "environment-")])
        )
        if powers.is_admin:
            groups[-1][1].append(self._link(_("Audit log"), "log", "audit-log", "audit-log"))
            groups[-1][1].append(self._link(_("Masking"), "lock", "masking", "masking"))
            groups[-1][1].append(self._link(_("Erasures"), "x", "erasure-list", "erasure-"))
        groups.append((_("Organisation"), self._people()))
        return tuple(Group(title, tuple(links)) for title, links in groups)

    def _observed(self) -> list[Link]:
        """Traces for those who read some; what comes in for administrators too."""
        links = [self._link(_("Telemetry"), "download", "intake", "intake")]
        if self.powers.reads_some_traces:
            links.insert(0, self._link(_("Traces"), "trace", "trace-list", "trace-"))
        return links

    def _people(self) -> list[Link]:
        """Teams for everyone; accounts for administrators; delegations for whoever approves, by a lent right too."""
        links = [self._link(_("Teams"), "users", "team-list", "team-")]
        if self.powers.is_admin:
            links.append(self._link(_("People"), "user", "person-list", "person-"))
        if self.powers.is_approver or self.powers.is_admin:
            links.append(self._link(_("Delegations"), "clock", "delegation-list", "delegation-"))
        return links

    def _link(self, title: str, icon: str, name: str, *prefixes: str, count: str | None = None) -> Link:
        match = self.request.resolver_match
        here = match.url_name if match and match.url_name else ""
        return Link(title, icon, reverse(name), here.startswith(prefixes), count)


def shell_of(request: HttpRequest) -> Shell:
    """The frame of this request's page, for its view and its template alike."""
    known: Shell | None = getattr(request, "shell", None)
    if known is None:
        known = Shell(request)
        request.shell = known  # type: ignore[attr-defined]  # kept with the request, as its powers are
    return known


def shell(request: HttpRequest) -> dict[str, object]:
    """Context processor: the frame of the page as `shell`."""
    return {"shell": shell_of(request)}
