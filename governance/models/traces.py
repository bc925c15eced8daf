"""Calls as agents reported them: narrow rows to list and count, masked payloads beside them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from catalog.models import Agent, Environment, Release, Skill, Version


class Kind(models.TextChoices):
    """What an agent did with a skill."""

    CALLED = "called", _("Called")
    LOADED = "loaded", _("Loaded")
    RESOURCE = "resource", _("Read a resource")
    SCRIPT = "script", _("Ran a script")


class Outcome(models.TextChoices):
    OK = "ok", _("OK")
    ERROR = "error", _("Failed")


class Stage(models.TextChoices):
    """The six stages of a call, in their order (spec 6.1)."""

    INTENT = "intent", _("Intent")
    SELECTION = "selection", _("Selection")
    PARAMETERS = "parameters", _("Parameters")
    PERMISSION = "permission", _("Permission")
    EXECUTION = "execution", _("Execution")
    OUTPUT = "output", _("Output")


class Source(models.TextChoices):
    """How it was reported."""

    REST = "rest", _("REST")
    OTLP = "otlp", _("OpenTelemetry spans")
    LOGS = "logs", _("OpenTelemetry log records")


class Call(models.Model):
    """One call. `skill_text` and `version_text` are what the agent said, known to us or not."""

    id = models.BigAutoField(primary_key=True)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="calls", db_index=False)
    environment = models.ForeignKey(Environment, models.PROTECT, related_name="calls", db_index=False)
    source = models.CharField(max_length=8, choices=Source.choices, default=Source.REST)
    call_id = models.CharField(max_length=200)
    trace_id = models.CharField(max_length=200)
    parent_id = models.CharField(max_length=200, blank=True)
    session_id = models.CharField(max_length=200, blank=True)
    skill = models.ForeignKey(Skill, models.PROTECT, null=True, related_name="calls", db_index=False)
    version = models.ForeignKey(Version, models.PROTECT, null=True, related_name="calls")
    skill_text = models.CharField(max_length=200, blank=True)
    version_text = models.CharField(max_length=255, blank=True)
    release = models.ForeignKey(Release, models.PROTECT, null=True, related_name="calls", db_index=False)
    arm = models.CharField(max_length=16, blank=True)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    attempt = models.PositiveIntegerField(default=1)
    fallback_for = models.CharField(max_length=200, blank=True)
    replanned = models.BooleanField(default=False)
    model = models.CharField(max_length=200, blank=True)
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    failed_stage = models.CharField(max_length=16, choices=Stage.choices, blank=True)
    error_code = models.CharField(max_length=200, blank=True)
    retryable = models.BooleanField(null=True)
    started_at = models.DateTimeField()
    duration_ms = models.PositiveBigIntegerField()
    input_tokens = models.PositiveBigIntegerField(null=True)
    output_tokens = models.PositiveBigIntegerField(null=True)
    cost = models.DecimalField(max_digits=18, decimal_places=8, null=True)
    currency = models.CharField(max_length=3, blank=True)
    cache_hit = models.BooleanField(null=True)
    received_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("agent", "environment", "call_id"), name="call_once"),
        ]
        indexes = [
            models.Index(fields=("environment", "started_at", "id"), name="call_by_environment"),
            models.Index(fields=("skill", "started_at", "id"), name="call_by_skill"),
            models.Index(fields=("agent", "started_at", "id"), name="call_by_agent"),
            models.Index(fields=("started_at", "id"), name="call_by_time"),
            # Whose trace it is stands beside its id: an agent says what ids it likes. By the classes PostgreSQL finds
            # a beginning too, whatever language it sorts by; SQLite knows none.
            models.Index(
                fields=("trace_id", "agent", "environment"),
                name="call_by_trace",
                opclasses=("varchar_pattern_ops", "uuid_ops", "uuid_ops"),
            ),
            # Retention goes by when a call came in: the clock of an agent may be wrong.
            models.Index(fields=("environment", "received_at"), name="call_by_receipt"),
            models.Index(fields=("release",), condition=Q(release__isnull=False), name="call_by_release"),
        ]

    def __str__(self) -> str:
        return self.call_id


class CallDetail(models.Model):
    """The masked payloads of a call; nothing unmasked is ever written."""

    call = models.OneToOneField(Call, models.CASCADE, primary_key=True, related_name="detail")
    user_intent = models.TextField(blank=True)
    candidates = models.JSONField(default=list)
    selection_reason = models.TextField(blank=True)
    parameters = models.JSONField(null=True)
    output = models.JSONField(null=True)
    spans = models.JSONField(default=list)

    def __str__(self) -> str:
        return str(self.call)


class ContextSpan(models.Model):
    """A span that concerns no skill, masked, kept beside the calls of its trace for who reads them.

    Spans of a trace without any call go after a day (`governance.retention`).
    """

    id = models.BigAutoField(primary_key=True)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="+", db_index=False)
    environment = models.ForeignKey(Environment, models.PROTECT, related_name="+", db_index=False)
    trace_id = models.CharField(max_length=200)
    span_id = models.CharField(max_length=200)
    parent_id = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=300)
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    started_at = models.DateTimeField()
    duration_ms = models.PositiveBigIntegerField()
    attributes = models.JSONField(default=dict)
    received_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=("trace_id", "agent", "environment", "span_id"), name="context_span_once"
            ),
        ]
        indexes = [models.Index(fields=("environment", "received_at"), name="context_span_by_receipt")]

    def __str__(self) -> str:
        return self.name


class SubjectTag(models.Model):
    """The full keyed hash of a value that was masked in a call or a span, to find all traces of a subject."""

    call = models.ForeignKey(Call, models.CASCADE, null=True, related_name="subjects", db_index=False)
    span = models.ForeignKey(ContextSpan, models.CASCADE, null=True, related_name="subjects", db_index=False)
    hash = models.CharField(max_length=64)
    key_id = models.CharField(max_length=16)
    kind = models.CharField(max_length=16)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=("call", "hash", "key_id"), condition=Q(call__isnull=False), name="subject_tag_once"
            ),
            models.UniqueConstraint(
                fields=("span", "hash", "key_id"), condition=Q(span__isnull=False), name="span_tag_once"
            ),
            models.CheckConstraint(
                condition=Q(call__isnull=False, span=None) | Q(call=None, span__isnull=False),
                name="subject_tag_of_call_or_span",
            ),
        ]
        indexes = [models.Index(fields=("hash", "key_id"), name="subject_tag_hash")]

    def __str__(self) -> str:
        return f"{self.kind} {self.hash[:4]}"


class TaskOutcome(models.Model):
    """Whether a whole task was completed, as its agent reported (spec 6.1)."""

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="tasks")
    environment = models.ForeignKey(Environment, models.PROTECT, related_name="tasks")
    task_id = models.CharField(max_length=200)
    trace_id = models.CharField(max_length=200, blank=True)
    completed = models.BooleanField()
    calls = models.PositiveIntegerField(default=0)
    replans = models.PositiveIntegerField(default=0)
    received_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("agent", "environment", "task_id"), name="task_outcome_once")
        ]
        indexes = [
            models.Index(fields=("environment", "received_at"), name="task_outcome_by_receipt"),
            models.Index(fields=("trace_id", "agent", "environment"), name="task_outcome_by_trace"),
        ]

    def __str__(self) -> str:
        return self.task_id
