"""Proposing a release and deciding on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.models import Environment, Skill, Version
from portal.forms.plain import PlainField
from portal.forms.plans import PlanFields
from portal.forms.skills import LONGEST_REASON

MOST_VERSIONS = 200
LONGEST_PASSWORD = 4096


class ProposeForm(PlanFields):
    """Which version goes where, to which callers in which steps, and why."""

    use_required_attribute = False

    version = forms.ChoiceField(label=_("Version"))
    environment = forms.ChoiceField(label=_("Environment"))
    note = PlainField(
        label=_("Note"),
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("What changes for whom; approvers read it first."),
    )

    def __init__(self, *args: Any, skill: Skill, environments: Sequence[Environment], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.environments = {one.name: one for one in environments}
        offered = skill.versions.filter(yanked_at=None, revoked_at=None).order_by("-precedence")
        self.versions = {version.version: version for version in offered[:MOST_VERSIONS]}
        for version in self.versions.values():
            version.skill = skill
        self._offer("version", [(name, name) for name in self.versions])
        self._offer("environment", [(one.name, one.title) for one in environments])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        cast("forms.ChoiceField", self.fields[name]).choices = choices

    def first_version(self) -> Version | None:
        """The version that a form begins with: the one of its address, or the newest."""
        return self.versions.get(self.initial.get("version", "")) or next(iter(self.versions.values()), None)

    def chosen(self) -> tuple[Version | None, Environment | None]:
        """What is chosen, or would be first: of a form that need not be valid."""
        version = self.versions.get(self["version"].value() or "")
        environment = self.environments.get(self["environment"].value() or "")
        if not self.is_bound:
            version = version or self.first_version()
            environment = environment or next(iter(self.environments.values()), None)
        return version, environment

    def clean(self) -> dict[str, Any]:
        """Reads the plan for the chosen environment."""
        cleaned = super().clean() or {}
        environment = self.environments.get(cleaned.get("environment", ""))
        if environment is not None:
            self.read_plan(least_soak=environment.soak_minutes)
        return cleaned


class DecisionForm(forms.Form):
    """What a decision needs beside the click; each action takes its part of it.

    `least` is the lowest share of callers that the release can have.
    """

    use_required_attribute = False

    note = PlainField(
        label=_("Note"),
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    confirm = forms.CharField(label=_("Name of the skill"), required=False, max_length=64)
    password = forms.CharField(
        label=_("Your password"),
        required=False,
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=forms.PasswordInput(render_value=False),
    )
    reason = PlainField(
        label=_("Reason"),
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    gate = forms.CharField(required=False, max_length=64)

    def __init__(self, *args: Any, least: int = 1, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["percent"] = forms.IntegerField(
            label=_("Share of callers, in percent"), required=False, min_value=least, max_value=100
        )
