"""What is asked of who changes a skill or one of its versions after it is published."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from catalog.models import Skill, Team, User
from catalog.ownership import people_of
from portal.forms.plain import PlainField

LONGEST_REASON = 2000


class ReasonForm(forms.Form):
    """Why; kept in the audit log."""

    use_required_attribute = False

    reason = PlainField(
        label=_("Reason"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": _("Give a reason; it is kept in the audit log.")},
    )


class DeleteForm(ReasonForm):
    """The skill's name, typed, and consent where others depend on it."""

    field_order = ("confirm", "although_needed", "reason")

    confirm = forms.CharField(label=_("Name of the skill"), required=False, max_length=64)
    although_needed = forms.BooleanField(
        label=_("Delete it although other skills depend on it"), required=False
    )

    def __init__(self, *args: Any, skill: Skill, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "auto_id": "delete-%s"})
        self.skill = skill

    def clean_confirm(self) -> str:
        """The name as it is written, or the folder's."""
        typed: str = self.cleaned_data["confirm"].strip()
        if typed not in {self.skill.name, self.skill.folder}:
            raise forms.ValidationError(_("Type %(name)s to confirm.") % {"name": self.skill.name})
        return typed


class TransferForm(ReasonForm):
    """The team that is to own the skill, of those that the user may give it to."""

    field_order = ("team", "reason")

    team = forms.ModelChoiceField(
        label=_("New team"),
        queryset=Team.objects.none(),
        to_field_name="slug",
        empty_label=_("Choose a team"),
        error_messages={
            "required": _("Choose the team that is to own the skill."),
            "invalid_choice": _("You do not publish for this team. An administrator can transfer it too."),
        },
    )

    def __init__(self, *args: Any, teams: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "auto_id": "transfer-%s"})
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]  # it is a ModelChoiceField


class SettingsForm(forms.Form):
    """Who sees the skill, and who answers for it."""

    use_required_attribute = False

    visibility = forms.ChoiceField(
        label=_("Who sees it"), choices=Skill.Visibility.choices, widget=forms.RadioSelect
    )
    owner = forms.ModelChoiceField(
        label=_("Owner"),
        queryset=User.objects.none(),
        to_field_name="username",
        required=False,
        empty_label=None,
        help_text=_("Answers for the skill."),
    )
    maintainers = forms.ModelMultipleChoiceField(
        label=_("Co-maintainers"),
        queryset=User.objects.none(),
        to_field_name="username",
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, skill: Skill, **kwargs: Any) -> None:
        initial = {
            "visibility": skill.visibility,
            "owner": skill.owner.username if skill.owner else None,
            "maintainers": [one.username for one in skill.maintainers.all()],
        }
        super().__init__(*args, **{**kwargs, "initial": initial})
        known = Q(pk__in=people_of(skill.team).order_by().values("pk"))
        named = Q(pk__in=skill.maintainers.values("pk")) | Q(pk=skill.owner_id)
        people = User.objects.filter(known | named).order_by("first_name", "last_name", "username")
        for name in ("owner", "maintainers"):
            self.fields[name].queryset = people  # type: ignore[attr-defined]  # both choose from rows
        if skill.owner_id is None:
            self.fields["owner"].empty_label = _("Nobody")  # type: ignore[attr-defined]  # as above
            self.fields["owner"].widget.choices = self.fields["owner"].choices  # type: ignore[attr-defined]  # as above
