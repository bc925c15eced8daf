"""Two versions beside each other, for the compare page and its endpoint."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _

from catalog.models import Skill, Version
from portal import access
from portal.access import NotFound


def choose_versions(request: HttpRequest, name: str) -> tuple[Version | None, Version]:
    """The versions that `from` and `to` name.

    Without `to` it is the latest version, without `from` the one below; None where there is none.
    """
    skill = access.skill_read(request, name)
    after = _named(request, skill, "to") or skill.latest or skill.versions.order_by("-precedence").first()
    if after is None:
        raise NotFound(_("%(name)s has no version yet") % {"name": skill.name})
    before = _named(request, skill, "from")
    if before is None:
        lower = skill.versions.filter(precedence__lt=after.precedence, revoked_at=None)
        before = lower.order_by("-precedence").first()
    for version in (before, after):
        if version is not None:
            version.skill = skill
    return before, after


def _named(request: HttpRequest, skill: Skill, key: str) -> Version | None:
    number = request.GET.get(key, "").strip()
    return access.version_read(request, skill.folder, number) if number else None
