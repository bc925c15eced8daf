"""Reading answers in the tests of pages."""

from __future__ import annotations

import re

from django.http import HttpResponse

HTMX = {"HX-Request": "true"}


def text_of(answer: HttpResponse) -> str:
    """The answer's text with its white space made even."""
    return " ".join(answer.content.decode().split())


def secret_in(text: str) -> str:
    """The token that an answer shows."""
    found = re.search(r"<code>(qm_[\w-]+)</code>", text)
    assert found
    return found[1]
