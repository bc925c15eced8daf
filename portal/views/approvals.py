"""The inbox: what waits for this user."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from portal import access
from portal.fragments import render_part
from portal.waiting import inbox_of, waiting_appeals


@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """Releases to decide and to start, the user's own on their way, and appeals; asked for again each minute."""
    powers = access.powers(request)
    context = {"inbox": inbox_of(powers), "appeals": waiting_appeals(powers), "powers": powers}
    return render_part(request, "approvals/inbox.html", "inbox", context)
