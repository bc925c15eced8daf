"""The inbox: what waits for this user."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from portal import access
from portal.fragments import render_part
from portal.waiting import inbox_of


@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """Releases to decide and to start, and the user's own on their way; asked for again each minute."""
    powers = access.powers(request)
    return render_part(
        request, "approvals/inbox.html", "inbox", {"inbox": inbox_of(powers), "powers": powers}
    )
