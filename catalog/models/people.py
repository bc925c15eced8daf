"""Who there is: users, teams, and the grants that say what a user may do where."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

# Stands for "all teams" or "all environments" in the unique index of grants: neither database
# calls two nulls equal, and `nulls_distinct` is PostgreSQL's alone.
ANY = models.Value("00000000-0000-0000-0000-000000000000", output_field=models.UUIDField())


class User(AbstractUser):
    """A person who signs in."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)

    def __str__(self) -> str:
        return self.get_full_name() or self.username


class Team(models.Model):
    """A group that owns skills and agents."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """What a grant lets its user do (spec 4.5); none includes another."""

    READER = "reader", _("Reader")
    PUBLISHER = "publisher", _("Publisher")
    APPROVER = "approver", _("Approver")
    ANALYST = "analyst", _("Analyst")
    ADMIN = "admin", _("Administrator")


class Grant(models.Model):
    """A role of a user, for one team or all (null), in one environment or all (null).

    `may_override` is the right to override a gate and to break glass, beside the role approver.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="grants")
    role = models.CharField(max_length=16, choices=Role.choices)
    team = models.ForeignKey(Team, models.CASCADE, null=True, blank=True, related_name="grants")
    environment = models.ForeignKey(
        "catalog.Environment", models.CASCADE, null=True, blank=True, related_name="grants"
    )
    may_override = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "user", "role", Coalesce("team", ANY), Coalesce("environment", ANY), name="grant_once"
            ),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="grant_role_known"),
        ]

    def __str__(self) -> str:
        team = self.team or _("all teams")
        return f"{self.user}: {self.get_role_display()}, {team}, {self.environment or _('all environments')}"


class Delegation(models.Model):
    """The approver's rights of one person, lent to another for a time (spec 4.2).

    For one team or all (null), in one environment or all (null); what the giver does not hold is
    not lent either.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    giver = models.ForeignKey(User, models.PROTECT, related_name="delegations_given")
    taker = models.ForeignKey(User, models.PROTECT, related_name="delegations_taken")
    team = models.ForeignKey(Team, models.CASCADE, null=True, blank=True, related_name="+")
    environment = models.ForeignKey(
        "catalog.Environment", models.CASCADE, null=True, blank=True, related_name="+"
    )
    reason = models.TextField(blank=True)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(ends_at__gt=models.F("starts_at")), name="delegation_ends"
            ),
            models.CheckConstraint(
                condition=~models.Q(giver=models.F("taker")), name="delegation_to_another"
            ),
        ]
        indexes = [models.Index(fields=("taker", "ends_at"), name="delegation_by_taker")]

    def __str__(self) -> str:
        return f"{self.giver} → {self.taker}"
