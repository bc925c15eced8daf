"""What came in from agents, and who has never reported."""

from __future__ import annotations

import json
import shlex
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from portal import access
from portal.intake import may_read, telemetry_of


@require_safe
def intake(request: HttpRequest) -> HttpResponse:
    """What the agents that the user may know of have reported."""
    powers = access.powers(request)
    if not may_read(powers):
        return render(request, "intake/intake.html", {"may_read": False}, status=403)
    telemetry = telemetry_of(powers, now=timezone.now())
    address = request.build_absolute_uri(reverse("api-trace-list"))
    context = {
        "may_read": True,
        "telemetry": telemetry,
        "reads_traces": powers.reads_some_traces,
        "lines": _how(address, timezone.now()),
    }
    return render(request, "intake/intake.html", context)


def _how(address: str, now: datetime) -> str:
    """Three lines for a shell that report a call."""
    call = {
        "call_id": "first",
        "skill": "my-skill",
        "outcome": "ok",
        "started_at": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "duration_ms": 12,
    }
    return (
        f"curl {shlex.quote(address)} \\\n"
        '  -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\\n'
        f"  -d {shlex.quote(json.dumps({'calls': [call]}))}"
    )
