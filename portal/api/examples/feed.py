"""Examples of what agents are served."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
SKILL: dict[str, Any] = {
    "skill_id": "code-review",
    "name": "code-review",
    "folder": "code-review",
    "description": "Review code for defects. Use before a merge; not for formatting alone.",
    "version": "1.2.0",
    "bundle_sha256": SHA256,
    "stability": "stable",
    "risk_level": "low",
    "tags": ["engineering"],
    "license": "MIT",
    "compatibility": None,
    "metadata": {"author": "team-qa", "version": "1.2.0"},
    "allowed_tools": ["Read", "Bash(git:*)"],
    "when_to_use": None,
    "context": "inline",
    "paths": [],
    "arguments": [],
    "argument_hint": None,
    "user_invocable": True,
    "model_invocable": True,
    "model": None,
    "extra": {},
    "kind": "skill",
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
    "author": "team-qa",
    "provenance": {
        "team": "engineering",
        "publisher": "ines",
        "published_at": "2026-11-30T09:00:00Z",
        "form": "upload",
        "via": "api",
        "filename": "code-review.zip",
    },
    "permissions": [],
    "has_resources": True,
    "has_scripts": False,
    "needs_confirmation": False,
    "available": True,
    "unavailable_reason": None,
    "fallback": None,
    "fallback_for": [],
}
FEED = [
    OpenApiExample(
        "A feed of one skill",
        value={"environment": "production", "revision": 42, "skills": [SKILL]},
        response_only=True,
    )
]
ADVERTISE = [
    OpenApiExample(
        "A template",
        value={"template": "You can use these skills:\n{skills}\n{resource_instructions}"},
        request_only=True,
    )
]
TOOLS = [
    OpenApiExample(
        "The tool that is always there",
        value={
            "tools": [
                {
                    "name": "load_skill",
                    "description": "Load the full instructions of a skill.",
                    "parameters": {"type": "object", "required": ["skill_name"]},
                }
            ]
        },
        response_only=True,
    )
]
LOAD = [
    OpenApiExample(
        "A skill with its instructions",
        value={
            **SKILL,
            "skill_name": "code-review",
            "instructions": "# Code review\n\n1. Read the change as a whole …",
            "content": "---\nname: code-review\n…",
            "files": [{"path": "SKILL.md", "size": 812, "sha256": SHA256, "executable": False}],
            "resources": [
                {
                    "path": "references/checklist.md",
                    "name": "checklist.md",
                    "description": None,
                    "media_type": "text/markdown",
                    "size": 16,
                    "sha256": SHA256,
                }
            ],
            "scripts": [],
        },
        response_only=True,
    )
]
