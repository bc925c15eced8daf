"""Appeals of warnings: made on the page of a version, decided on a page of their own."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from catalog import appeals
from catalog.access import NotAllowed
from catalog.models import Appeal
from portal import access
from portal.forms.plain import PlainField
from portal.forms.skills import ReasonForm
from portal.frames import skill_frame
from portal.version_report import version_report


@require_http_methods(["GET", "HEAD", "POST"])
def finding_appeal(request: HttpRequest, name: str, version: str, fingerprint: str) -> HttpResponse:
    """Say why a warning is wrong here."""
    finding = access.finding_read(request, name, version, fingerprint)
    row = finding.version
    if not appeals.may_appeal(access.powers(request), row.skill):
        raise NotAllowed(_("Appealing needs the role publisher in %(team)s.") % {"team": row.skill.team.name})
    form = ReasonForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        reason, now = form.cleaned_data["reason"], timezone.now()
        try:
            appeals.appeal(finding=finding, actor=access.actor(request), reason=reason, now=now)
        except appeals.NotAppealable as refusal:
            messages.warning(request, str(refusal))
        else:
            messages.success(request, _("The appeal waits for an approver."))
        return redirect("version-detail", row.skill.folder, row.version)
    context = {
        **skill_frame(request, row.skill, "versions"),
        "version": row,
        "finding": finding,
        "form": form,
    }
    return render(request, "appeals/finding_appeal.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def appeal_detail(request: HttpRequest, appeal_id: UUID) -> HttpResponse:
    """One appeal with its finding; a POST decides it (`decision` is grant or refuse)."""
    appeal = access.appeal_read(request, appeal_id)
    refusal = appeals.why_not_decide(appeal, access.powers(request))
    form = _DecisionForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _decide(request, appeal, form)
    version = appeal.version
    findings = list(version.findings.filter(fingerprint=appeal.fingerprint))
    context = {
        **skill_frame(request, version.skill, "versions"),
        "version": version,
        "appeal": appeal,
        "report": version_report(version, findings, list(version.files.select_related("blob"))),
        "refusal": refusal,
        "form": form,
    }
    return render(request, "appeals/appeal_detail.html", context, status=422 if form.is_bound else 200)


class _DecisionForm(forms.Form):
    """Grant or refuse; who refuses says why."""

    decision = forms.ChoiceField(choices=[("grant", "grant"), ("refuse", "refuse")])
    note = PlainField(required=False, max_length=2000)

    def clean(self) -> None:
        """A refusal without a word helps nobody."""
        super().clean()
        if self.cleaned_data.get("decision") == "refuse" and not self.cleaned_data.get("note"):
            self.add_error("note", _("Say why; the publisher reads it."))


def _decide(request: HttpRequest, appeal: Appeal, form: _DecisionForm) -> HttpResponse:
    granted = form.cleaned_data["decision"] == "grant"
    note, now = form.cleaned_data["note"], timezone.now()
    try:
        appeals.decide(appeal=appeal, granted=granted, actor=access.actor(request), note=note, now=now)
    except appeals.NotAppealable as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, _("The appeal is granted.") if granted else _("The appeal is refused."))
    return redirect("appeal-detail", appeal.pk)
