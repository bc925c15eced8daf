"""A catalog of made-up skills, written straight into the database of a bench."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from bench.served import SECRET
from catalog.models import Agent, Blob, Environment, Release, Skill, State, Team, Token, Version

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIELDS: dict[str, Any] = {
    "license": "Apache-2.0",
    "compatibility": None,
    "metadata": {"author": "Payments"},
    "allowed_tools": None,
    "when_to_use": "When an order is asked about.",
    "context": None,
    "paths": [],
    "arguments": [],
    "argument_hint": None,
    "user_invocable": True,
    "model_invocable": True,
    "model": None,
    "extra": {},
    "kind": "skill",
    "has_manifest": False,
    "run": None,
    "model_hint": None,
    "context_fields": [],
    "input_schema": None,
    "output_schema": None,
    "dependencies": {},
    "idempotency": {"declared": None, "fields": []},
    "cache": {"ttl_ms": None},
    "timeout_ms": None,
    "errors": [],
    "retry": None,
    "alternatives": [],
    "runtime": None,
    "author": "Payments",
}


def fill(*, skills: int, canaries: int) -> None:
    """Skills that are live in production, the first of them with a canary at 50 %, and an agent with `SECRET`."""
    team = Team.objects.create(name="Payments", slug="payments")
    production = Environment.objects.get(name="production")
    blob = Blob.objects.create(sha256=sha256(b"").hexdigest(), size=0, created_at=NOW)
    named = [f"order-skill-{n:04}" for n in range(skills)]
    rows = Skill.objects.bulk_create(
        Skill(name=name, folder=name, team=team, created_at=NOW, updated_at=NOW) for name in named
    )
    numbers = [(row, "1.0.0") for row in rows] + [(row, "1.1.0") for row in rows[:canaries]]
    versions = Version.objects.bulk_create(_version(row, number, blob) for row, number in numbers)
    Release.objects.bulk_create(_release(version, production) for version in versions)
    Environment.objects.filter(pk=production.pk).update(revision=1)
    agent = Agent.objects.create(name="bench", team=team, created_at=NOW)
    Token.objects.create(
        prefix=SECRET[:8],
        sha256=sha256(SECRET.encode()).hexdigest(),
        agent=agent,
        environment=production,
        scopes=["feed", "traces:write"],
        created_at=NOW,
        expires_at=datetime.now(UTC) + timedelta(days=1),
    )


def _version(skill: Skill, number: str, blob: Blob) -> Version:
    return Version(
        skill=skill,
        version=number,
        version_text=number,
        precedence=number.encode(),
        prerelease=False,
        description=f"Answers what {skill.name} is about. Use when an order is asked about; not for refunds.",
        language="en",
        fields=FIELDS,
        risk_level="low",
        suggested_risk="low",
        stability="stable",
        declaration_sha256="0" * 64,
        bundle_sha256=sha256(f"{skill.name} {number}".encode()).hexdigest(),
        artifact=blob,
        size=0,
        file_count=1,
        has_resources=False,
        has_scripts=False,
        published_at=NOW,
    )


def _release(version: Version, environment: Environment) -> Release:
    live = version.version == "1.0.0"
    return Release(
        environment=environment,
        skill=version.skill,
        version=version,
        state=State.LIVE if live else State.CANARY,
        percent=100 if live else 50,
        seed=version.skill.folder,
        bundle_sha256=version.bundle_sha256,
        declaration_sha256=version.declaration_sha256,
        proposed_at=NOW,
        expires_at=NOW,
        changed_at=NOW,
    )
