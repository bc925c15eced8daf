"""Two versions beside each other, for the compare page and its endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from django.db.models import FilteredRelation, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext as _

from catalog.models import Skill, State, Version
from portal import access
from portal.access import NotFound


@dataclass(frozen=True, slots=True)
class Rival:
    """A version that another one is worth comparing with, and the titles of the environments it is live in."""

    version: str
    live_in: tuple[str, ...]


def rivals_of(version: Version) -> tuple[Rival, ...]:
    """The version below and all that are live, without the version itself; in one query.

    Those below come first, the nearest before the others.
    """
    below = _lower(version.skill, version).values("pk")[:1]
    live = FilteredRelation("releases", condition=Q(releases__state=State.LIVE))
    rows = (
        version.skill.versions.exclude(pk=version.pk)
        .annotate(live=live)
        .filter(Q(pk__in=Subquery(below)) | Q(live__isnull=False))
        .annotate(above=Q(precedence__gt=version.precedence))
        .order_by("above", "-precedence", "live__environment__order")
        .values_list("version", "live__environment__title")
    )
    return tuple(
        Rival(number, tuple(title for _number, title in group if title))
        for number, group in groupby(rows, key=itemgetter(0))
    )


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
        before = _lower(skill, after).first()
    for version in (before, after):
        if version is not None:
            version.skill = skill
    return before, after


def _lower(skill: Skill, version: Version) -> QuerySet[Version]:
    """The versions below that can be compared, the nearest first."""
    lower = skill.versions.filter(precedence__lt=version.precedence, revoked_at=None)
    return lower.order_by("-precedence")


def _named(request: HttpRequest, skill: Skill, key: str) -> Version | None:
    number = request.GET.get(key, "").strip()
    return access.version_read(request, skill.folder, number) if number else None
