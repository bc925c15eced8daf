"""The versions of a skill: their list, their report, and their files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Prefetch, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog import blobs
from catalog.access import NotAllowed
from catalog.appeals import may_appeal
from catalog.bundles.reading import HEADS
from catalog.models import BundleFile, Release, Skill, Version, VersionFinding
from catalog.rescans import Rescan, may_rescan, rescan
from portal import access
from portal.access import NotFound
from portal.comparing import rivals_of
from portal.downloads import attachment, matches_etag, not_modified
from portal.filetree import tree_of
from portal.forms.skills import ReasonForm
from portal.fragments import render_part, wants_part
from portal.frames import skill_frame
from portal.highlighting import highlight_lines
from portal.lanes import OPEN
from portal.version_acts import ACTS, act_of, acts_of, served_in, what_was_done
from portal.version_report import version_report

PAGE_SIZE = 50
MOST_SHOWN = 512 * 1024
MOST_LINES = 20_000
TONES = {"error": "bad", "warning": "warn", "advice": "mute"}
SEVERITY = ("error", "warning", "advice")


@dataclass(frozen=True, slots=True)
class Shown:
    """A file as the page shows it: its lines, or why it shows none."""

    file: BundleFile
    source: SafeString | None
    lines: int = 0
    reason: str = ""


@require_safe
def version_list(request: HttpRequest, name: str) -> HttpResponse:
    """Every version of the skill, newest first, and where each is served."""
    skill = access.skill_read(request, name)
    releases = (
        Release.objects.filter(state__in=OPEN).select_related("environment").order_by("environment__order")
    )
    versions = (
        Version.objects.filter(skill=skill)
        .defer("fields", "provenance", "notes")
        .select_related("publisher")
        .annotate(warnings=Count("findings", filter=Q(findings__severity="warning")))
        .prefetch_related(Prefetch("releases", releases, to_attr="open_releases"))
        .order_by("-precedence")
    )
    page = Paginator(versions, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {**skill_frame(request, skill, "versions"), "page": page}
    return render_part(request, "versions/version_list.html", "tab", context)


@require_safe
def version_detail(request: HttpRequest, name: str, version: str) -> HttpResponse:
    """The report of one version: findings by file, what was declared, where it comes from."""
    row = access.version_read(request, name, version)
    findings, files = list(row.findings.all()), list(row.files.select_related("blob"))
    only = request.GET.get("severity", "")
    report = version_report(row, findings, files)
    if request.GET.get("format") == "md":
        return HttpResponse(report.markdown, content_type="text/markdown; charset=utf-8")
    context = {
        **skill_frame(request, row.skill, "versions"),
        "version": row,
        "report": version_report(row, findings, files, only=only) if only else report,
        "markdown": report.markdown,
        "may_appeal": may_appeal(access.powers(request), row.skill),
    }
    if wants_part(request) and request.headers.get("HX-Target") == "report":
        return render(request, "versions/report.html", context)
    powers = access.powers(request)
    acts = acts_of(row, powers)
    context |= {
        "acts": acts,
        "may_rescan": may_rescan(powers, row.skill),
        "served": served_in(row) if any(act.grave for act in acts) else [],
        "form": ReasonForm(),
        "releases": row.releases.select_related("environment").order_by("environment__order", "-proposed_at"),
        "files": files,
        "rivals": rivals_of(row),
        "dependencies": row.dependencies.order_by("folder"),
    }
    return render_part(request, "versions/version_detail.html", "tab", context)


@require_http_methods(["GET", "HEAD", "POST"])
def version_act(request: HttpRequest, name: str, version: str, action: str) -> HttpResponse:
    """Deprecate, yank or revoke a version, with a reason; none is taken back."""
    if action not in ACTS:
        raise NotFound(_("There is no such action"))
    row = access.version_read(request, name, version)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    act = act_of(action, row)
    if form.is_valid():
        reason, now = form.cleaned_data["reason"], timezone.now()
        ACTS[action](version=row, actor=access.actor(request), reason=reason, now=now)
        messages.success(request, what_was_done(action, row))
        return redirect("version-detail", row.skill.folder, row.version)
    if action not in {one.action for one in acts_of(row, access.powers(request))}:
        raise NotAllowed(
            _("You cannot %(action)s this version, or it is done.") % {"action": act.title.lower()}
        )
    context = {
        **skill_frame(request, row.skill, "versions"),
        "version": row,
        "act": act,
        "form": form,
        "served": served_in(row),
    }
    return render(request, "versions/version_act.html", context, status=422 if form.is_bound else 200)


@require_POST
def version_rescan(request: HttpRequest, name: str, version: str) -> HttpResponse:
    """Scan the bytes again by the rules of today."""
    row = access.version_read(request, name, version)
    try:
        done = rescan(version=row, limits=settings.LIMITS, actor=access.actor(request), now=timezone.now())
    except FileNotFoundError:
        messages.error(request, _("The store has lost bytes of this version. Tell an administrator."))
    else:
        messages.success(request, _what_came(done))
    return redirect("version-detail", row.skill.folder, row.version)


@require_safe
def version_files(request: HttpRequest, name: str) -> HttpResponse:
    """The files of a version (`?version=`, else the latest), with its head shown."""
    skill = access.skill_read(request, name)
    number = request.GET.get("version") or (skill.latest.version if skill.latest else "")
    if not number:
        newest = skill.versions.order_by("-precedence").first()
        number = newest.version if newest else ""
    version = access.version_read(request, name, number)
    files = list(version.files.select_related("blob"))
    head = next((file for path in HEADS for file in files if file.path == path), files[0] if files else None)
    return _show_files(request, version, files, head)


@require_safe
def version_file(request: HttpRequest, name: str, version: str, path: str) -> HttpResponse:
    """One file beside the tree; with `?download=1` its bytes as an attachment."""
    row = access.version_read(request, name, version)
    files = list(row.files.select_related("blob"))
    file = next((one for one in files if one.path == path), None)
    if file is None:
        told = {"path": path[:200], "name": row.skill.name, "version": row.version}
        raise NotFound(_("There is no file %(path)s in %(name)s %(version)s") % told)
    if request.GET.get("download"):
        return _send(request, row, file.blob_id, path.rpartition("/")[2], "application/octet-stream")
    return _show_files(request, row, files, file)


@require_safe
def version_bundle(request: HttpRequest, name: str, version: str) -> HttpResponse:
    """The artifact of the version, as clients download it."""
    row = access.version_read(request, name, version)
    filename = f"{row.skill.folder}-{row.version}.zip"
    return _send(request, row, row.artifact_id, filename, "application/zip")


def _what_came(done: Rescan) -> str:
    if not done.changed:
        return _("Scanned again: nothing differs.")
    told = {"gained": done.gained, "lost": done.lost, "risk": done.version.get_suggested_risk_display()}
    return _("Scanned again: %(gained)d new, %(lost)d gone; the suggested risk is %(risk)s.") % told


def _send(request: HttpRequest, version: Version, digest: str, name: str, media_type: str) -> HttpResponse:
    """The bytes of a blob; those of a revoked version go to administrators alone."""
    if not access.may_download(request, version):
        raise NotAllowed(_("This version is revoked. Administrators alone can download it."))
    if matches_etag(request, f'"{digest}"'):
        return not_modified(f'"{digest}"')
    return attachment(blobs.read_blob(digest), name, media_type, digest)


def _show_files(
    request: HttpRequest, version: Version, files: list[BundleFile], file: BundleFile | None
) -> HttpResponse:
    # The worst comes last, so that it decides the tone of its file and line.
    findings = sorted(version.findings.exclude(path=""), key=_least_first)
    tones = {one.path: TONES[one.severity] for one in findings}
    marks = {one.line: TONES[one.severity] for one in findings if file and one.line and one.path == file.path}
    context: dict[str, Any] = {
        **skill_frame(request, version.skill, "files"),
        "version": version,
        "numbers": _numbers(version.skill),
        "tree": tree_of(files, tones),
        "shown": _shown(request, version, file, marks) if file else None,
        "file_findings": [one for one in reversed(findings) if file and one.path == file.path],
    }
    return render_part(request, "versions/version_files.html", "tab", context)


def _numbers(skill: Skill) -> list[str]:
    """The versions to choose from, newest first."""
    return list(skill.versions.order_by("-precedence").values_list("version", flat=True)[:100])


def _shown(request: HttpRequest, version: Version, file: BundleFile, marks: dict[int, str]) -> Shown:
    if not access.may_download(request, version):
        return Shown(file, None, reason=_("This version is revoked. Administrators alone can read it."))
    if file.blob.size > MOST_SHOWN:
        return Shown(file, None, reason=_("It is too large to be shown here."))
    try:
        content = blobs.read_blob(file.blob_id)
    except FileNotFoundError:
        return Shown(file, None, reason=_("The store has lost its bytes. Tell an administrator."))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return Shown(file, None, reason=_("It is not text."))
    lines = text.removesuffix("\n").count("\n") + 1
    if lines > MOST_LINES:
        return Shown(file, None, lines, reason=_("It has too many lines to be shown here."))
    return Shown(file, highlight_lines(text, file.path, marks), lines)


def _least_first(finding: VersionFinding) -> tuple[int, int]:
    return -SEVERITY.index(finding.severity), -(finding.line or 0)
