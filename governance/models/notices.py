"""What people are told: one notice for each entry of the journal and person, and how far it was read."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7

from catalog.models import Environment, Release, Skill


class NoticeCursor(models.Model):
    """The one row that says up to which entry the journal was read for notices."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    n = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.n)


class Notice(models.Model):
    """That something happened, for one person; in the portal until it is read, and by mail.

    `entry` is the number of the journal's entry. `told` holds what its sentence names. `leased_until`
    is set by whoever sends the mail; `mailed_at` once it is sent.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    entry = models.PositiveBigIntegerField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notices")
    verb = models.CharField(max_length=64)
    told = models.JSONField(default=dict)
    release = models.ForeignKey(Release, models.CASCADE, null=True, blank=True, related_name="+")
    skill = models.ForeignKey(Skill, models.CASCADE, null=True, blank=True, related_name="+")
    environment = models.ForeignKey(Environment, models.CASCADE, null=True, blank=True, related_name="+")
    at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    wants_mail = models.BooleanField(default=False)
    leased_until = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("entry", "user"), name="notice_once")]
        indexes = [
            models.Index(fields=("user", "-entry"), name="notice_by_user"),
            models.Index(fields=("user",), condition=Q(read_at=None), name="notice_unread"),
            models.Index(
                fields=("entry",), condition=Q(mailed_at=None, wants_mail=True), name="notice_to_mail"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.entry} {self.verb}: {self.user}"
