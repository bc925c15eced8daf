"""Who reads the feed: agents, the tokens of agents and people, and agents' sessions."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7

from catalog.models.people import Team
from catalog.models.releases import Environment
from catalog.models.skills import Risk, Skill, SkillSet


class Agent(models.Model):
    """A program that reads the feed, with what it is limited to (nothing named: no limit)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.SlugField(max_length=64, unique=True)
    description = models.TextField(blank=True)
    team = models.ForeignKey(Team, models.PROTECT, related_name="agents")
    tags = models.JSONField(default=list, blank=True)
    skills = models.ManyToManyField(Skill, blank=True, related_name="agents")
    sets = models.ManyToManyField(SkillSet, blank=True, related_name="agents")
    skill_tags = models.JSONField(default=list, blank=True)
    highest_risk = models.CharField(max_length=8, choices=Risk.choices, default=Risk.HIGH)
    template = models.TextField(blank=True)
    created_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Token(models.Model):
    """A bearer token of one agent in one environment, or of one user; only its digest is kept."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=120, blank=True)
    prefix = models.CharField(max_length=16)
    sha256 = models.CharField(max_length=64, unique=True)
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, blank=True, related_name="tokens")
    environment = models.ForeignKey(Environment, models.PROTECT, null=True, blank=True, related_name="tokens")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="tokens"
    )
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    replaced_by = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(agent__isnull=False, environment__isnull=False, user=None)
                | Q(agent=None, environment=None, user__isnull=False),
                name="token_of_agent_or_user",
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…"


class Session(models.Model):
    """A set of skills frozen for one run of an agent (spec 5.4)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="sessions")
    environment = models.ForeignKey(Environment, models.PROTECT, related_name="sessions")
    session_id = models.CharField(max_length=200)
    mode = models.CharField(max_length=24)
    scripts = models.BooleanField(default=False)
    revision = models.PositiveBigIntegerField()
    skills = models.JSONField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("agent", "environment", "session_id"), name="session_once")
        ]

    def __str__(self) -> str:
        return self.session_id
