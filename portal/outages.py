"""What the page of a skill shows of where it is switched off, and what this user can do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, QueryDict

from catalog.models import Degradation, Environment, Release, Skill, State
from catalog.resolution import folder_of
from catalog.switches import Switch
from catalog.visibility import visible_skills
from portal import access
from portal.forms.degradations import DegradeForm, RestoreForm
from portal.lanes import Lane

MOST_SUGGESTED = 100


@dataclass(slots=True)
class Outage:
    """One switching off, in the environments where it still is in force as it was said."""

    switch: Switch
    fallback: Skill | None
    environments: list[Environment] = field(default_factory=list)


def switching_of(request: HttpRequest, skill: Skill, lanes: Sequence[Lane]) -> dict[str, Any]:
    """The outages, and the forms of the dialogs; None for a form that this user cannot use."""
    places = _own_places(request, skill, lanes)
    off = [lane.environment for lane in lanes if lane.off and lane.environment in places]
    return {
        "outages": _outages(request, lanes),
        "degrade_form": degrade_form(request, skill, lanes),
        "restore_form": _restore_form(off),
    }


def degrade_form(
    request: HttpRequest, skill: Skill, lanes: Sequence[Lane], data: QueryDict | None = None
) -> DegradeForm | None:
    """The form to switch it off; ticked is where it is served and on."""
    places = _own_places(request, skill, lanes)
    if not places:
        return None
    ticked = [lane.environment.name for lane in lanes if lane.is_served and not lane.off]
    seen = visible_skills(access.powers(request))
    return DegradeForm(data, environments=places, seen=seen, initial={"environments": ticked})


def restore_form(
    request: HttpRequest, skill: Skill, lanes: Sequence[Lane], data: QueryDict | None = None
) -> RestoreForm | None:
    """The form to switch it on again; a form that is sent may name every place where the user may."""
    places = _own_places(request, skill, lanes)
    if data is None:
        places = [lane.environment for lane in lanes if lane.off and lane.environment in places]
    return _restore_form(places, data)


def _restore_form(places: Sequence[Environment], data: QueryDict | None = None) -> RestoreForm | None:
    initial = {"environments": [one.name for one in places]}
    return RestoreForm(data, environments=places, initial=initial) if places else None


def _own_places(request: HttpRequest, skill: Skill, lanes: Iterable[Lane]) -> list[Environment]:
    powers = access.powers(request)
    return [lane.environment for lane in lanes if powers.may_switch_off(skill, lane.environment)]


def _outages(request: HttpRequest, lanes: Sequence[Lane]) -> list[Outage]:
    """One word for several environments is told once, with what became of its fallback where that matters."""
    powers, found = access.powers(request), list[Outage]()
    for lane in sorted(lanes, key=lambda one: not one.is_served):
        if lane.off is None:
            continue
        same = next((one for one in found if _is_same(one.switch, lane)), None)
        if same is None:
            shown = lane.off.fallback
            same = Outage(lane.off, shown if shown and powers.may_see(shown) else None)
            found.append(same)
        same.environments.append(lane.environment)
    for outage in found:
        outage.environments.sort(key=lambda one: one.order)
    return sorted(found, key=lambda one: one.environments[0].order)


def _is_same(switch: Switch, lane: Lane) -> bool:
    """Whether the lane is off by the same word; a fallback that is lost where nothing is served counts for nothing."""
    if lane.off is None or (lane.is_served and lane.off.lost != switch.lost):
        return False
    one, other = switch.row, lane.off.row
    return (one.reason, one.fallback_id, one.by_id, one.at) == (
        other.reason,
        other.fallback_id,
        other.by_id,
        other.at,
    )


def suggested_fallbacks(request: HttpRequest, skill: Skill, lanes: Iterable[Lane]) -> list[str]:
    """Names of skills that are live where the user may and not off there; what the skill itself names comes first."""
    places = _own_places(request, skill, lanes)
    live = Release.objects.filter(environment__in=places, state=State.LIVE)
    off = Degradation.objects.filter(environment__in=places, restored_at=None)
    found = (
        visible_skills(access.powers(request))
        .filter(pk__in=live.values("skill"))
        .exclude(pk=skill.pk)
        .exclude(pk__in=off.values("skill"))
    )
    named = [
        folder_of(str(one)) for one in (skill.latest.fields.get("alternatives") or () if skill.latest else ())
    ]
    rows = list(found.order_by("name").values_list("folder", "name")[:MOST_SUGGESTED])
    return [name for folder, name in sorted(rows, key=lambda row: row[0] not in named)]
