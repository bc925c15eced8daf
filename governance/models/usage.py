"""Hourly counters of what the feed served."""

from __future__ import annotations

from django.db import models

from catalog.models import Agent, Environment, Skill, Version


class ReadCount(models.Model):
    """How often an agent was served a version in an hour, by what it asked for."""

    class Read(models.TextChoices):
        ADVERTISED = "advertised"
        LOADED = "loaded"
        RESOURCE = "resource"

    hour = models.DateTimeField()
    environment = models.ForeignKey(Environment, models.CASCADE, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="+")
    skill = models.ForeignKey(Skill, models.CASCADE, related_name="reads", db_index=False)
    version = models.ForeignKey(Version, models.CASCADE, related_name="+")
    read = models.CharField(max_length=16, choices=Read.choices)
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=("hour", "environment", "agent", "version", "read"), name="read_count_once"
            )
        ]
        indexes = [models.Index(fields=("skill", "hour"), name="read_count_by_skill")]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%dT%H} {self.read} {self.count}"
