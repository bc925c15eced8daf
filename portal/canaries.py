"""The plan of a gray release as pages tell it: the arms, the cohort, the steps and the guard."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalog.canaries import Guard, Plan, plan_of
from catalog.models import Release, State, Version
from governance.clearing import Review
from governance.refusals import why_held


@dataclass(frozen=True, slots=True)
class Canary:
    """What the page of a gray release shows of it.

    `stable` is the version that the others get, None for none. `held` says why its next step will not
    come by itself, "" where it will; `least` is the lowest share that it can have.
    """

    release: Release
    plan: Plan
    stable: Version | None
    next_step: int | None
    held: str

    @property
    def percent(self) -> int:
        """The share of the candidate."""
        return self.release.percent

    @property
    def rest(self) -> int:
        """The share of the stable version."""
        return 100 - self.percent

    @property
    def least(self) -> int:
        """The lowest share that it can have: none but for named callers, who get it all the same."""
        return least_share(self.plan)

    @property
    def most_errors(self) -> str:
        """The error rate that the guard allows, in percent."""
        rate = self.plan.guard.max_error_rate if self.plan.guard else None
        return "" if rate is None else _percent(rate)

    @property
    def runs(self) -> bool:
        """Whether callers get it now."""
        return self.release.state == State.CANARY

    @property
    def words(self) -> tuple[str, ...]:
        """The plan in sentences."""
        return plan_words(self.plan)


def canary_of(release: Release, stable: Version | None, seen: Review) -> Canary | None:
    """The gray release, None where the release is or was served to everyone at once."""
    plan = plan_of(release.canary)
    if not release.canary and release.state not in {State.CANARY, State.HALTED}:
        return None
    step = plan.next_step(release.percent)
    held = why_held(release, seen) if release.state == State.CANARY else ""
    return Canary(release, plan, stable, step, held)


def least_share(plan: Plan) -> int:
    """The lowest share of callers under the plan, in percent."""
    return 0 if plan.has_cohort else 1


def plan_words(plan: Plan) -> tuple[str, ...]:
    """How it will be served, in sentences."""
    told = [_first(plan)]
    if plan.has_cohort:
        told.append(_cohort(plan))
    if later := [step for step in plan.steps if step > plan.percent]:
        steps = ", ".join(f"{step} %" for step in later)
        told.append(_("Then %(steps)s; each step lasts %(time)s.") % {"steps": steps, "time": span(plan)})
    if plan.guard:
        told.append(guard_words(plan.guard))
    return tuple(told)


def span(plan: Plan) -> str:
    """How long a step lasts."""
    minutes = plan.soak_minutes
    if minutes and minutes % 1440 == 0:
        return ngettext("%(n)d day", "%(n)d days", minutes // 1440) % {"n": minutes // 1440}
    if minutes and minutes % 60 == 0:
        return ngettext("%(n)d hour", "%(n)d hours", minutes // 60) % {"n": minutes // 60}
    return ngettext("%(n)d minute", "%(n)d minutes", minutes) % {"n": minutes}


def guard_words(guard: Guard) -> str:
    """What the candidate must keep to."""
    told = []
    if guard.max_error_rate is not None:
        told.append(_("errors up to %(n)s %%") % {"n": _percent(guard.max_error_rate)})
    if guard.max_p95_ms is not None:
        told.append(_("P95 up to %(n)s ms") % {"n": guard.max_p95_ms})
    if guard.min_calls is not None:
        told.append(_("at least %(n)s calls") % {"n": guard.min_calls})
    return _("Guard: %(limits)s. For now a person reads them and moves it on.") % {
        "limits": ", ".join(told) or _("no limit")
    }


def _percent(rate: float) -> str:
    return f"{rate * 100:.10g}"


def _first(plan: Plan) -> str:
    if plan.percent == 100:
        return _("All callers get it at once.")
    if plan.percent == 0:
        return _("At first only the named callers get it.")
    return _("At first %(percent)s %% of the callers get it.") % {"percent": plan.percent}


def _cohort(plan: Plan) -> str:
    parts = (
        (_("agents %(names)s"), plan.agents),
        (_("teams %(names)s"), plan.teams),
        (_("tags %(names)s"), plan.tags),
    )
    told = "; ".join(text % {"names": ", ".join(names)} for text, names in parts if names)
    return _("Always: %(names)s.") % {"names": told}
