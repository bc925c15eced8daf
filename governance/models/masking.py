"""How this instance masks beyond what is built in, and who was erased."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7


class MaskingRule(models.Model):
    """A rule of this instance: what matches `pattern` (RE2) is masked as `[KIND·…]`.

    With `fields`, only values under these names are looked at; without a pattern they are masked whole.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=16, unique=True)
    description = models.CharField(max_length=200, blank=True)
    pattern = models.CharField(max_length=1000, blank=True)
    fields = models.JSONField(default=list)
    is_on = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ("kind",)

    def __str__(self) -> str:
        return self.kind


class MaskingSwitch(models.Model):
    """A built-in kind that somebody has switched off; a kind without a row is on."""

    kind = models.CharField(max_length=16, primary_key=True)
    reason = models.CharField(max_length=500)
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.kind


class Erasure(models.Model):
    """A request to delete all traces of one subject. The value itself is never written: `tags` are its keyed hashes.

    `lost` counts the tags under keys that this instance no longer knows, which nobody can search.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Under way")
        DONE = "done", _("Done")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tags = models.JSONField()
    reason = models.CharField(max_length=500, blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    requested_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    traces = models.PositiveBigIntegerField(default=0)
    calls = models.PositiveBigIntegerField(default=0)
    spans = models.PositiveBigIntegerField(default=0)
    tasks = models.PositiveBigIntegerField(default=0)
    lost = models.PositiveBigIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-requested_at",)

    def __str__(self) -> str:
        return str(self.id)
