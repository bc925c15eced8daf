"""The search of the top bar: skills by their words, releases by skill or id, traces by id."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from catalog.access import Powers
from catalog.models import Release, Skill
from catalog.visibility import visible_releases, visible_skills
from governance.traces import readable_calls
from portal import access
from portal.fragments import render_part, wants_part
from portal.lanes import OPEN
from portal.listing import Asked, Listing
from portal.tracing import trace_ids_of

FEW, MANY = 5, 50
SHORTEST, SHORTEST_ID = 2, 4


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """A few of each kind below the search field; as a page, more of each."""
    text = request.GET.get("q", "").strip()[:200]
    powers = access.powers(request)
    most = FEW if wants_part(request) else MANY
    context: dict[str, object] = {"text": text, "most": most}
    if len(text) >= SHORTEST or not text.isascii():
        context |= {
            "skills": list(_skills(powers, text)[:most]) if text else [],
            "releases": list(_releases(powers, text)[:most]) if text else [],
            "traces": _traces(powers, text, most),
        }
    return render_part(request, "search/search.html", "results", context)


def _skills(powers: Powers, text: str) -> QuerySet[Skill]:
    listing = Listing(visible_skills(powers), Asked(text=text), environment=None, now=timezone.now())
    return listing.skills().select_related("team", "latest")


def _releases(powers: Powers, text: str) -> QuerySet[Release]:
    """Open releases of a skill by the first word, or any release by its id."""
    words = text.split()
    found = Q(state__in=OPEN) & (Q(skill__name__icontains=words[0]) | Q(skill__folder__icontains=words[0]))
    if len(words) > 1:
        found &= Q(version__version__startswith=words[1])
    with suppress(ValueError):
        found |= Q(pk=UUID(text))
    return (
        visible_releases(powers)
        .filter(found)
        .select_related("skill", "version", "environment")
        .order_by("-changed_at")
    )


def _traces(powers: Powers, text: str, most: int) -> list[str]:
    """Ids of traces that begin with the text."""
    if not powers.reads_some_traces or len(text) < SHORTEST_ID or len(text.split()) != 1:
        return []
    start = Q()
    for stored in trace_ids_of(text):
        if connection.vendor == "sqlite":
            # SQLite uses no index for LIKE; it compares by bytes, so that a range is the same.
            start |= Q(trace_id__gte=stored, trace_id__lt=f"{stored}\U0010ffff")
        else:
            start |= Q(trace_id__startswith=stored)
    ids = readable_calls(powers).filter(start).order_by("trace_id").values_list("trace_id", flat=True)
    return list(ids.distinct()[:most])
