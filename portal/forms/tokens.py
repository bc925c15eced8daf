"""Tokens: what a new one is for, and how an old one is replaced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from catalog.models import Environment
from catalog.rotation import LONGEST_OVERLAP, OVERLAP_HOURS
from catalog.tokens import DAYS, LONGEST_DAYS
from portal.forms.plain import PlainField


class DaysField(forms.IntegerField):
    """How long a token lives."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            label=_("Days until it expires"),
            min_value=1,
            max_value=LONGEST_DAYS,
            error_messages={"required": _("Give the days until it expires; every token has an end.")},
            **kwargs,
        )


class TokenForm(forms.Form):
    """A new token: what it is for, what it may do, and for how long."""

    use_required_attribute = False

    name = PlainField(
        label=_("What it is for"),
        required=False,
        max_length=120,
        help_text=_("So that it is known again."),
    )
    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.none(),
        to_field_name="name",
        empty_label=None,
        required=False,
        error_messages={
            "invalid_choice": _("There is no such environment, or you do not manage the agent there.")
        },
    )
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one scope.")},
    )
    days = DaysField(initial=DAYS)

    def __init__(
        self,
        *args: Any,
        scopes: Sequence[str],
        checked: Iterable[str] = (),
        environments: QuerySet[Environment] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        cast("forms.MultipleChoiceField", self.fields["scopes"]).choices = [(name, name) for name in scopes]
        self.initial.setdefault("scopes", list(checked))
        if environments is None:
            del self.fields["environment"]
        else:
            field = cast("forms.ModelChoiceField[Environment]", self.fields["environment"])
            field.queryset, field.required = environments, True


class RotateForm(forms.Form):
    """A new secret in place of an old one: for how long both work, and how long the new one lives."""

    use_required_attribute = False

    overlap_hours = forms.IntegerField(
        label=_("Hours for which the old one works still"),
        min_value=0,
        max_value=LONGEST_OVERLAP,
        initial=OVERLAP_HOURS,
        help_text=_("Time to hand the new one out; 0 ends the old one at once."),
        error_messages={"required": _("Give the hours; 0 ends the old one at once.")},
    )
    days = DaysField()
