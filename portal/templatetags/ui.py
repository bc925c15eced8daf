"""Small marks of the pages: icons, times, digests, form controls."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import template
from django.forms import BoundField
from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from catalog.models import Environment

register = template.Library()


@register.simple_tag
def icon(name: str, small: bool = False) -> SafeString:
    """An icon of `includes/icons.html`; hidden from screen readers, so a word goes with it."""
    return format_html(
        '<svg class="icon{}" aria-hidden="true"><use href="#i-{}"/></svg>', " icon--sm" if small else "", name
    )


@register.simple_tag
def when(moment: datetime | None, *, inside: bool = False, clock: bool = True) -> SafeString | str:
    """A moment as people say it: today and yesterday in words, else the date; the year where it differs.

    `inside` a sentence it has no capital; without `clock` an older one is the date alone.
    """
    if not moment:  # a template gives "" for what is not there
        return "–"
    local, now = timezone.localtime(moment), timezone.localtime()
    time = formats.date_format(local, "H:i")
    if local.date() == now.date():
        told = (gettext("today %(time)s") if inside else gettext("Today %(time)s")) % {"time": time}
    elif local.date() == now.date() - timedelta(days=1):
        told = (gettext("yesterday %(time)s") if inside else gettext("Yesterday %(time)s")) % {"time": time}
    elif local.year == now.year:
        told = formats.date_format(local, "j M") + (f" {time}" if clock else "")
    else:
        told = formats.date_format(local, "j M Y")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        formats.date_format(local, "j F Y, H:i:s e"),
        told,
    )


@register.filter
def short_sha(digest: str) -> str:
    """The ends of a digest; the whole one belongs into a title or a copy button beside it."""
    return f"{digest[:8]}…{digest[-4:]}" if len(digest) > 16 else digest


@register.filter
def initials(name: str) -> str:
    """Up to two letters for an avatar: Mara Lindqvist → ML."""
    words = str(name).split()
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()


@register.filter
def short_title(environment: Environment) -> str:
    """The title of an environment where room is scarce."""
    known = {"development": gettext("Dev"), "staging": gettext("Stg"), "production": gettext("Prod")}
    return known.get(environment.name, environment.title[:6])


@register.filter
def as_input(field: BoundField) -> SafeString:
    """The control of a form field in the house look."""
    return field.as_widget(attrs={"class": "input"})
