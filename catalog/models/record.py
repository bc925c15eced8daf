"""What makes the record trustworthy: the journal, answered requests, and runs of jobs."""

from __future__ import annotations

from django.db import models

from catalog.models.agents import Token


class JournalHead(models.Model):
    """The one row that every append locks: number and hash of the last entry."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    n = models.PositiveBigIntegerField(default=0)
    hash = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.n} {self.hash}"


class JournalEntry(models.Model):
    """Who changed what, when and from where; `hash` covers the entry and the one before it."""

    n = models.PositiveBigIntegerField(primary_key=True)
    at = models.DateTimeField(db_index=True)
    actor = models.CharField(max_length=200, db_index=True)
    verb = models.CharField(max_length=64, db_index=True)
    target = models.CharField(max_length=300, db_index=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    origin = models.CharField(max_length=100, blank=True)
    previous = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ("n",)
        verbose_name_plural = "journal entries"

    def __str__(self) -> str:
        return f"{self.n} {self.verb} {self.target}"


class IdempotencyKey(models.Model):
    """The answer to a write that carried an Idempotency-Key, kept for a day."""

    token = models.ForeignKey(Token, models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    request_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("token", "key"), name="idempotency_key_once")]

    def __str__(self) -> str:
        return self.key


class JobRun(models.Model):
    """A run of a job for a period; the unique row is its lease, which the run of `owner` holds."""

    name = models.CharField(max_length=64)
    period = models.CharField(max_length=64)
    owner = models.UUIDField()
    started_at = models.DateTimeField()
    leased_until = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    result = models.JSONField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("name", "period"), name="job_run_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.period}"
