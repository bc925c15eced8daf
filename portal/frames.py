"""The frame around the pages of one skill: its tabs, and what the user may do with it."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from catalog.models import Skill
from catalog.ownership import may_settle
from portal import access


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab: a link that is also an htmx partial."""

    key: str
    title: str
    url: str
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """The tabs of a skill, which one is open, and what the user may do: publish for its team, settle it."""

    tabs: tuple[Tab, ...]
    current: str
    may_publish: bool
    may_settle: bool


def skill_frame(request: HttpRequest, skill: Skill, current: str) -> dict[str, object]:
    """The context of `skills/frame.html`; `current` is overview, files, versions, releases or settings."""
    name, powers = skill.folder, access.powers(request)
    tabs = [
        Tab("overview", _("Overview"), reverse("skill-detail", args=[name])),
        Tab(
            "files",
            _("Files"),
            reverse("version-files", args=[name]),
            skill.latest.file_count if skill.latest else None,
        ),
        Tab("versions", _("Versions"), reverse("version-list", args=[name]), skill.versions.count()),
        Tab("releases", _("Releases"), reverse("release-list", args=[name])),
    ]
    may = may_settle(powers, skill)
    if may:
        tabs.append(Tab("settings", _("Settings"), reverse("skill-settings", args=[name])))
    return {"skill": skill, "frame": Frame(tuple(tabs), current, powers.may_publish(skill.team), may)}
