"""Teams, people and what they may do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.contrib.auth.forms import SetPasswordForm
from django.utils.translation import gettext_lazy as _

from catalog.grants import BadGrant, Wanted
from catalog.models import Environment, Role, Team, User
from catalog.ownership import people_of
from portal.forms.skills import ReasonForm


class PersonField(forms.CharField):
    """The user name of somebody who can sign in."""

    widget = forms.TextInput(attrs={"list": "names", "autocomplete": "off", "spellcheck": "false"})
    default_error_messages = {
        "required": _("Give a user name."),
        "unknown": _("There is no account of that name, or it is closed."),
    }

    def clean(self, value: Any) -> Any:
        """The account; None where the field may stay empty and does."""
        name = super().clean(value)
        if not name:
            return None
        person = User.objects.filter(username=name, is_active=True).first()
        if person is None:
            raise forms.ValidationError(self.error_messages["unknown"], code="unknown")
        return person


class TeamForm(forms.Form):
    """A team's name, and the short name in addresses, which is fixed from then on."""

    use_required_attribute = False

    name = forms.CharField(
        label=_("Name"), max_length=120, error_messages={"required": _("Give the team a name.")}
    )
    slug = forms.CharField(
        label=_("Short name"),
        required=False,
        max_length=64,
        help_text=_(
            "For addresses and REST: a–z, 0–9 and hyphens; fixed from then on. Empty: made of the name."
        ),
    )


class RenameForm(forms.Form):
    """A team's new name."""

    use_required_attribute = False

    name = forms.CharField(
        label=_("Name"), max_length=120, error_messages={"required": _("Give the team a name.")}
    )


class GrantForm(forms.Form):
    """A role, for one team or all, in one environment or all."""

    use_required_attribute = False

    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)
    team = forms.ModelChoiceField(
        label=_("Team"),
        queryset=Team.objects.all(),
        to_field_name="slug",
        required=False,
        empty_label=_("All teams"),
    )
    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.all(),
        to_field_name="name",
        required=False,
        empty_label=_("All environments"),
    )
    may_override = forms.BooleanField(
        label=_("May override a gate and break glass (approvers alone)"), required=False
    )

    def clean(self) -> dict[str, Any]:
        """Refuse what is no grant: an administrator of a part, an override of somebody who does not approve."""
        data = super().clean() or {}
        if not self.errors and data.get("role"):
            try:
                self.wanted(data).check()
            except BadGrant as fault:
                raise forms.ValidationError(str(fault)) from fault
        return data

    def wanted(self, data: dict[str, Any] | None = None) -> Wanted:
        """The grant that is asked for. Of a form that is valid."""
        told = self.cleaned_data if data is None else data
        role = Role(told["role"])
        return Wanted(role, told.get("team"), told.get("environment"), told.get("may_override", False))


class MemberForm(GrantForm):
    """A role of a person in one team."""

    field_order = ("person", "role", "environment", "may_override")

    person = PersonField(label=_("User name"), max_length=150)

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = team
        del self.fields["team"]
        roles = [choice for choice in Role.choices if choice[0] != Role.ADMIN]
        cast("forms.ChoiceField", self.fields["role"]).choices = roles

    def wanted(self, data: dict[str, Any] | None = None) -> Wanted:
        """The grant that is asked for, in the team."""
        return super().wanted({**(self.cleaned_data if data is None else data), "team": self.owner})


class InviteForm(GrantForm):
    """A new account, and its first role."""

    field_order = ("username", "name", "email", "role", "team", "environment", "may_override")

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        help_text=_("Letters, digits and @ . + - _; fixed from then on."),
        error_messages={"required": _("Give a user name.")},
    )
    name = forms.CharField(label=_("Name"), required=False, max_length=150)
    email = forms.EmailField(
        label=_("E-mail"),
        required=False,
        max_length=254,
        help_text=_("The link goes there, where this instance sends mail. It is shown in any case."),
        error_messages={"invalid": _("This is no e-mail address.")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role = cast("forms.ChoiceField", self.fields["role"])
        role.label, role.required = _("First role"), False
        role.choices = [("", _("None yet")), *Role.choices]

    @property
    def grants(self) -> Sequence[Wanted]:
        """The first grant, if a role was chosen. Of a form that is valid."""
        return (self.wanted(),) if self.cleaned_data["role"] else ()


class ChoosePasswordForm(SetPasswordForm):  # type: ignore[type-arg]  # the class takes no argument when Django runs
    """A password, twice, by the rules of this instance; what they say stands at the first field."""

    use_required_attribute = False

    def validate_password_for_user(self, user: User, *_field: str) -> None:
        """Django names the field of the repetition."""
        super().validate_password_for_user(user, "new_password1")


class HeirsForm(ReasonForm):
    """Why somebody leaves, and who owns the skills of each team from then on."""

    def __init__(
        self, *args: Any, person: User, teams: Sequence[Team], ask_reason: bool, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.teams = {f"heir-{team.slug}": team for team in teams}
        for name, team in self.teams.items():
            self.fields[name] = forms.ModelChoiceField(
                label=_("Who owns the skills of %(team)s") % {"team": team.name},
                queryset=people_of(team).exclude(pk=person.pk),
                to_field_name="username",
                required=False,
                empty_label=_("Nobody for now"),
            )
        self.order_fields([*self.teams, "reason"])
        self.fields["reason"].required = ask_reason

    @property
    def heirs(self) -> dict[Any, User]:
        """The new owner by team, of those that have one. Of a form that is valid."""
        return {
            team.pk: self.cleaned_data[name] for name, team in self.teams.items() if self.cleaned_data[name]
        }
