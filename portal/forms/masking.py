"""Rules of masking, their trial, and the switches of built-in kinds."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cached_property
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _

from governance.masking.custom import LONGEST_PATTERN
from governance.masking_rules import LONGEST_DESCRIPTION, LONGEST_SAMPLE, Draft, read_sample
from governance.models import MaskingRule
from portal.forms.plain import PlainField
from portal.forms.skills import ReasonForm

_CODE = {"autocapitalize": "off", "autocomplete": "off", "spellcheck": "false"}
_PARTS = re.compile(r"[,\n]")


class SampleForm(forms.Form):
    """A sample of a payload; it is masked, shown and forgotten."""

    use_required_attribute = False

    sample = forms.CharField(
        label=_("Sample"),
        max_length=LONGEST_SAMPLE,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 7, **_CODE}),
        help_text=_("A text, or JSON. It is masked and shown, and nothing of it is kept."),
        error_messages={"required": _("Paste a sample to try it on.")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "masking-%s", **kwargs})

    @cached_property
    def value(self) -> Any:
        """The sample as a payload would hold it, None where there is none. Of a form that was cleaned."""
        text: str = self.cleaned_data.get("sample") or ""
        return read_sample(text) if text.strip() else None


class RuleForm(SampleForm):
    """A rule with its trial; `opened` is when the rule was last changed when the form was opened."""

    field_order = ("kind", "description", "pattern", "fields_text", "sample", "without_sample", "opened")

    kind = forms.CharField(
        label=_("Kind"),
        max_length=40,
        widget=forms.TextInput(attrs={**_CODE, "autocapitalize": "characters"}),
        help_text=_("What its masks are called, as in [STAFF·7f3a]: 2 to 16 capitals, digits, underscores."),
    )
    description = PlainField(
        label=_("What it finds"), required=False, max_length=LONGEST_DESCRIPTION, help_text=_("For people.")
    )
    pattern = forms.CharField(
        label=_("Pattern"),
        required=False,
        max_length=LONGEST_PATTERN,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2, **_CODE}),
        help_text=_(
            "A regular expression of RE2, without look-around and back-references. A group (?P<value>…) masks that "
            "part alone. Left empty, whole values of the fields below are masked."
        ),
    )
    fields_text = forms.CharField(
        label=_("Only under these fields"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2, **_CODE}),
        help_text=_(
            "Names with commas between; salary_band is also salaryBand and Salary-Band. Numbers are looked at here alone."
        ),
    )
    without_sample = forms.BooleanField(
        label=_("No sample is at hand"),
        required=False,
        help_text=_("Save the rule without having seen it mask anything."),
    )
    opened = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, rule: MaskingRule | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **{"initial": _initial(rule), **kwargs})
        self.fields["sample"].required = False

    def clean_kind(self) -> str:
        """The kind in capitals, as masks spell it."""
        return str(self.cleaned_data["kind"]).strip().upper()

    def clean_pattern(self) -> str:
        """The pattern without the end of a line that a text area adds."""
        return str(self.cleaned_data["pattern"]).strip("\r\n")

    def clean_opened(self) -> datetime | None:
        """When the editor saw it changed last; raises ValidationError where that is no time."""
        text: str = self.cleaned_data["opened"]
        try:
            moment = parse_datetime(text) if text else None
        except ValueError:
            moment = None
        if text and moment is None:
            raise ValidationError(_("The form cannot be read; load the page anew."))
        return moment

    @cached_property
    def draft(self) -> Draft:
        """The rule as it is written. Of a form that is valid."""
        told = self.cleaned_data
        names = dict.fromkeys(name.strip() for name in _PARTS.split(told["fields_text"]) if name.strip())
        return Draft(told["kind"], told["pattern"], tuple(names), told["description"])

    def add_fault(self, name: str, message: str) -> None:
        """Say what is wrong with a field of the rule."""
        known = {"fields": "fields_text"}.get(name, name)
        self.add_error(known if known in self.fields else None, message)


class KindForm(ReasonForm):
    """Why a built-in kind is switched off, or on again."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "auto_id": "kind-%s"})


def _initial(rule: MaskingRule | None) -> dict[str, Any]:
    if rule is None:
        return {}
    return {
        "kind": rule.kind,
        "description": rule.description,
        "pattern": rule.pattern,
        "fields_text": ", ".join(rule.fields),
        "opened": rule.changed_at.isoformat(),
    }
