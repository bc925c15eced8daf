"""Durations, places in a page, and masked payloads as the pages show them."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from hashlib import sha256
from math import ceil
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext

from catalog.bundles.characters import shown
from governance.models import Call
from portal.mending import HEADS

register = template.Library()

LONGEST_PAYLOAD = 64 * 1024
_MASK = re.compile(r"\[([A-Z_]+·[0-9a-f]{4})\]")
_TICKED = re.compile(r"`([^`\n]+)`")
_LINES = re.compile(r"([\n\t])")


@register.filter
def duration(ms: float | None) -> str:
    """Milliseconds as people read them: 840 ms, 3.92 s, 2 min 5 s, 3 h 12 min."""
    if ms is None:
        return "–"
    if ms < 1000:
        return gettext("%(n)d ms") % {"n": ms}
    if ms < 60_000:
        return gettext("%(n).2f s") % {"n": ms / 1000}
    minutes, seconds = divmod(round(ms / 1000), 60)
    if minutes < 60:
        return gettext("%(m)d min %(s)d s") % {"m": minutes, "s": seconds}
    return gettext("%(h)d h %(m)d min") % {"h": minutes // 60, "m": minutes % 60}


@register.filter
def waited(moment: datetime | None) -> str:
    """How long ago a moment is, in its largest unit: just now, 40 min, 17 h, 2 days."""
    if moment is None:
        return "–"
    return _span((timezone.now() - moment).total_seconds())


@register.filter
def remaining(moment: datetime | None) -> str:
    """How long until a moment, in its largest unit, rounded up: a token for 90 days has 90 to go."""
    if moment is None:
        return "–"
    seconds = max((moment - timezone.now()).total_seconds(), 1)
    unit = 86400 if seconds > 48 * 3600 else 3600 if seconds > 3600 else 60
    return _span(ceil(seconds / unit) * unit)


@register.filter
def expires_soon(moment: datetime) -> bool:
    """Whether a moment is less than a week away."""
    return moment - timezone.now() < timedelta(days=7)


def _span(seconds: float) -> str:
    if seconds < 60:
        return gettext("just now")
    if seconds < 3600:
        return gettext("%(n)d min") % {"n": seconds // 60}
    if seconds < 48 * 3600:
        return gettext("%(n)d h") % {"n": seconds // 3600}
    days = int(seconds // 86400)
    return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}


@register.filter
def anchor(path: str) -> str:
    """A name for the id of an element that a path can be linked to by."""
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@register.filter
def head_field(path: str) -> str:
    """The field of an editor that holds the head of a bundle, or "" for any other file."""
    return next((name for name, paths in HEADS.items() if path in paths), "")


@register.filter
def below(path: str, folder: str) -> str:
    """The path as it reads inside its first folder."""
    return path.removeprefix(f"{folder}/") if folder else path


@register.filter
def masked(text: object) -> SafeString:
    """Text with each mask set apart; anything hidden in it is spelled out."""
    plain = "".join(
        part if part in "\n\t" else shown(part, len(part)) for part in _LINES.split(str(text or ""))
    )
    return mark_safe(_MASK.sub(r'<span class="mask">\1</span>', escape(plain)))  # noqa: S308 (escaped just before)


@register.filter
def ticked(text: object) -> SafeString:
    """Text in which what stands between backticks is set as code."""
    return mark_safe(_TICKED.sub(r"<code>\1</code>", escape(str(text or ""))))  # noqa: S308 (escaped just before)


@register.filter
def payload(value: Any) -> SafeString:
    """A masked payload as indented JSON, cut where it is very long."""
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
    if len(text) > LONGEST_PAYLOAD:
        text = text[:LONGEST_PAYLOAD] + "\n" + gettext("… cut here; the API gives the whole")
    return masked(text)


@register.filter
def oneline(value: Any) -> SafeString:
    """A masked value on one line: text as it is, anything else as JSON."""
    return masked(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)[:500]
    )


@register.filter
def tokens_of(call: Call) -> int:
    """What a call cost in tokens, in and out; what was not reported counts as none."""
    return (call.input_tokens or 0) + (call.output_tokens or 0)
