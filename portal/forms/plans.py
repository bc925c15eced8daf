"""The plan of a gray release as a form asks for it: shares, steps, guard, and named callers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalog.canaries import LONGEST_SOAK, MOST_NAMES, Plan, PlanWrong, read_plan

LONGEST_LIST = 8000
# The field that shows what is wrong with a part of the plan.
FIELDS: Mapping[str, str] = {
    "guard": "max_error_rate",
    "guard.max_error_rate": "max_error_rate",
    "guard.max_p95_ms": "max_p95_ms",
    "guard.min_calls": "min_calls",
}
COHORT = ("agents", "teams", "tags")


class NamesField(forms.CharField):
    """Names with commas or line ends between them; a list without repeats."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, max_length=LONGEST_LIST, **kwargs)

    def clean(self, value: Any) -> list[str]:
        """The names, in the order in which they were written."""
        parts = re.split(r"[,\n]", super().clean(value))
        names = list(dict.fromkeys(part.strip() for part in parts if part.strip()))
        if len(names) > MOST_NAMES:
            raise forms.ValidationError(_("Name at most %(n)s.") % {"n": MOST_NAMES})
        return names


class StepsField(forms.CharField):
    """Rising shares in percent: 5, 25, 50, 100."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, max_length=400, **kwargs)

    def clean(self, value: Any) -> list[int]:
        """The shares; none for an empty field."""
        parts = [part.strip(" \t%\u2009\u202f\u00a0") for part in re.split(r"[,;]", super().clean(value))]
        told = [part for part in parts if part]
        if not all(re.fullmatch(r"[0-9]{1,3}", part) for part in told):
            raise forms.ValidationError(
                _("Give whole numbers with commas between them, such as 5, 25, 50, 100.")
            )
        steps = [int(part) for part in told]
        if any(not 1 <= step <= 100 for step in steps) or steps != sorted(set(steps)):
            raise forms.ValidationError(_("Each step is above the one before, from 1 to 100."))
        return steps


class PlanFields(forms.Form):
    """The fields of a plan. After `read_plan` of a form without errors, `plan` is the plan."""

    use_required_attribute = False
    plan: Plan | None = None

    percent = forms.IntegerField(
        label=gettext_lazy("Share of callers at first, in percent"),
        required=False,
        max_value=100,
        help_text=gettext_lazy(
            "Less than 100 starts a canary; the rest keep the live version. Empty: the first step, or everyone."
        ),
    )
    steps = StepsField(
        label=gettext_lazy("Steps, in percent"),
        help_text=gettext_lazy("It moves on by itself while its gates are open, such as 5, 25, 50, 100."),
    )
    soak_minutes = forms.IntegerField(
        label=gettext_lazy("Minutes that each step lasts"),
        required=False,
        min_value=0,
        max_value=LONGEST_SOAK,
        help_text=gettext_lazy("Empty: what the environment asks for."),
    )
    max_error_rate = forms.DecimalField(
        label=gettext_lazy("Errors at most, in percent"), required=False, min_value=0, max_value=100
    )
    max_p95_ms = forms.IntegerField(
        label=gettext_lazy("P95 at most, in ms"), required=False, min_value=1, max_value=86_400_000
    )
    min_calls = forms.IntegerField(
        label=gettext_lazy("Calls at least"), required=False, min_value=1, max_value=1_000_000_000
    )
    agents = NamesField(label=gettext_lazy("Agents"))
    teams = NamesField(label=gettext_lazy("Teams"), help_text=gettext_lazy("By their short names."))
    tags = NamesField(label=gettext_lazy("Tags of agents"))

    def clean_percent(self) -> int | None:
        """The share; 0 only beside named callers, which `read_plan` sees to."""
        value: int | None = self.cleaned_data["percent"]
        named = any(str(self.data.get(name, "")).strip(" ,\r\n") for name in COHORT)
        least = 0 if named else 1
        if value is not None and value < least:
            text = _("Ensure this value is greater than or equal to %(least)s.")
            raise forms.ValidationError(text % {"least": least})
        return value

    def read_plan(self, *, least_soak: int) -> None:
        """Put the fields together, each error beside its field; `least_soak` is in minutes."""
        cleaned = self.cleaned_data
        soak = cleaned.get("soak_minutes")
        if soak is not None and soak < least_soak:
            text = _("A step lasts at least %(n)s minutes in this environment.")
            self.add_error("soak_minutes", text % {"n": least_soak})
        if self.errors:
            return
        steps, percent = cleaned["steps"], cleaned["percent"]
        if steps and percent is not None and percent != steps[0]:
            text = _("It is not the first of the steps, %(n)s. Leave one of them empty.")
            self.add_error("percent", text % {"n": steps[0]})
            return
        try:
            self.plan = read_plan(self._sent(), least_soak=least_soak)
        except PlanWrong as wrong:
            self.refuse(wrong)

    def refuse(self, wrong: PlanWrong) -> None:
        """Show what is wrong with the plan beside its fields."""
        for name, message in wrong.errors.items():
            field = FIELDS.get(name, name)
            self.add_error(field if field in self.fields else None, message)

    def _sent(self) -> dict[str, Any]:
        """The plan as the contract writes it."""
        cleaned = self.cleaned_data
        rate = cleaned["max_error_rate"]
        guard = {
            "max_error_rate": None if rate is None else float(rate / 100),
            "max_p95_ms": cleaned["max_p95_ms"],
            "min_calls": cleaned["min_calls"],
        }
        names = ("percent", "steps", "soak_minutes", *COHORT)
        sent = {name: cleaned[name] for name in names if cleaned[name] not in (None, [])}
        held = {name: value for name, value in guard.items() if value is not None}
        return {**sent, "guard": held} if held else sent
