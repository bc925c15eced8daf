"""What to look for among the calls."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.models import Environment
from governance.models.traces import Outcome, Stage
from portal.tracing import Asked


class MomentInput(forms.DateTimeInput):
    """The browser's own field for day and time."""

    input_type = "datetime-local"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%dT%H:%M")


class TraceFilter(forms.Form):
    """The filters of the list of calls; each may stay empty."""

    use_required_attribute = False

    q = forms.CharField(
        label=_("Trace id, skill, error or intent"),
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.all(),
        to_field_name="name",
        required=False,
        empty_label=_("Any environment"),
    )
    outcome = forms.ChoiceField(
        label=_("Outcome"), required=False, choices=[("", _("Any outcome")), *Outcome.choices]
    )
    stage = forms.ChoiceField(
        label=_("Failed stage"), required=False, choices=[("", _("Any stage")), *Stage.choices]
    )
    skill = forms.CharField(label=_("Skill"), required=False, max_length=200)
    agent = forms.CharField(label=_("Agent"), required=False, max_length=64)
    since = forms.DateTimeField(label=_("From"), required=False, widget=MomentInput())
    until = forms.DateTimeField(label=_("To"), required=False, widget=MomentInput())

    def asked(self) -> Asked:
        """What the fields ask for; one that is not valid asks for nothing."""
        self.full_clean()
        sent = self.cleaned_data
        environment = sent.get("environment")
        return Asked(
            text=sent.get("q", ""),
            skill=sent.get("skill", ""),
            environment=environment.name if environment else "",
            agent=sent.get("agent", ""),
            outcome=sent.get("outcome", ""),
            stage=sent.get("stage", ""),
            since=sent.get("since"),
            until=sent.get("until"),
        )
