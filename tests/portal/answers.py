"""Reading answers in the tests of pages."""

from __future__ import annotations

from django.http import HttpResponse

HTMX = {"HX-Request": "true"}


def text_of(answer: HttpResponse) -> str:
    """The answer's text with its white space made even."""
    return " ".join(answer.content.decode().split())
