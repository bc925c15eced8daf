"""The callers that a gray release names: whether there are such."""

from __future__ import annotations

from catalog.canaries import Plan, PlanWrong
from catalog.models import Agent, Team


def check_cohort(plan: Plan) -> None:
    """Raise PlanWrong for agents and teams that are not there; a tag may be given to agents later.

    At most two queries, none for a plan without a cohort.
    """
    agents = Agent.objects.filter(retired_at=None, name__in=plan.agents).values_list("name", flat=True)
    teams = Team.objects.filter(slug__in=plan.teams).values_list("slug", flat=True)
    errors = {
        "agents": _told("agent", set(plan.agents) - set(agents)) if plan.agents else "",
        "teams": _told("team", set(plan.teams) - set(teams)) if plan.teams else "",
    }
    wrong = {name: message for name, message in errors.items() if message}
    if wrong:
        raise PlanWrong(wrong)


def _told(kind: str, missing: set[str]) -> str:
    return f"There is no {kind} {', '.join(sorted(missing))}." if missing else ""
