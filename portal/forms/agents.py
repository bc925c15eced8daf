"""Agents: what one is, what it is limited to, whose it is, and its end."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from catalog.advertisement import BadTemplate, fill_template
from catalog.agents import BadName, Limits, check_name
from catalog.models import Agent, Risk, Skill, SkillSet, Team
from portal.agent_limits import find_skills
from portal.forms.plain import PlainField, ask_unmasked
from portal.forms.publish import TagsField, TeamField
from portal.forms.skills import ReasonForm, TransferForm

MOST_SKILLS = 200
LONGEST_TEMPLATE = 20_000


class LimitsForm(forms.Form):
    """What an agent is and is limited to; what stays empty is no limit."""

    use_required_attribute = False

    description = PlainField(
        label=_("What it does"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
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

    template = forms.CharField(
        label=_("Its own text for the system prompt"),
        required=False,
        max_length=LONGEST_TEMPLATE,
        strip=False,
        validators=[ask_unmasked],
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_(
            "With {skills}, and where wanted {resource_instructions} and {runner_instructions}. "
            "The agent asks for it by format=template."
        ),
    )

    def __init__(
        self, *args: Any, skills: QuerySet[Skill], agent: Agent | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.visible, self.agent = skills, agent
        if agent is None:
            return
        told = {name: getattr(agent, name) for name in COLUMNS}
        told["skills"] = ", ".join(agent.skills.order_by("name").values_list("name", flat=True))
        told["sets"] = [one.slug for one in agent.sets.all()]
        self.initial = {**told, **self.initial}

    def clean_skills(self) -> list[Skill]:
        """The skills of the names given; raises ValidationError for names of none that the user may see."""
        names = dict.fromkeys(self.cleaned_data["skills"].replace(",", " ").split())
        if len(names) > MOST_SKILLS:
            raise ValidationError(_("Name at most %(most)d skills.") % {"most": MOST_SKILLS})
        found, missing = find_skills(tuple(names), visible=self.visible, agent=self.agent)
        if missing:
            raise ValidationError(_("There is no skill named %(names)s.") % {"names": ", ".join(missing[:5])})
        return found

    def clean_template(self) -> str:
        """The text; raises ValidationError where it cannot be filled."""
        template: str = self.cleaned_data["template"].replace("\r\n", "\n")
        if not template.strip():
            return ""
        try:
            fill_template(template, (), scripts=True)
        except BadTemplate as fault:
            raise ValidationError(str(fault)) from fault
        return template

    @property
    def limits(self) -> Limits:
        """What was sent; for a form that is valid."""
        names = ("description", "tags", "skills", "sets", "skill_tags", "highest_risk", "template")
        return Limits(**{name: self.cleaned_data[name] for name in names})


COLUMNS = ("description", "tags", "skill_tags", "highest_risk", "template")


class AgentForm(LimitsForm):
    """A new agent: its name and team, and what it is limited to."""

    field_order = ("name", "team")

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

    def __init__(self, *args: Any, teams: QuerySet[Team], skills: QuerySet[Skill], **kwargs: Any) -> None:
        super().__init__(*args, skills=skills, **kwargs)
        field = cast("TeamField", self.fields["team"])
        field.queryset = teams
        if len(teams) > 1:
            field.empty_label = str(_("Choose a team"))

    def clean_name(self) -> str:
        """The name; raises ValidationError for one that a page has."""
        name: str = self.cleaned_data["name"]
        try:
            check_name(name)
        except BadName as fault:
            raise ValidationError(str(fault)) from fault
        return name


class AgentTransferForm(TransferForm):
    """The team that is to own the agent, of those that the user may give it to."""

    def __init__(self, *args: Any, teams: QuerySet[Team], **kwargs: Any) -> None:
        super().__init__(*args, teams=teams, **kwargs)
        field = cast("forms.ModelChoiceField[Team]", self.fields["team"])
        field.error_messages["required"] = _("Choose the team that is to own the agent.")


class RetireForm(ReasonForm):
    """The agent's name, typed, and why."""

    field_order = ("confirm", "reason")

    confirm = forms.CharField(label=_("Name of the agent"), required=False, max_length=64)

    def __init__(self, *args: Any, agent: Agent, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "auto_id": "retire-%s"})
        self.agent = agent

    def clean_confirm(self) -> str:
        """The name."""
        typed: str = self.cleaned_data["confirm"].strip()
        if typed != self.agent.name:
            raise ValidationError(_("Type %(name)s to confirm.") % {"name": self.agent.name})
        return typed
