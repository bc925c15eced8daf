"""Agents and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from catalog.models import Environment, Risk, Skill, SkillSet, Team
from catalog.tokens import DAYS, LONGEST_DAYS
from portal.forms.publish import TagsField, TeamField

MOST_SKILLS = 200


class AgentForm(forms.Form):
    """A new agent: its name and team, and what it is limited to; what stays empty is no limit."""

    use_required_attribute = False

    name = forms.SlugField(
        label=_("Name"),
        max_length=64,
        help_text=_("Letters, digits, hyphens and underscores; unique, and fixed from then on."),
        error_messages={"invalid": _("Use letters, digits, hyphens and underscores only.")},
    )
    team = TeamField(
        label=_("Team"),
        queryset=Team.objects.none(),
        to_field_name="slug",
        empty_label=None,
        error_messages={"required": _("Choose the team that owns the agent.")},
    )
    description = forms.CharField(
        label=_("What it does"), required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2})
    )
    highest_risk = forms.ChoiceField(
        label=_("Highest risk"),
        choices=Risk.choices,
        initial=Risk.HIGH.value,
        help_text=_("Skills above it are not served to the agent."),
    )
    skills = forms.CharField(
        label=_("Only these skills"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Names with commas or spaces between them. Empty: all skills of its environment."),
    )
    sets = forms.ModelMultipleChoiceField(
        label=_("Only these sets"),
        queryset=SkillSet.objects.all(),
        to_field_name="slug",
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    skill_tags = TagsField(label=_("Only skills with these tags"), required=False)
    tags = TagsField(
        label=_("Tags of the agent"), required=False, help_text=_("Canaries can be aimed at them.")
    )

    def __init__(self, *args: Any, teams: QuerySet[Team], skills: QuerySet[Skill], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.visible = skills
        field = cast("TeamField", self.fields["team"])
        field.queryset = teams
        if len(teams) > 1:
            field.empty_label = str(_("Choose a team"))

    def clean_skills(self) -> list[Skill]:
        """The skills of the names given; raises ValidationError for names of none that the user may see."""
        names = dict.fromkeys(self.cleaned_data["skills"].replace(",", " ").split())
        if len(names) > MOST_SKILLS:
            raise ValidationError(_("Name at most %(most)d skills.") % {"most": MOST_SKILLS})
        found = list(self.visible.filter(Q(name__in=names) | Q(folder__in=names)))
        known = {skill.name for skill in found} | {skill.folder for skill in found}
        missing = [name for name in names if name not in known]
        if missing:
            raise ValidationError(_("There is no skill named %(names)s.") % {"names": ", ".join(missing[:5])})
        return found


class TokenForm(forms.Form):
    """A new token: what it is for, what it may do, and for how long."""

    use_required_attribute = False

    name = forms.CharField(
        label=_("What it is for"), required=False, max_length=120, help_text=_("So that it is known again.")
    )
    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.all(),
        to_field_name="name",
        empty_label=None,
        required=False,
        error_messages={"invalid_choice": _("There is no such environment.")},
    )
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one scope.")},
    )
    days = forms.IntegerField(
        label=_("Days until it expires"),
        min_value=1,
        max_value=LONGEST_DAYS,
        initial=DAYS,
        error_messages={"required": _("Give the days until it expires; every token has an end.")},
    )

    def __init__(
        self,
        *args: Any,
        scopes: Sequence[str],
        checked: Iterable[str] = (),
        of_agent: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        cast("forms.MultipleChoiceField", self.fields["scopes"]).choices = [(name, name) for name in scopes]
        self.initial.setdefault("scopes", list(checked))
        if of_agent:
            self.fields["environment"].required = True
        else:
            del self.fields["environment"]
