"""The inbox: what waits for this user."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from catalog.access import Powers
from catalog.appeals import appeals_made
from catalog.models import Appeal
from portal import access
from portal.fragments import render_part
from portal.shell import shell_of
from portal.waiting import decided_lately, glass_broken, inbox_of, waiting_appeals

MOST_MADE = 20


@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """Releases to decide and to start, the user's own on their way, and appeals; asked for again each minute."""
    powers, now = access.powers(request), timezone.now()
    found, appeals = inbox_of(powers), waiting_appeals(powers)
    shell_of(request).waiting = found.waiting + len(appeals)
    context = {
        "inbox": found,
        "glass": glass_broken(powers, now=now),
        "decided": decided_lately(powers, now=now),
        "appeals": appeals,
        "made": _appeals_made(powers),
        "powers": powers,
    }
    return render_part(request, "approvals/inbox.html", "inbox", context)


def _appeals_made(powers: Powers) -> list[Appeal]:
    """The user's own appeals with what a row shows, answered ones too: nothing else tells of the answer."""
    if not powers.is_publisher:
        return []
    return list(appeals_made(powers).select_related("version__skill", "decided_by")[:MOST_MADE])
