"""The record: skill sets, skills, their immutable versions, and the bytes of each."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from catalog.models.people import Team


class SkillSet(models.Model):
    """Skills that are offered together."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Risk(models.TextChoices):
    """How much harm a skill can do; the order of the members is their rank."""

    LOW = "low", _("Low")
    MEDIUM = "medium", _("Medium")
    HIGH = "high", _("High")


class Stability(models.TextChoices):
    """What a publisher promises about a version (spec 2.7)."""

    EXPERIMENTAL = "experimental", _("Experimental")
    STABLE = "stable", _("Stable")
    DEPRECATED = "deprecated", _("Deprecated")


class Skill(models.Model):
    """A skill of a team. Its name and its folder are never given to another, even when deleted.

    `folder` is the skill_id that agents see. `latest` is the highest version that is no
    pre-release and not withdrawn from use, else the highest of the rest.
    """

    class Visibility(models.TextChoices):
        ORGANISATION = "organisation", _("Everyone")
        TEAM = "team", _("Its team alone")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=64, unique=True)
    folder = models.CharField(max_length=64, unique=True)
    team = models.ForeignKey(Team, models.PROTECT, related_name="skills")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="owned_skills"
    )
    maintainers = models.ManyToManyField(
        settings.AUTH_USER_MODEL, blank=True, related_name="maintained_skills"
    )
    visibility = models.CharField(max_length=16, choices=Visibility.choices, default=Visibility.ORGANISATION)
    sets = models.ManyToManyField(SkillSet, blank=True, related_name="skills")
    latest = models.ForeignKey("Version", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=("deleted_at", "name"), name="skill_listed")]

    def __str__(self) -> str:
        return self.name


class SkillTag(models.Model):
    """A tag of a skill: those that its latest version declares."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="tags")
    tag = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("skill", "tag"), name="skill_tag_once")]
        indexes = [models.Index(fields=("tag", "skill"), name="skill_tag_tag")]

    def __str__(self) -> str:
        return self.tag


class Version(models.Model):
    """An immutable version: bytes, what they say, and what the publisher declared beside them.

    `version` is SemVer without build metadata and `version_text` what the author wrote;
    `precedence` sorts by SemVer on every database. `fields` is what the feed serves of the
    bundle's own metadata. `declaration_sha256` is the hash over what was declared: `declared_risk` (""
    where nobody named one, and `risk_level` is what the scan suggested then), permissions, tags and
    stability. `runtimes` is how each agent runtime reads the bundle; `artifact` is the zip that
    clients download. Yanked: not in new sessions. Revoked: nowhere. Deprecated: served, and said.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    skill = models.ForeignKey(Skill, models.PROTECT, related_name="versions")
    version = models.CharField(max_length=255)
    version_text = models.CharField(max_length=255, blank=True)
    precedence = models.BinaryField(max_length=1024)
    prerelease = models.BooleanField()
    description = models.TextField()
    language = models.CharField(max_length=8)
    fields = models.JSONField(default=dict)
    declared_risk = models.CharField(max_length=8, choices=Risk.choices, blank=True)
    risk_level = models.CharField(max_length=8, choices=Risk.choices)
    suggested_risk = models.CharField(max_length=8, choices=Risk.choices)
    permissions = models.JSONField(default=list)
    tags = models.JSONField(default=list)
    stability = models.CharField(max_length=16, choices=Stability.choices)
    declaration_sha256 = models.CharField(max_length=64)
    runtimes = models.JSONField(default=dict)
    bundle_sha256 = models.CharField(max_length=64, db_index=True)
    artifact = models.ForeignKey("Blob", models.PROTECT, related_name="artifacts")
    size = models.PositiveBigIntegerField()
    file_count = models.PositiveIntegerField()
    has_resources = models.BooleanField()
    has_scripts = models.BooleanField()
    notes = models.TextField(blank=True)
    provenance = models.JSONField(default=dict)
    publisher = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="published_versions"
    )
    published_at = models.DateTimeField()
    yanked_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    deprecated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("skill", "-precedence")
        constraints = [
            models.UniqueConstraint(fields=("skill", "version"), name="version_once"),
            models.CheckConstraint(condition=models.Q(risk_level__in=Risk.values), name="version_risk_known"),
            models.CheckConstraint(
                condition=models.Q(stability__in=Stability.values), name="version_stability_known"
            ),
        ]
        indexes = [models.Index(fields=("skill", "-precedence"), name="version_by_precedence")]

    def __str__(self) -> str:
        return f"{self.skill} {self.version}"

    @property
    def effective_risk(self) -> str:
        """The declared risk, or what the scan suggests where that is higher (spec 1.9)."""
        return max(self.risk_level, self.suggested_risk, key=Risk.values.index)

    @property
    def declared(self) -> dict[str, Any]:
        """What was declared beside the bytes, as it is hashed."""
        return {**self.declaration, "risk_level": self.declared_risk or None}

    @property
    def declaration(self) -> dict[str, Any]:
        """What the declaration comes to: with the risk level that the scan suggested where none was named."""
        return {
            "risk_level": self.risk_level,
            "permissions": self.permissions,
            "tags": self.tags,
            "stability": self.stability,
        }


class VersionFinding(models.Model):
    """A finding of the validation of a version, by the rules as they were at `rule_version`."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="findings")
    code = models.CharField(max_length=64)
    severity = models.CharField(max_length=8)
    path = models.CharField(max_length=1024, blank=True)
    line = models.PositiveIntegerField(null=True)
    message = models.TextField()
    hint = models.TextField(blank=True)
    fingerprint = models.CharField(max_length=64)
    rule_version = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("version", "fingerprint"), name="version_finding_once")
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.path}:{self.line}"


class Dependency(models.Model):
    """Asks for the skill `folder` at `minimum` or newer within the same major version."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="dependencies")
    folder = models.CharField(max_length=64, db_index=True)
    minimum = models.CharField(max_length=255)

    class Meta:
        verbose_name_plural = "dependencies"
        constraints = [models.UniqueConstraint(fields=("version", "folder"), name="dependency_once")]

    def __str__(self) -> str:
        return f"{self.folder} {self.minimum}"


class Blob(models.Model):
    """Bytes in the store, addressed by their digest."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size = models.PositiveBigIntegerField()
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.sha256


class BundleFile(models.Model):
    """A file of a version. No two paths of a version differ by case or Unicode form alone."""

    version = models.ForeignKey(Version, models.PROTECT, related_name="files")
    path = models.CharField(max_length=1024)
    folded_path = models.CharField(max_length=1024)
    blob = models.ForeignKey(Blob, models.PROTECT, related_name="files")
    executable = models.BooleanField()

    class Meta:
        ordering = ("path",)
        constraints = [
            models.UniqueConstraint(fields=("version", "path"), name="bundle_file_once"),
            models.UniqueConstraint(fields=("version", "folded_path"), name="bundle_file_folded_once"),
        ]

    def __str__(self) -> str:
        return self.path
