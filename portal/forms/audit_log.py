"""What to look for in the audit log, and an earlier head to check it against."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.journal import BadAnchor, read_anchor
from portal.entries import Asked
from portal.forms.traces import MomentInput


class EntryFilter(forms.Form):
    """The filters of the audit log; each may stay empty."""

    use_required_attribute = False

    actor = forms.CharField(label=_("Who"), required=False, max_length=200)
    verb = forms.CharField(
        label=_("What"),
        required=False,
        max_length=64,
        widget=forms.TextInput(attrs={"list": "verbs", "placeholder": "release.approve"}),
    )
    target = forms.CharField(label=_("Of what"), required=False, max_length=300)
    since = forms.DateTimeField(label=_("From"), required=False, widget=MomentInput())
    until = forms.DateTimeField(label=_("To"), required=False, widget=MomentInput())

    def asked(self) -> Asked:
        """What the fields ask for; one that is not valid asks for nothing."""
        self.full_clean()
        sent = self.cleaned_data
        return Asked(
            actor=sent.get("actor", ""),
            verb=sent.get("verb", ""),
            target=sent.get("target", ""),
            since=sent.get("since"),
            until=sent.get("until"),
        )


class AnchorForm(forms.Form):
    """A head that was kept elsewhere."""

    use_required_attribute = False

    anchor = forms.CharField(
        label=_("A head that you kept"),
        required=False,
        max_length=100,
        help_text=_("n:hash, as this page showed it earlier. With it a tail that was cut off shows too."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def clean_anchor(self) -> tuple[int, str] | None:
        """Number and hash; None where it is left empty."""
        text = self.cleaned_data["anchor"].strip()
        try:
            return read_anchor(text) if text else None
        except BadAnchor as fault:
            raise forms.ValidationError(
                _("A head reads n:hash, as this page or manage.py verify shows it.")
            ) from fault
