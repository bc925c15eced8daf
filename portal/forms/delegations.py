"""Lending an approver's rights."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.models import Environment, Team
from portal.forms.people import PersonField
from portal.forms.skills import ReasonForm


class MomentField(forms.DateTimeField):
    """A date and a time, as browsers send them."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
        errors = {"required": _("Give a date and a time."), "invalid": _("This is no date with a time.")}
        super().__init__(widget=widget, error_messages=errors, **kwargs)


class LendForm(ReasonForm):
    """To whom, what and how long."""

    field_order = ("taker", "team", "environment", "starts_at", "ends_at", "reason")

    taker = PersonField(label=_("To whom (user name)"), max_length=150)
    team = forms.ModelChoiceField(
        label=_("Team"),
        queryset=Team.objects.all(),
        to_field_name="slug",
        required=False,
        empty_label=_("All that I approve for"),
    )
    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.all(),
        to_field_name="name",
        required=False,
        empty_label=_("All that I approve in"),
    )
    starts_at = MomentField(label=_("From (UTC)"), required=False, help_text=_("Empty: now."))
    ends_at = MomentField(label=_("Until (UTC)"), help_text=_("At most 90 days after it begins."))
