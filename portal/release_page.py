"""The page of one release: what it shows, and what is said after a change."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from catalog.comparison import Comparison, compare
from catalog.models import Release, State, Version
from catalog.shortfalls import shortfalls
from governance.clearing import review
from portal import access
from portal.decisions import is_open, offers, why_not
from portal.diffs import Diff, diff_file
from portal.forms.releases import DecisionForm


def release_context(
    request: HttpRequest, release: Release, *, asked_diff: str = "", **more: object
) -> dict[str, Any]:
    """What the page of a release shows to this user."""
    seen = review(release)
    found = offers(release, access.powers(request), seen)
    reach = compare(_version_before(release), release.version)
    return {
        "release": release,
        "skill": release.skill,
        "review": seen,
        "open": is_open(release),
        "lacking": shortfalls([release.environment]).of(release),
        "offers": found,
        "may_act": any(offer.allowed for offer in found),
        "refusals": why_not(found),
        "form": DecisionForm(initial={"percent": release.canary.get("percent") or 100}),
        "reach": reach,
        "diff": _diff(reach, asked_diff),
        "transitions": release.transitions.select_related("actor").order_by("-n"),
        **more,
    }


def _diff(reach: Comparison, path: str) -> Diff | None:
    """The lines that changed in a file of both versions, where one was asked for."""
    known = any(file.path == path and file.change == "changed" for file in reach.files)
    return diff_file(reach.before, reach.after, path) if known and reach.before else None


def _version_before(release: Release) -> Version | None:
    """What callers had, or have, where they do not get this release."""
    if release.state in {State.LIVE, State.SUPERSEDED, State.ROLLED_BACK}:
        return release.previous
    live = release.skill.releases.filter(environment=release.environment, state=State.LIVE)
    found = live.select_related("version").first()
    return found.version if found else None


def what_happened(release: Release) -> str:
    """The release's new state in a sentence."""
    told = {
        "skill": release.skill.name,
        "version": release.version.version,
        "environment": release.environment.title,
        "percent": release.percent,
    }
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
