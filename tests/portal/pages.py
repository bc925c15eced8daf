"""What the tests of pages share: asking as htmx does, and reading the answer."""

from __future__ import annotations

import re

from django.test import Client

from catalog.models import User

HTMX = {"HX-Request": "true"}


def signed_in(user: User) -> Client:
    """A client with the user's session."""
    client = Client()
    client.force_login(user)
    return client


def links(html: str) -> list[str]:
    """Every address that the page links to."""
    return re.findall(r'<a [^>]*?href="([^"]*)"', html)


def is_page(html: str) -> bool:
    """Whether this is a whole page, not a part of one."""
    return "<!doctype html>" in html
