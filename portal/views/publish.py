"""Publishing from the portal: check an upload, look at the report, publish it."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect, retarget

from catalog.access import NotAllowed
from catalog.models import Team, Version
from catalog.publishing import publish_upload
from catalog.visibility import teams_to_publish_for
from portal import access
from portal.forms.publish import PublishForm
from portal.fragments import wants_part
from portal.mending import Head, heads_of, heads_typed, mend, typed_in
from portal.reports import BundleReport, UploadReport, report_of
from portal.uploads import provenance_of, read_request_upload

PAGE = "publish/publish.html"


@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: HttpRequest) -> HttpResponse:
    """The form; a POST publishes what it holds, unless that is not what was checked."""
    if request.method != "POST":
        teams = _teams(request)
        form = PublishForm(teams=teams, initial=_last_team(request, teams) | request.GET.dict())
        return _show(request, form, status=200 if form.may_publish else 403)
    form = PublishForm(request.POST, request.FILES, teams=_teams(request))
    if not form.is_valid():
        return _show(request, form, status=_status_of(form))
    if request.POST.get("checked") not in {None, "", form.fingerprint}:
        report = _judge(request, form, dry_run=True)
        return _show(request, form, report, status=422, changed=True)
    report = _judge(request, form, dry_run=False)
    if len(report.bundles) == 1 and report.stored:
        return _go_to_version(request, report.stored[0])
    return _show(request, form, report, status=200 if report.stored else 422)


@require_POST
def publish_check(request: HttpRequest) -> HttpResponse:
    """What publishing would do and why not; stores nothing."""
    form = PublishForm(request.POST, request.FILES, teams=_teams(request))
    if not form.is_valid():
        return _show(request, form, status=_status_of(form))
    report = _judge(request, form, dry_run=True)
    if request.GET.get("format") == "md" and not form.errors:
        return HttpResponse(report.markdown, content_type="text/markdown; charset=utf-8")
    return _show(request, form, report)


def _teams(request: HttpRequest) -> QuerySet[Team]:
    return teams_to_publish_for(access.powers(request))


def _last_team(request: HttpRequest, teams: QuerySet[Team]) -> dict[str, str]:
    """The team to start from: the one that the user last published for, while they still may."""
    mine = Version.objects.filter(publisher=access.actor(request).user, skill__team__in=teams)
    last = mine.order_by("-pk").values_list("skill__team__slug", flat=True).first()
    return {"team": last} if last else {}


def _judge(request: HttpRequest, form: PublishForm, *, dry_run: bool) -> UploadReport:
    """Publish or check; a right that was lost meanwhile is told at the team."""
    upload = read_request_upload(form.upload)
    if len(upload.trees) == 1 and form.mended:
        upload = replace(upload, trees=(mend(upload.trees[0], form.mended),))
    try:
        publications = publish_upload(
            upload=upload,
            team=form.cleaned_data["team"],
            declared=form.declared,
            actor=access.actor(request),
            provenance=provenance_of(form.upload, via="portal"),
            limits=settings.LIMITS,
            now=timezone.now(),
            dry_run=dry_run,
        )
    except NotAllowed as refusal:
        form.add_error("team", str(refusal))
        publications = []
    return report_of(form.upload.name or "", upload.findings, publications, done=not dry_run)


def _status_of(form: PublishForm) -> int:
    return 403 if form.is_foreign or not form.may_publish else 422


def _go_to_version(request: HttpRequest, report: BundleReport) -> HttpResponse:
    """The page of the version, with a word on what happened."""
    publication = report.publication
    told = {"name": publication.name, "version": publication.version}
    if publication.status == "unchanged":
        messages.info(
            request, _("%(name)s %(version)s was there already with the same bytes. Nothing changed.") % told
        )
    else:
        messages.success(request, _("%(name)s %(version)s is published.") % told)
    address = reverse("version-detail", args=[publication.bundle.folder, publication.version])
    return HttpResponseClientRedirect(address) if wants_part(request) else redirect(address)


def _heads(form: PublishForm, report: UploadReport) -> tuple[Head, ...]:
    """The heads of the only bundle, to be mended on the page."""
    bundle = report.bundles[0]
    return heads_of(bundle.publication.bundle.tree, bundle.sheet, form.mended)


def _show(
    request: HttpRequest,
    form: PublishForm,
    report: UploadReport | None = None,
    *,
    status: int = 200,
    changed: bool = False,
) -> HttpResponse:
    """The page, or for htmx its report alone: with the fields too where their errors came or went."""
    editable = report is not None and not report.done and len(report.bundles) == 1
    heads = _heads(form, report) if report and editable else ()
    if form.errors:
        # What was typed stays on the page, beside what is wrong with the form.
        heads = heads_typed(typed_in(request.POST.items()))
    context = {
        "heads": heads,
        "form": form,
        "report": report,
        "checked": form.fingerprint if report and not report.done else "",
        "mended_base": form.base if editable else request.POST.get("mended_base", ""),
        "limits": settings.LIMITS,
        "changed": changed,
        "fields_too": bool(form.errors) or "mended" in request.POST,
    }
    fragment = wants_part(request) and request.method == "POST"
    answer = render(request, f"{PAGE}#report" if fragment else PAGE, context, status=status)
    return retarget(answer, "#report") if fragment else answer
