"""What came in, by the hour."""

from __future__ import annotations

from django.db import models

from catalog.models import Agent, Environment
from governance.models.traces import Source


class Intake(models.Model):
    """What an agent reported in an hour of the server's clock, counted in the transactions that wrote it.

    `unknown` are accepted calls that name a skill or version that is not in the catalog, `spans` and `dropped` the spans
    that concern no skill: kept, and over the bounds. `masked` counts the values that masks stand for. Retention and
    erasure take nothing away here.
    """

    hour = models.DateTimeField()
    environment = models.ForeignKey(Environment, models.PROTECT, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="intake", db_index=False)
    source = models.CharField(max_length=8, choices=Source.choices)
    accepted = models.PositiveBigIntegerField(default=0)
    duplicates = models.PositiveBigIntegerField(default=0)
    rejected = models.PositiveBigIntegerField(default=0)
    unknown = models.PositiveBigIntegerField(default=0)
    spans = models.PositiveBigIntegerField(default=0)
    dropped = models.PositiveBigIntegerField(default=0)
    masked = models.PositiveBigIntegerField(default=0)
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("agent", "environment", "hour", "source"), name="intake_once")
        ]
        verbose_name_plural = "intake"

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%dT%H} {self.source}"
