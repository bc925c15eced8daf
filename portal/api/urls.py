"""Addresses of the API (contract)."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularAPIView

from portal.api import (
    agents,
    appeals,
    audit_log,
    comparison,
    environments,
    errors,
    feed,
    inbox,
    index,
    ownership,
    publish,
    releases,
    rescans,
    skills,
    tokens,
    traces,
    versions,
)

urlpatterns = [
    path("", login_not_required(index.index), name="api-index"),
    re_path(
        "^schema/?$",
        SpectacularAPIView.as_view(authentication_classes=[], permission_classes=[], throttle_classes=[]),
        name="api-schema",
    ),
    path("publish", publish.publish, name="api-publish"),
    path("skills", skills.skill_list, name="api-skill-list"),
    path("skills/<str:name>", skills.skill_detail, name="api-skill-detail"),
    path("skills/<str:name>/transfer", ownership.skill_transfer, name="api-skill-transfer"),
    path("skills/<str:name>/compare", comparison.version_compare, name="api-version-compare"),
    path("skills/<str:name>/versions", versions.version_list, name="api-version-list"),
    path("skills/<str:name>/versions/<str:version>", versions.version_detail, name="api-version-detail"),
    path(
        "skills/<str:name>/versions/<str:version>/files/<path:path>",
        versions.version_file,
        name="api-version-file",
    ),
    path(
        "skills/<str:name>/versions/<str:version>/bundle.zip",
        versions.version_bundle,
        name="api-version-bundle",
    ),
    path(
        "skills/<str:name>/versions/<str:version>/rescan",
        rescans.version_rescan,
        name="api-version-rescan",
    ),
    path(
        "skills/<str:name>/versions/<str:version>/findings/<str:finding_id>/appeal",
        appeals.finding_appeal,
        name="api-finding-appeal",
    ),
    path(
        "skills/<str:name>/versions/<str:version>/<str:action>",
        versions.version_act,
        name="api-version-act",
    ),
    path("appeals", appeals.appeal_list, name="api-appeal-list"),
    path("appeals/<uuid:appeal_id>", appeals.appeal_detail, name="api-appeal-detail"),
    path("appeals/<uuid:appeal_id>/<str:decision>", appeals.appeal_decide, name="api-appeal-decide"),
    path("releases", releases.release_list, name="api-release-list"),
    path("releases/<uuid:release_id>", releases.release_detail, name="api-release-detail"),
    path("releases/<uuid:release_id>/<str:action>", releases.release_act, name="api-release-act"),
    path("inbox", inbox.inbox, name="api-inbox"),
    path("agents", agents.agent_list, name="api-agent-list"),
    path("agents/<slug:name>", agents.agent_detail, name="api-agent-detail"),
    path("agents/<slug:name>/transfer", agents.agent_transfer, name="api-agent-transfer"),
    path("agents/<slug:name>/retire", agents.agent_retire, name="api-agent-retire"),
    path("agents/<slug:name>/tokens", tokens.agent_tokens, name="api-agent-tokens"),
    path("tokens", tokens.token_list, name="api-token-list"),
    path("tokens/<uuid:token_id>/rotate", tokens.token_rotate, name="api-token-rotate"),
    path("tokens/<uuid:token_id>/revoke", tokens.token_revoke, name="api-token-revoke"),
    path("environments", environments.environment_list, name="api-environment-list"),
    path("environments/<str:name>", environments.environment_detail, name="api-environment-detail"),
    path("feed", feed.feed, name="api-feed"),
    path("feed/advertise", feed.advertise, name="api-feed-advertise"),
    path("feed/tools", feed.tools, name="api-feed-tools"),
    path("feed/skills/<str:name>", feed.skill, name="api-feed-skill"),
    path("feed/skills/<str:name>/resources/<path:path>", feed.resource, name="api-feed-resource"),
    path("feed/skills/<str:name>/bundle.zip", feed.bundle, name="api-feed-bundle"),
    path("traces", traces.trace_list, name="api-trace-list"),
    path("traces/<path:trace_id>", traces.trace_detail, name="api-trace-detail"),
    path("audit-log", audit_log.audit_log, name="api-audit-log"),
    path("audit-log/verify", audit_log.audit_log_verify, name="api-audit-log-verify"),
    re_path("^(?P<rest>.*)$", login_not_required(csrf_exempt(errors.unknown_address)), name="api-unknown"),
]
