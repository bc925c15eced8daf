"""What `manage.py check --deploy` says of this installation, beside what Django says."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, register
from django.core.checks import Warning as Warned

SHORTEST_KEY = 32


@register(Tags.security, deploy=True)
def check_masking_key(**_: Any) -> list[CheckMessage]:
    """A short masking key can be found by trying, and then what masks stand for."""
    if len(settings.MASKING_KEY) >= SHORTEST_KEY:
        return []
    return [
        Warned(
            f"MASKING_KEY has fewer than {SHORTEST_KEY} characters.",
            hint="Rotate to a longer one that was drawn at random; docs/masking.md says how.",
            id="portal.W001",
        )
    ]
