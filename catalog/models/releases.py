"""Where versions run: environments with their policy, releases and their transitions."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from catalog.models.skills import Risk, Skill, Stability, Version


class Confirmation(models.TextChoices):
    """When a call needs a person's consent before it runs (spec 5.5)."""

    NEVER = "never", _("Never")
    HIGH = "high", _("For high-risk skills")
    ALWAYS = "always", _("Always")


class Environment(models.Model):
    """A place where skills are served, with its policy; a token belongs to one of them.

    `permissions` are the names allowed there. `approvals_*` are the approvals that a release of
    that risk needs; 0 lets a proposal go live at once. `second_confirmation` asks approvers of
    high-risk releases to type the skill's name; `outside_approval` wants approvers who do not publish
    for the owning team. `revision` counts every change that the feed shows.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.SlugField(max_length=32, unique=True)
    title = models.CharField(max_length=60)
    order = models.PositiveSmallIntegerField(unique=True)
    permissions = models.JSONField(default=list)
    highest_risk = models.CharField(max_length=8, choices=Risk.choices, default=Risk.HIGH)
    lowest_stability = models.CharField(
        max_length=16, choices=Stability.choices, default=Stability.EXPERIMENTAL
    )
    approvals_low = models.PositiveSmallIntegerField(default=1, validators=[MaxValueValidator(5)])
    approvals_medium = models.PositiveSmallIntegerField(default=1, validators=[MaxValueValidator(5)])
    approvals_high = models.PositiveSmallIntegerField(default=1, validators=[MaxValueValidator(5)])
    second_confirmation = models.BooleanField(default=False)
    call_confirmation = models.CharField(
        max_length=8, choices=Confirmation.choices, default=Confirmation.NEVER
    )
    script_confirmation = models.CharField(
        max_length=8, choices=Confirmation.choices, default=Confirmation.NEVER
    )
    needs_idempotency = models.BooleanField(default=False)
    needs_evaluation = models.BooleanField(default=False)
    outside_approval = models.BooleanField(default=False)
    owner_may_start = models.BooleanField(default=False)
    soak_minutes = models.PositiveIntegerField(default=60)
    retention_days = models.PositiveIntegerField(default=90)
    revision = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ("order",)

    def __str__(self) -> str:
        return self.title


class Revision(models.Model):
    """One change of what an environment serves; append-only."""

    environment = models.ForeignKey(Environment, models.PROTECT, related_name="revisions")
    n = models.PositiveBigIntegerField()
    changes = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("environment", "n"), name="revision_once")]

    def __str__(self) -> str:
        return f"{self.environment} {self.n}"


class State(models.TextChoices):
    """The states of a release (spec 4.2); agents are served those of `SERVED`."""

    PROPOSED = "proposed", _("Waits for approval")
    APPROVED = "approved", _("Approved")
    CANARY = "canary", _("Canary")
    LIVE = "live", _("Live")
    REJECTED = "rejected", _("Rejected")
    HALTED = "halted", _("Halted")
    ROLLED_BACK = "rolled_back", _("Rolled back")
    SUPERSEDED = "superseded", _("Superseded")
    WITHDRAWN = "withdrawn", _("Withdrawn")
    EXPIRED = "expired", _("Expired")


SERVED = (State.LIVE, State.CANARY)


class Release(models.Model):
    """A version on its way through an environment; `catalog.releases` alone writes it.

    It is approved for these bytes, this declaration and this environment. `previous` is the
    version that was live when this one became live, to which a rollback returns. `canary` holds
    the plan of a gray release, `next_step_at` when its schedule moves it on, and `seed` its place in
    the hash of callers.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    environment = models.ForeignKey(Environment, models.PROTECT, related_name="releases")
    skill = models.ForeignKey(Skill, models.PROTECT, related_name="releases")
    version = models.ForeignKey(Version, models.PROTECT, related_name="releases")
    state = models.CharField(max_length=16, choices=State.choices, default=State.PROPOSED)
    percent = models.PositiveSmallIntegerField(default=0)
    seed = models.CharField(max_length=32)
    canary = models.JSONField(default=dict)
    next_step_at = models.DateTimeField(null=True, blank=True)
    previous = models.ForeignKey(Version, models.PROTECT, null=True, blank=True, related_name="+")
    bundle_sha256 = models.CharField(max_length=64)
    declaration_sha256 = models.CharField(max_length=64)
    note = models.TextField(blank=True)
    proposer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="proposed_releases"
    )
    proposed_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=("skill", "environment"), condition=Q(state=State.LIVE), name="release_one_live"
            ),
            models.UniqueConstraint(
                fields=("skill", "environment"), condition=Q(state=State.CANARY), name="release_one_canary"
            ),
            models.UniqueConstraint(
                fields=("version", "environment"),
                condition=Q(state__in=("proposed", "approved", "canary", "live")),
                name="release_one_open",
            ),
            models.CheckConstraint(condition=Q(state__in=State.values), name="release_state_known"),
            models.CheckConstraint(condition=Q(percent__lte=100), name="release_percent"),
        ]
        indexes = [
            models.Index(fields=("state", "environment"), name="release_by_state"),
            models.Index(fields=("skill", "-proposed_at"), name="release_by_skill"),
            models.Index(
                fields=("next_step_at",), condition=Q(next_step_at__isnull=False), name="release_next_step"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version} in {self.environment}"


class Transition(models.Model):
    """One change of a release: who, when, why, from what to what, and on which clearance."""

    release = models.ForeignKey(Release, models.PROTECT, related_name="transitions")
    n = models.PositiveIntegerField()
    action = models.CharField(max_length=16)
    from_state = models.CharField(max_length=16, blank=True)
    to_state = models.CharField(max_length=16)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    reason = models.TextField(blank=True)
    clearance = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("release", "n")
        constraints = [models.UniqueConstraint(fields=("release", "n"), name="transition_once")]

    def __str__(self) -> str:
        return f"{self.release}: {self.action}"


class Approval(models.Model):
    """An approver's word for a release; void when what it bound to changed for the worse.

    `right_of` is whose right was used: the user's own, or of the one who delegated it. `gates` names
    those that were open then.
    """

    release = models.ForeignKey(Release, models.PROTECT, related_name="approvals")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="approvals")
    right_of = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    gates = models.JSONField(default=list)
    note = models.TextField(blank=True)
    confirmed = models.BooleanField(default=False)
    bound_to = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    voided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=("release", "user"), condition=Q(voided_at=None), name="approval_once"
            ),
            models.UniqueConstraint(
                fields=("release", "right_of"), condition=Q(voided_at=None), name="approval_right_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.release}"


class Override(models.Model):
    """A shut gate that somebody answers for; it holds for what `bound_to` and `detail` say alone."""

    release = models.ForeignKey(Release, models.PROTECT, related_name="overrides")
    gate = models.CharField(max_length=32)
    reason = models.TextField()
    detail = models.TextField()
    bound_to = models.CharField(max_length=64)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("created_at", "pk")

    def __str__(self) -> str:
        return f"{self.gate}: {self.release}"


class Degradation(models.Model):
    """A skill that is switched off in an environment, with what stands in for it, until it is restored."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    skill = models.ForeignKey(Skill, models.PROTECT, related_name="degradations")
    environment = models.ForeignKey(Environment, models.PROTECT, related_name="degradations")
    fallback = models.ForeignKey(Skill, models.PROTECT, null=True, blank=True, related_name="stands_in")
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()
    restored_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    restored_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=("skill", "environment"), condition=Q(restored_at=None), name="degradation_once"
            ),
            models.CheckConstraint(
                condition=Q(fallback=None) | ~Q(fallback=models.F("skill")), name="degradation_by_another"
            ),
        ]
        indexes = [models.Index(fields=("skill", "-at"), name="degradation_by_skill")]

    def __str__(self) -> str:
        return f"{self.skill} in {self.environment}"
