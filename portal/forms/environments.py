"""An environment and its policy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from catalog.bundles.bundle import PERMISSIONS
from catalog.models import Confirmation, Environment, Risk, Stability
from catalog.terms import LIMITS, Difference, Terms, terms_of
from governance.policy import STABILITIES
from portal.policies import PERMISSION_WORDS

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Words = str | _StrPromise

LONGEST_OPENED = 4000
# The fields as a page groups them.
GROUPS: tuple[tuple[str, Words, tuple[str, ...]], ...] = (
    (
        "allowed",
        _("What may be served"),
        ("permissions", "highest_risk", "lowest_stability", "needs_idempotency", "needs_evaluation"),
    ),
    (
        "decides",
        _("Who decides"),
        (
            *("approvals_low", "approvals_medium", "approvals_high"),
            *("second_confirmation", "outside_approval", "owner_may_start"),
        ),
    ),
    ("calls", _("Calls by agents"), ("call_confirmation", "script_confirmation")),
    ("times", _("Times"), ("soak_minutes", "retention_days")),
)


def _number(name: str, label: Words, help_text: Words, initial: int) -> forms.IntegerField:
    least, most = LIMITS[name]
    return forms.IntegerField(
        label=label, help_text=help_text, min_value=least, max_value=most, initial=initial
    )


def _switch(label: Words, help_text: Words) -> forms.BooleanField:
    return forms.BooleanField(label=label, help_text=help_text, required=False)


class PolicyForm(forms.Form):
    """Title and policy of an environment; each field says what it does."""

    use_required_attribute = False

    title = forms.CharField(
        label=_("Title"), max_length=60, help_text=_("What people read; the name stays as it is.")
    )
    permissions = forms.MultipleChoiceField(
        label=_("Permissions"),
        choices=[(name, PERMISSION_WORDS[name]) for name in PERMISSIONS],
        required=False,
        initial=PERMISSIONS,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("A skill that declares another one is not served here, and nobody overrides that."),
    )
    highest_risk = forms.ChoiceField(
        label=_("Highest risk"),
        choices=Risk.choices,
        initial=Risk.HIGH.value,
        help_text=_("What is riskier is not served here, and nobody overrides that."),
    )
    lowest_stability = forms.ChoiceField(
        label=_("Lowest stability"),
        choices=[(value, Stability(value).label) for value in STABILITIES],
        initial=Stability.EXPERIMENTAL.value,
        help_text=_(
            "A less stable version stops at a gate. Above experimental, pre-releases stop there as well."
        ),
    )
    needs_idempotency = _switch(
        _("Side effects say whether they repeat"),
        _("A skill that writes or sends, and does not say what a retry does, stops at a gate."),
    )
    needs_evaluation = _switch(
        _("An evaluation is needed"), _("A version without a reported evaluation stops at a gate.")
    )
    approvals_low = _number(
        "approvals_low", _("Approvals, low risk"), _("0: a low-risk proposal goes live at once."), 1
    )
    approvals_medium = _number(
        "approvals_medium", _("Approvals, medium risk"), _("0: a medium-risk proposal goes live at once."), 1
    )
    approvals_high = _number(
        "approvals_high", _("Approvals, high risk"), _("0: a high-risk proposal goes live at once."), 2
    )
    second_confirmation = _switch(
        _("Second confirmation"), _("Approvers of a high-risk release type the skill's name.")
    )
    outside_approval = _switch(
        _("Approvers from outside"), _("Who publishes for the owning team does not approve its releases.")
    )
    owner_may_start = _switch(
        _("Owners start"), _("Publishers of the owning team start and advance what is approved.")
    )
    call_confirmation = forms.ChoiceField(
        label=_("Consent to calls"),
        choices=Confirmation.choices,
        initial=Confirmation.NEVER.value,
        help_text=_("Of which skills agents are told that a call needs a person's consent."),
    )
    script_confirmation = forms.ChoiceField(
        label=_("Consent to scripts"),
        choices=Confirmation.choices,
        initial=Confirmation.NEVER.value,
        help_text=_("The same of scripts that a skill brings along."),
    )
    soak_minutes = _number(
        "soak_minutes",
        _("Minutes of a canary's step"),
        _("A gray release stays at each step at least as long; 43,200 are 30 days."),
        60,
    )
    retention_days = _number(
        "retention_days",
        _("Days that calls are kept"),
        _("What agents reported longer ago is deleted, within an hour and for good."),
        90,
    )

    def terms(self) -> dict[str, Any]:
        """What was sent, as values of a policy."""
        return {name: self.cleaned_data[name] for name in PolicyForm.base_fields}

    def groups(self) -> Iterator[tuple[str, Words, list[BoundField]]]:
        """The fields as the page groups them: a key, a heading, and the fields."""
        for key, heading, names in GROUPS:
            yield key, heading, [self[name] for name in names]


class ChangeForm(PolicyForm):
    """The policy of one environment; `opened` is what it was when the form was opened, `seen` what was previewed."""

    opened = forms.CharField(widget=forms.HiddenInput, max_length=LONGEST_OPENED, required=False)
    seen = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)

    def __init__(self, *args: Any, environment: Environment, **kwargs: Any) -> None:
        terms = editable(environment)
        super().__init__(*args, **{"initial": {**terms, "opened": pack(terms)}, **kwargs})

    def clean_opened(self) -> Terms:
        """What the editor saw; raises ValidationError where that cannot be read."""
        try:
            opened = json.loads(self.cleaned_data["opened"])
        except (ValueError, RecursionError):
            opened = None
        if not isinstance(opened, dict) or set(opened) != set(PolicyForm.base_fields):
            raise ValidationError(_("The form cannot be read; load the page anew."))
        return opened

    def clean(self) -> dict[str, Any]:
        """A fault of a hidden field is one of the whole form."""
        if faults := self.errors.pop("opened", None):
            raise ValidationError(list(faults))
        return self.cleaned_data

    @property
    def digest(self) -> str:
        """A digest of what is to become of what: a preview is of this alone."""
        told = [self.cleaned_data["opened"], self.terms()]
        return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    @property
    def was_previewed(self) -> bool:
        """Whether the editor has been shown what these very values would do."""
        return bool(self.cleaned_data["seen"] == self.digest)


class CreateForm(PolicyForm):
    """A new environment: its name, which is for ever, and its policy."""

    field_order = ("name", "title")

    name = forms.CharField(
        label=_("Name"),
        max_length=32,
        widget=forms.TextInput(attrs={"autocapitalize": "off", "spellcheck": "false"}),
        help_text=_(
            "Of a to z, 0 to 9 and single hyphens. It is never changed: tokens and addresses hold it."
        ),
    )


class RemoveForm(forms.Form):
    """The name of the environment, typed."""

    use_required_attribute = False

    confirm = forms.CharField(label=_("Name of the environment"), required=False, max_length=64)

    def __init__(self, *args: Any, environment: Environment, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "auto_id": "remove-%s"})
        self.environment = environment

    def clean_confirm(self) -> str:
        """The name, as it is written."""
        typed: str = self.cleaned_data["confirm"].strip()
        if typed != self.environment.name:
            raise ValidationError(_("Type %(name)s to confirm.") % {"name": self.environment.name})
        return typed


class MoveForm(forms.Form):
    """One place earlier or later, from the place at which it was seen."""

    earlier = forms.TypedChoiceField(
        choices=[("yes", _("Earlier")), ("no", _("Later"))], coerce=lambda value: value == "yes"
    )
    opened = forms.IntegerField(min_value=0, max_value=32_767)


def editable(environment: Environment) -> dict[str, Any]:
    """Title and policy; the place is changed in the list."""
    terms = terms_of(environment)
    return {name: terms[name] for name in PolicyForm.base_fields}


def pack(terms: Terms) -> str:
    """Terms as a form carries them."""
    return json.dumps(terms, sort_keys=True)


def merge(terms: Terms, opened: Terms, differences: Iterable[Difference]) -> dict[str, Any]:
    """What an editor chose, and where they changed nothing what somebody else has made of it meanwhile."""
    theirs = {one.field: one.after for one in differences if terms[one.field] == opened[one.field]}
    return {**terms, **theirs}
