"""What is said against a finding, and when a version was last scanned."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from catalog.models.skills import Version


class Appeal(models.Model):
    """A publisher's word that a warning is wrong here, and an approver's answer to it.

    `fingerprint` is that of the finding, so that an appeal outlives a scan that finds the same.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waits for an approver")
        GRANTED = "granted", _("Granted")
        REFUSED = "refused", _("Refused")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    version = models.ForeignKey(Version, models.CASCADE, related_name="appeals")
    fingerprint = models.CharField(max_length=64)
    code = models.CharField(max_length=64)
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="appeals")
    at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="decided_appeals"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ("at", "pk")
        constraints = [
            models.UniqueConstraint(
                fields=("version", "fingerprint"),
                condition=Q(state__in=("waiting", "granted")),
                name="appeal_one_open",
            ),
            models.CheckConstraint(
                condition=Q(state__in=("waiting", "granted", "refused")), name="appeal_state_known"
            ),
        ]
        indexes = [models.Index(fields=("state", "at"), name="appeal_by_state")]

    def __str__(self) -> str:
        return f"{self.code} of {self.version}"


class Scan(models.Model):
    """The last time that a version was scanned again, and by which rules."""

    version = models.OneToOneField(Version, models.CASCADE, primary_key=True, related_name="scan")
    rule_version = models.PositiveIntegerField()
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.version}: {self.rule_version}"
