"""Whose traces are to be erased, and why.

The value is typed once. A page is never sent back with it, not even where it was wrong; between the two steps its tags
travel, signed for the administrator who typed it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.core import signing
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from governance.erasures import LONGEST_REASON
from governance.subjects import LONGEST_VALUE, NO_VALUE, NoSubject, Subject, read_subject, without_value
from portal.forms.plain import PlainField, ask_plain

SALT = "tags of a subject"
# Time to read what would go.
VALID = timedelta(minutes=30)
LONGEST_PACKED = 20_000


class Unsent(forms.TextInput):
    """An input that is typed into and never filled by us."""

    def format_value(self, value: Any) -> None:
        """Nothing, whatever was sent."""
        return


class _ReasonForm(forms.Form):
    use_required_attribute = False

    reason = PlainField(
        label=_("Reason"),
        required=False,
        max_length=LONGEST_REASON,
        help_text=_("Such as the number of the request; kept in the audit log. Not the value itself."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class SubjectForm(_ReasonForm):
    """The value, typed; `subject` is what it names."""

    field_order = ("value", "reason")

    value = forms.CharField(
        label=_("Value"),
        max_length=LONGEST_VALUE,
        validators=[ask_plain],
        help_text=_(
            "One e-mail address, telephone number, IBAN, card or identity number, IP address or key."
        ),
        widget=Unsent(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}),
        error_messages={"required": NO_VALUE},
    )
    subject: Subject

    def clean_value(self) -> str:
        """Nothing of the value: what it names is in `subject`."""
        try:
            self.subject = read_subject(self.cleaned_data["value"])
        except NoSubject as fault:
            raise ValidationError(str(fault)) from None
        return ""

    def clean_reason(self) -> str:
        """The reason without the value."""
        return without_value(self.cleaned_data["reason"], value=str(self.data.get("value", "")))[
            :LONGEST_REASON
        ]


class EraseForm(_ReasonForm):
    """The tags of the first step, and the reason."""

    tags = forms.CharField(max_length=LONGEST_PACKED, widget=forms.HiddenInput)
    subject: Subject

    def __init__(self, *args: Any, user_id: UUID, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user_id = user_id
        self.fields["reason"].widget = forms.HiddenInput()

    def clean(self) -> dict[str, Any]:
        """Read the tags; they hold for half an hour, and for who asked."""
        self.errors.pop("tags", None)
        try:
            whose, packed = signing.loads(str(self.data.get("tags", "")), salt=SALT, max_age=VALID)
        except signing.BadSignature as fault:
            raise ValidationError(
                _("What you saw is too old, or not yours. Type the value again.")
            ) from fault
        if whose != str(self.user_id):
            raise ValidationError(_("What you saw is too old, or not yours. Type the value again."))
        self.subject = Subject.unpack(packed)
        return self.cleaned_data


def pack(subject: Subject, user_id: UUID) -> str:
    """The tags of a subject to be sent back by this administrator."""
    return signing.dumps([str(user_id), subject.packed()], salt=SALT, compress=True)
