"""Every address of the portal; the name of each is that of its view, with hyphens."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from portal.views import (
    accounts,
    agents,
    appeals,
    approvals,
    comparison,
    editing,
    environments,
    errors,
    health,
    publish,
    releases,
    search,
    settings,
    skills,
    tokens,
    traces,
    versions,
)

urlpatterns = [
    path("", skills.skill_list, name="skill-list"),
    path("search/", search.search, name="search"),
    path("sign-in/", accounts.sign_in, name="sign-in"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("profile/", accounts.profile, name="profile"),
    path("preferences/environment/", accounts.environment_choose, name="environment-choose"),
    path("publish/", publish.publish, name="publish"),
    path("publish/check/", publish.publish_check, name="publish-check"),
    path("skills/<str:name>/", skills.skill_detail, name="skill-detail"),
    path("skills/<str:name>/files/", versions.version_files, name="version-files"),
    path("skills/<str:name>/compare/", comparison.version_compare, name="version-compare"),
    path("skills/<str:name>/versions/", versions.version_list, name="version-list"),
    path("skills/<str:name>/versions/<str:version>/", versions.version_detail, name="version-detail"),
    path(
        "skills/<str:name>/versions/<str:version>/files/<path:path>",
        versions.version_file,
        name="version-file",
    ),
    path(
        "skills/<str:name>/versions/<str:version>/bundle.zip", versions.version_bundle, name="version-bundle"
    ),
    path("skills/<str:name>/versions/<str:version>/edit/", editing.version_edit, name="version-edit"),
    path("skills/<str:name>/versions/<str:version>/rescan/", versions.version_rescan, name="version-rescan"),
    path(
        "skills/<str:name>/versions/<str:version>/findings/<str:fingerprint>/appeal/",
        appeals.finding_appeal,
        name="finding-appeal",
    ),
    path("appeals/<uuid:appeal_id>/", appeals.appeal_detail, name="appeal-detail"),
    path("skills/<str:name>/versions/<str:version>/<slug:action>/", versions.version_act, name="version-act"),
    path("skills/<str:name>/settings/", settings.skill_settings, name="skill-settings"),
    path("skills/<str:name>/settings/transfer/", settings.skill_transfer, name="skill-transfer"),
    path("skills/<str:name>/settings/delete/", settings.skill_delete, name="skill-delete"),
    path("skills/<str:name>/releases/", releases.release_list, name="release-list"),
    path("skills/<str:name>/releases/propose/", releases.release_propose, name="release-propose"),
    path("releases/<uuid:release_id>/", releases.release_detail, name="release-detail"),
    path("releases/<uuid:release_id>/<slug:action>/", releases.release_act, name="release-act"),
    path("inbox/", approvals.inbox, name="inbox"),
    path("agents/", agents.agent_list, name="agent-list"),
    path("agents/new/", agents.agent_create, name="agent-create"),
    path("agents/<slug:name>/", agents.agent_detail, name="agent-detail"),
    path("agents/<slug:name>/settings/", agents.agent_settings, name="agent-settings"),
    path("agents/<slug:name>/transfer/", agents.agent_transfer, name="agent-transfer"),
    path("agents/<slug:name>/retire/", agents.agent_retire, name="agent-retire"),
    path("agents/<slug:name>/tokens/revoke/", tokens.agent_tokens_revoke, name="agent-tokens-revoke"),
    path("agents/<slug:name>/tokens/", tokens.agent_token_issue, name="agent-token-issue"),
    path("tokens/", tokens.token_list, name="token-list"),
    path("tokens/issue/", tokens.token_issue, name="token-issue"),
    path("tokens/<uuid:token_id>/rotate/", tokens.token_rotate, name="token-rotate"),
    path("tokens/<uuid:token_id>/revoke/", tokens.token_revoke, name="token-revoke"),
    path("environments/", environments.environment_list, name="environment-list"),
    path("environments/new/", environments.environment_create, name="environment-create"),
    path("environments/<slug:name>/", environments.environment_detail, name="environment-detail"),
    path("environments/<slug:name>/preview/", environments.environment_preview, name="environment-preview"),
    path("environments/<slug:name>/move/", environments.environment_move, name="environment-move"),
    path("environments/<slug:name>/delete/", environments.environment_delete, name="environment-delete"),
    path("traces/", traces.trace_list, name="trace-list"),
    path("traces/<path:trace_id>/", traces.trace_detail, name="trace-detail"),
    path("favicon.ico", health.favicon, name="favicon"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/v1/", include("portal.api.urls")),
]

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler500 = errors.server_error
