"""Editing the head of a version and publishing the result as a new one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from catalog.access import NotAllowed
from catalog.bundles.files import Tree
from catalog.models import Version
from catalog.publishing import publish_trees
from catalog.rescans import tree_of
from portal import access
from portal.access import NotFound
from portal.forms.publish import DeclarationForm
from portal.fragments import wants_part
from portal.frames import skill_frame
from portal.mending import HEADS, heads_of, heads_typed, mend, typed_in
from portal.reports import BundleReport, report_of

PAGE = "versions/version_edit.html"
HEAD_PATHS = frozenset(path for paths in HEADS.values() for path in paths)


@require_http_methods(["GET", "HEAD", "POST"])
def version_edit(request: HttpRequest, name: str, version: str) -> HttpResponse:
    """The head of a version as text; `do=publish` publishes it with the other files, else it is checked."""
    row = access.version_read(request, name, version)
    tree = _tree(request, row)
    if request.method != "POST":
        return _show(request, row, tree, DeclarationForm(initial=_declared(row)))
    form = DeclarationForm(request.POST)
    if not form.is_valid():
        return _show(request, row, tree, form, status=422)
    publishes = request.POST.get("do") == "publish"
    report = _judge(request, row, mend(tree, form.typed), form, dry_run=not publishes)
    if publishes and report.stored:
        return _go_to_version(request, report)
    return _show(request, row, tree, form, report, status=422 if publishes else 200)


def _tree(request: HttpRequest, version: Version) -> Tree:
    """The bundle, for who publishes for its team; nothing of a revoked version is edited."""
    team = version.skill.team
    if not access.powers(request).may_publish(team):
        raise NotAllowed(_("Publishing needs the role publisher in %(team)s.") % {"team": team.name})
    if version.revoked_at:
        raise NotAllowed(_("This version is revoked. Publish from your own files."))
    try:
        return tree_of(version)
    except FileNotFoundError as lost:
        raise NotFound(_("The store has lost bytes of this version. Tell an administrator.")) from lost


def _declared(version: Version) -> dict[str, Any]:
    """The declaration to start from: that of the version."""
    return {
        "risk_level": version.declared_risk,
        "stability": version.stability,
        "permissions": version.permissions,
        "tags": version.tags,
    }


def _judge(
    request: HttpRequest, version: Version, tree: Tree, form: DeclarationForm, *, dry_run: bool
) -> BundleReport:
    # A skill that came as JSON keeps that form: it says which of its files are resources.
    base = version.provenance.get("form")
    publications = publish_trees(
        trees=[tree],
        team=version.skill.team,
        declared=form.declared,
        actor=access.actor(request),
        provenance={
            "form": base if base == "json" else "edit",
            "via": "portal",
            "edited from": version.version,
        },
        limits=settings.LIMITS,
        now=timezone.now(),
        dry_run=dry_run,
    )
    return report_of("", (), publications, done=not dry_run).bundles[0]


def _go_to_version(request: HttpRequest, report: BundleReport) -> HttpResponse:
    publication = report.publication
    told = {"name": publication.name, "version": publication.version}
    if publication.status == "unchanged":
        messages.info(request, _("Nothing differs from %(name)s %(version)s. Nothing was published.") % told)
    else:
        messages.success(request, _("%(name)s %(version)s is published.") % told)
    address = reverse("version-detail", args=[publication.bundle.folder, publication.version])
    return HttpResponseClientRedirect(address) if wants_part(request) else redirect(address)


def _show(
    request: HttpRequest,
    version: Version,
    tree: Tree,
    form: DeclarationForm,
    report: BundleReport | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """The page, or for htmx what was found and the numbers of the lines; what was typed stays."""
    typed = typed_in(request.POST.items())
    sheet = report.sheet if report else None
    context = {
        **skill_frame(request, version.skill, "versions"),
        "version": version,
        "form": form,
        "bundle": report,
        "refused": report is not None and status != 200,
        "heads": heads_of(tree, sheet, typed) or heads_typed(typed, sheet),
        "others": [file.path for file in tree.files if file.path not in HEAD_PATHS],
    }
    part = wants_part(request) and request.method == "POST"
    return render(request, f"{PAGE}#result" if part else PAGE, context, status=status)
