"""Django's admin as a window: administrators look at the tables and change nothing.

Everything is changed through the domain functions, which check rights and keep the journal. Digests
of tokens and passwords are not shown. Payloads of calls are not here at all: they are for analysts,
and no administrator is one by that role.
"""

from __future__ import annotations

from typing import Any, cast

import django.contrib.auth.admin  # noqa: F401 (registers groups, which are taken back below)
import django_celery_beat.admin  # noqa: F401 (registers schedules, which are taken back below)
from django.apps import apps
from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Field, ForeignKey, Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from portal import access

# Fields that no page shows, whatever model they belong to.
HIDDEN = frozenset({"password", "sha256", "precedence"})
# Tables that are not here.
ELSEWHERE = frozenset({"governance.CallDetail", "governance.SubjectTag"})
HIDDEN_OF = {
    "catalog.Blob": frozenset[str](),
    "catalog.IdempotencyKey": frozenset({"body"}),
    "governance.Erasure": frozenset({"tags"}),
}
# Columns of the lists; a model that is not named here shows its first fields.
COLUMNS: dict[str, tuple[str, ...]] = {
    "catalog.User": ("username", "first_name", "last_name", "is_active", "is_staff", "last_login"),
    "catalog.Skill": ("name", "team", "owner", "visibility", "latest", "updated_at", "deleted_at"),
    "catalog.Version": (
        "skill",
        "version",
        "risk_level",
        "suggested_risk",
        "stability",
        "publisher",
        "published_at",
    ),
    "catalog.VersionFinding": ("version", "severity", "code", "path", "line"),
    "catalog.BundleFile": ("version", "path", "executable"),
    "catalog.Environment": ("title", "order", "highest_risk", "lowest_stability", "revision"),
    "catalog.Release": ("skill", "version", "environment", "state", "percent", "proposer", "changed_at"),
    "catalog.Transition": ("release", "n", "action", "from_state", "to_state", "actor", "created_at"),
    "catalog.Approval": ("release", "user", "right_of", "confirmed", "created_at", "voided_at"),
    "catalog.Override": ("release", "gate", "reason", "user", "created_at"),
    "catalog.Agent": ("name", "team", "highest_risk", "created_at", "retired_at"),
    "catalog.Token": (
        "prefix",
        "name",
        "agent",
        "user",
        "environment",
        "expires_at",
        "last_used_at",
        "revoked_at",
    ),
    "catalog.Session": ("session_id", "agent", "environment", "mode", "created_at", "expires_at"),
    "catalog.JournalEntry": ("n", "at", "actor", "verb", "target", "origin"),
    "governance.Call": (
        "trace_id",
        "started_at",
        "skill_text",
        "agent",
        "environment",
        "outcome",
        "failed_stage",
    ),
}
MOST_COUNTED = 10_000


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # the class takes no argument when Django runs
    """Counts up to a limit: counting millions of calls would take longer than looking at them."""

    @cached_property
    def count(self) -> int:
        """How many rows there are, or the limit."""
        rows = cast("QuerySet[Model]", self.object_list)
        return len(rows.values_list("pk", flat=True)[:MOST_COUNTED])


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # the class takes no argument when Django runs
    """Lists and shows the rows of a model; nobody adds, changes or removes one."""

    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    actions = None

    def has_module_permission(self, request: HttpRequest) -> bool:
        """As for each row."""
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Administrators alone."""
        return access.powers(request).is_admin

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody."""
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Every field but those that stay hidden."""
        return _shown_fields(self.model)


def _label(model: type[Model]) -> str:
    return model._meta.label


def _shown_fields(model: type[Model]) -> list[str]:
    hidden = HIDDEN_OF.get(_label(model), HIDDEN)
    fields = [*model._meta.fields, *model._meta.many_to_many]
    return [field.name for field in fields if field.name not in hidden]


def _register(model: type[Model]) -> None:
    if admin.site.is_registered(model):
        admin.site.unregister(model)
    held = {field.name for field in model._meta.fields}
    columns = COLUMNS.get(_label(model)) or [name for name in _shown_fields(model) if name in held][:6]
    options = {
        "list_display": columns,
        "list_select_related": [name for name in columns if _is_reference(model, name)] or False,
        "ordering": ("-pk",),
        "__module__": __name__,
    }
    admin.site.register(model, type(f"{model.__name__}Admin", (ReadOnlyAdmin,), options))


def _is_reference(model: type[Model], name: str) -> bool:
    field = next((one for one in model._meta.get_fields() if one.name == name), None)
    return isinstance(field, Field) and isinstance(field, ForeignKey)


for _model in apps.get_models():
    if _model._meta.label in ELSEWHERE:
        continue
    if _model._meta.app_label in {"catalog", "governance", "auth", "django_celery_beat"}:
        _register(_model)
