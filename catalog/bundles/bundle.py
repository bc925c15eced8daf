"""A bundle that was read: its fields, typed, and everything that was found on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from catalog.bundles.files import Tree
from catalog.bundles.findings import Finding, has_errors

Risk = Literal["low", "medium", "high"]
RISKS: tuple[Risk, ...] = ("low", "medium", "high")

Stability = Literal["experimental", "stable", "deprecated"]
STABILITIES: tuple[Stability, ...] = ("experimental", "stable", "deprecated")

PERMISSIONS = ("network", "filesystem.read", "filesystem.write", "shell", "secrets", "send")


def is_riskier(risk: str, other: str) -> bool:
    """Whether a risk level is above another one."""
    return RISKS.index(risk) > RISKS.index(other)


@dataclass(frozen=True, slots=True)
class TestCase:
    """One case of a suite (`manifest.md`, Test cases); `expect` holds at least one entry."""

    __test__ = False

    name: str
    input: Mapping[str, Any]
    expect: Mapping[str, Any]
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TestSuite:
    """The cases of a version and the targets (`success_rate`, `mean_ms`, `p95_ms`, `tokens`)."""

    __test__ = False

    cases: tuple[TestCase, ...] = ()
    targets: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A Skill Manifest, typed. Times are in milliseconds; None means that the field is absent.

    `permissions` are the granted names, sorted. `dependencies` maps a folder name to the lowest
    version asked for. `idempotent` is None where the manifest is silent.
    """

    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    run: str | None = None
    permissions: tuple[str, ...] | None = None
    risk_level: Risk | None = None
    tags: tuple[str, ...] = ()
    dependencies: Mapping[str, str] = field(default_factory=dict)
    idempotent: bool | None = None
    idempotency_key: tuple[str, ...] = ()
    model_hint: str | None = None
    context_fields: tuple[str, ...] = ()
    cache_ttl_ms: int | None = None
    timeout_ms: int | None = None
    errors: tuple[Mapping[str, Any], ...] = ()
    retry: Mapping[str, Any] | None = None
    alternatives: tuple[str, ...] = ()
    stability: Stability | None = None
    runtime: Mapping[str, Any] | None = None
    author: str | None = None
    suite: TestSuite | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The frontmatter of a SKILL.md, typed; values keep the author's spelling.

    `allowed_tools` is None where the key is absent and () where it is empty. `extra` holds the
    keys that are not known, as text or as lists and mappings of text.
    """

    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] | None = None
    when_to_use: str | None = None
    disable_model_invocation: bool = False
    paths: tuple[str, ...] = ()
    context: Literal["inline", "fork"] = "inline"
    arguments: tuple[str, ...] = ()
    argument_hint: str | None = None
    user_invocable: bool = True
    model: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bundle:
    """One skill bundle, read and judged.

    `name` and `description` are "" where they could not be read (then there is an error).
    `folder` is the skill_id: the name with `.` and `_` read as `-`. `version` is SemVer without
    build metadata, or None where the author names none that can be read; `version_text` is what
    the author wrote. `body` is SKILL.md after its frontmatter; for a tool skill (a manifest
    alone) it is "". `suggested_risk` is what permissions and scan call for.
    """

    tree: Tree
    name: str
    folder: str
    description: str
    version: str | None
    version_text: str
    frontmatter: Frontmatter | None
    manifest: Manifest | None
    body: str
    suggested_risk: Risk
    bundle_sha256: str
    findings: tuple[Finding, ...]

    @property
    def refused(self) -> bool:
        """Whether an error keeps the bundle out of the catalog."""
        return has_errors(self.findings)
