"""The page of one release: what it shows, and what is said after a change."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import prefetch_related_objects
from django.http import HttpRequest
from django.utils.translation import gettext as _

from catalog.availability import missing_dependencies
from catalog.canaries import plan_of
from catalog.comparison import Comparison, compare
from catalog.models import Approval, Release, State, Version
from catalog.releases import STARTS_FROM
from catalog.shortfalls import shortfalls
from governance.clearing import judge
from portal import access, confirming
from portal.canaries import canary_of, least_share
from portal.decision_texts import gate_title
from portal.decisions import Offer, is_open, offers, why_not
from portal.deltas import reach_of
from portal.diffs import Diff, diff_file
from portal.forms.releases import DecisionForm
from portal.release_parts import (
    approvals_given,
    broken_glass,
    gate_rows,
    helpers_of,
    way_back,
)


def release_context(
    request: HttpRequest, release: Release, *, now: datetime, asked_diff: str = "", **more: object
) -> dict[str, Any]:
    """What the page of a release shows to this user."""
    release.version.skill = release.skill
    live = _live_beside(release)
    before = release.previous if _was_served(release) else live
    prefetch_related_objects([one for one in (before, release.version) if one], "dependencies")
    given: list[Approval] = list(release.approvals.select_related("user", "right_of").order_by("created_at"))
    overrides = list(release.overrides.select_related("user"))
    seen = judge(
        release,
        missing_dependencies(release.version, release.environment),
        approvals=[one for one in given if one.voided_at is None],
        overrides=overrides,
    )
    powers = access.powers(request)
    found = offers(release, powers, seen, now=now, has_password=confirming.has_password(request))
    changes = compare(before, release.version)
    reach = reach_of(changes)
    transitions = list(release.transitions.select_related("actor").order_by("-n"))
    return {
        "release": release,
        "skill": release.skill,
        "review": seen,
        "open": is_open(release),
        "gates": gate_rows(release, seen, overrides, found),
        "given": approvals_given(release, seen, given),
        "glass": broken_glass(transitions),
        "lacking": shortfalls([release.environment]).of(release),
        "offers": found,
        "buttons": [offer for offer in found if offer.is_button],
        "may_act": any(offer.allowed for offer in found),
        "refusals": why_not(found),
        "helpers": helpers_of(release) if _needs_help(found, powers.may_break_glass(release)) else None,
        "lacks_right": release.state in STARTS_FROM["override"] and not powers.may_break_glass(release),
        "password_entered": confirming.is_fresh(request, now=now),
        "form": DecisionForm(initial={"percent": _first_share(release)}),
        "canary": canary_of(release, live, seen),
        "reach": changes,
        "deltas": reach.deltas,
        "bump": reach.bump,
        "needed": reach.needed,
        "back": way_back(release, live),
        "diff": _diff(changes, asked_diff),
        "transitions": transitions,
        **more,
    }


def form_of(release: Release, sent: Mapping[str, Any]) -> DecisionForm:
    """The form of a decision with what was sent."""
    return DecisionForm(sent, least=least_share(plan_of(release.canary)))


def _first_share(release: Release) -> int:
    """The share that a start, an advance or a resumption proposes."""
    plan = plan_of(release.canary)
    if release.state == State.CANARY:
        return plan.next_step(release.percent) or release.percent
    return release.percent or plan.percent if release.state == State.HALTED else plan.percent


def _needs_help(found: tuple[Offer, ...], may_override: bool) -> bool:
    """Whether the page says who does what this user cannot."""
    return bool(found) and (not may_override or any(offer.refusal for offer in found))


def _diff(changes: Comparison, path: str) -> Diff | None:
    """The lines that changed in a file of both versions, where one was asked for."""
    known = any(file.path == path and file.change == "changed" for file in changes.files)
    return diff_file(changes.before, changes.after, path) if known and changes.before else None


def _was_served(release: Release) -> bool:
    """Whether the release is or was live, so that it compares with what it replaced."""
    return release.state in {State.LIVE, State.SUPERSEDED, State.ROLLED_BACK}


def _live_beside(release: Release) -> Version | None:
    """What callers have where they do not get this release."""
    if _was_served(release):
        return None
    live = release.skill.releases.filter(environment=release.environment, state=State.LIVE)
    found = live.select_related("version").first()
    return found.version if found else None


def what_happened(release: Release, *, overridden: str = "") -> str:
    """The release's new state in a sentence; the name of the gate where it was `overridden`, which changes no state."""
    told = {
        "skill": release.skill.name,
        "version": release.version.version,
        "environment": release.environment.title,
        "percent": release.percent,
    }
    if overridden:
        told["gate"] = gate_title(overridden)
        return _("The gate %(gate)s of %(skill)s %(version)s is overridden in %(environment)s.") % told
    texts = {
        State.PROPOSED: _("%(skill)s %(version)s waits for approval in %(environment)s."),
        State.APPROVED: _("%(skill)s %(version)s is approved for %(environment)s."),
        State.CANARY: _("%(skill)s %(version)s goes to %(percent)s %% of the callers in %(environment)s."),
        State.LIVE: _("%(skill)s %(version)s is live in %(environment)s."),
        State.REJECTED: _("%(skill)s %(version)s is rejected for %(environment)s."),
        State.HALTED: _("The canary of %(skill)s %(version)s is halted in %(environment)s."),
        State.ROLLED_BACK: _("%(skill)s %(version)s is rolled back in %(environment)s."),
        State.WITHDRAWN: _("The proposal of %(skill)s %(version)s is withdrawn."),
    }
    return texts[State(release.state)] % told
