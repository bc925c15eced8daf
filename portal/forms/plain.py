"""Texts that people type for others to read: what is shown is what was typed."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from catalog.bundles.characters import code_point, first_deceptive


def ask_plain(text: str) -> None:
    """Raise ValidationError for a control character, and for one that turns the order of others."""
    if hidden := first_deceptive(text):
        told = _("It holds a hidden control character (%(code)s); leave it out.")
        raise ValidationError(told, code="hidden", params={"code": code_point(hidden)})
