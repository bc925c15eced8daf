"""What is asked of who switches a skill off, or on again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from catalog.models import Environment, Skill
from catalog.resolution import folder_of
from portal.access import near_names
from portal.forms.plain import PlainField
from portal.forms.skills import LONGEST_REASON, ReasonForm

LONGEST_NAME = 64


class PlacesForm(forms.Form):
    """In which environments, of those where the user may."""

    use_required_attribute = False

    environments = forms.MultipleChoiceField(
        label=_("Environments"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": _("Tick at least one environment."),
            "invalid_choice": _("This is none of the environments that you can tick."),
        },
    )

    def __init__(self, *args: Any, environments: Sequence[Environment], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.places = {one.name: one for one in environments}
        choices = [(one.name, one.title) for one in environments]
        cast("forms.MultipleChoiceField", self.fields["environments"]).choices = choices

    @property
    def chosen(self) -> list[Environment]:
        """The environments that are ticked. Of a form that is valid."""
        return [self.places[name] for name in self.cleaned_data["environments"]]


class DegradeForm(PlacesForm, ReasonForm):
    """Where, why, and what agents are to use instead."""

    field_order = ("environments", "fallback", "reason")

    fallback = forms.CharField(
        label=_("Fallback"),
        required=False,
        max_length=LONGEST_NAME,
        help_text=_("Another skill that is live there; agents are told to use it instead."),
        widget=forms.TextInput(
            attrs={
                "list": "degrade-live",
                "autocomplete": "off",
                "autocapitalize": "off",
                "spellcheck": "false",
            }
        ),
    )

    def __init__(self, *args: Any, seen: QuerySet[Skill], **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "auto_id": "degrade-%s"})
        self.seen = seen

    def clean_fallback(self) -> Skill | None:
        """The skill of that name that the user sees, None where none is named."""
        name: str = self.cleaned_data["fallback"]
        if not name:
            return None
        skill = self.seen.filter(Q(name=name) | Q(folder=folder_of(name))).first()
        if skill is None:
            near = near_names(self.seen, name)
            told = (
                _("There is no skill %(name)s. Did you mean %(near)s?")
                if near
                else _("There is no skill %(name)s.")
            )
            raise forms.ValidationError(told, params={"name": name, "near": ", ".join(near)})
        return skill


class RestoreForm(PlacesForm):
    """Where, and why if something is to be said."""

    reason = PlainField(
        label=_("Note"),
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("What was mended; it is kept in the audit log."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "auto_id": "restore-%s"})
