"""Texts that people type for others to read: what is shown is what was typed, but for what is masked."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog.bundles.characters import code_point, first_deceptive
from portal.free_text import kinds_in, masked

TOLD = gettext_lazy("E-mail addresses, telephone numbers and secrets are masked.")


def ask_plain(text: str) -> None:
    """Raise ValidationError for a control character, and for one that turns the order of others."""
    if hidden := first_deceptive(text):
        told = _("It holds a hidden control character (%(code)s); leave it out.")
        raise ValidationError(told, code="hidden", params={"code": code_point(hidden)})


def ask_unmasked(text: str) -> None:
    """Raise ValidationError for personal data or a secret in a text that is kept to the letter."""
    if kinds := kinds_in(text):
        told = _("It holds personal data or a secret (%(kinds)s), which is never stored; leave it out.")
        raise ValidationError(told, code="unmasked", params={"kinds": ", ".join(kinds)})


class PlainField(forms.CharField):
    """A note, a reason, a description: plain text, masked before anybody sees it. Its help says so."""

    default_validators = [ask_plain]

    def __init__(self, *, help_text: str | Promise = "", **kwargs: Any) -> None:
        told = format_lazy("{} {}", help_text, TOLD) if help_text else TOLD
        super().__init__(help_text=told, **kwargs)

    def clean(self, value: Any) -> Any:
        """The text as it is kept."""
        return masked(super().clean(value), longest=self.max_length)
