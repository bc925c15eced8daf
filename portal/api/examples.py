"""Examples of the API's document; `tests/portal/api/test_api_schema.py` holds them against real answers."""

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
DEGRADE = [
    OpenApiExample(
        "Off in production, with what stands in for it",
        value={
            "environments": ["production"],
            "fallback": "diff-check",
            "reason": "It approves what it should not since this morning.",
        },
        request_only=True,
    )
]
FINDING = {
    "code": "frontmatter-unknown-key",
    "severity": "warning",
    "path": "SKILL.md",
    "line": 4,
    "message": "The key 'auther' in the frontmatter is not known; it is kept.",
    "hint": "Did you mean author, below metadata?",
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
PUBLISH = [
    OpenApiExample(
        "The JSON form",
        value={
            "team": "engineering",
            "metadata": {"name": "code-review", "description": SKILL["description"]},
            "instructions": "# Code review\n\n1. Read the change as a whole.",
            "resources": {"references/checklist.md": "- Names\n- Errors\n"},
        },
        request_only=True,
    ),
    OpenApiExample(
        "Published",
        value={
            "results": [
                {
                    "name": "code-review",
                    "version": "1.2.0",
                    "status": "published",
                    "bundle_sha256": SHA256,
                    "risk_level": "low",
                    "findings": [FINDING],
                    "runtimes": {
                        "spec": {"verdict": "loads", "notes": []},
                        "raf": {"verdict": "loss", "notes": ["It does not read assets of a subfolder."]},
                        "awaken": {"verdict": "loads", "notes": []},
                        "maf": {"verdict": "loads", "notes": []},
                    },
                }
            ]
        },
        response_only=True,
        status_codes=["201"],
    ),
]
_APPEAL: dict[str, Any] = {
    "id": "01936f0e-7c1a-7000-8000-000000000002",
    "state": "waiting",
    "skill": "code-review",
    "version": "1.2.0",
    "finding": SHA256,
    "code": "remote-code-install",
    "reason": "The address is a mirror of our own.",
    "by": "ines",
    "made_at": "2026-11-30T09:00:00Z",
    "decided_by": None,
    "decided_at": None,
    "note": "",
    "effective_risk": "high",
}
APPEAL = [
    OpenApiExample("Why", value={"reason": "The address is a mirror of our own."}, request_only=True),
    OpenApiExample("Waits", value=_APPEAL, response_only=True, status_codes=["201"]),
]
DECIDE = [
    OpenApiExample("A word for the publisher", value={"reason": "Mirror checked."}, request_only=True),
    OpenApiExample(
        "Granted",
        value={
            **_APPEAL,
            "state": "granted",
            "decided_by": "mara",
            "decided_at": "2026-11-30T10:00:00Z",
            "note": "Mirror checked.",
            "effective_risk": "low",
        },
        response_only=True,
        status_codes=["200"],
    ),
]
RESCAN = [
    OpenApiExample(
        "A finding that older rules overlooked",
        value={
            "name": "code-review",
            "version": "1.2.0",
            "gained": 1,
            "lost": 0,
            "suggested_risk": {"before": "low", "after": "high"},
            "effective_risk": "high",
        },
        response_only=True,
        status_codes=["200"],
    )
]
_ROW: dict[str, Any] = {
    "id": "01936f0e-7c1a-7000-8000-000000000001",
    "state": "proposed",
    "skill": "code-review",
    "version": "1.2.0",
    "bundle_sha256": SHA256,
    "environment": "production",
    "percent": 0,
    "next_step_at": None,
    "previous": "1.1.0",
    "note": "Checks names too.",
    "proposer": "ines",
    "proposed_at": "2026-11-30T09:00:00Z",
    "changed_at": "2026-11-30T09:00:00Z",
    "expires_at": "2026-12-14T09:00:00Z",
}
_CANARY: dict[str, Any] = {
    "percent": 5,
    "steps": [5, 25, 100],
    "soak_minutes": 120,
    "teams": ["support"],
}
_PROPOSED: dict[str, Any] = {
    **_ROW,
    "needs": {"approvals": 1, "confirmation": False},
    "approvals": [],
    "gates": [
        {
            "name": "risk",
            "passed": True,
            "detail": "The risk is low; up to high is allowed here.",
            "overridden": "",
        }
    ],
    "overrides": [],
    "canary": _CANARY,
    "transitions": [
        {
            "n": 1,
            "action": "propose",
            "from": None,
            "to": "proposed",
            "by": "ines",
            "reason": "Checks names too.",
            "at": "2026-11-30T09:00:00Z",
        }
    ],
}
RELEASE = [
    OpenApiExample(
        "A canary in steps, for the agents of a team first",
        value={
            "skill": "code-review",
            "version": "1.2.0",
            "environment": "production",
            "note": "Checks names too.",
            "canary": _CANARY,
        },
        request_only=True,
    ),
    OpenApiExample(
        "A proposal",
        value={
            "skill": "code-review",
            "version": "1.2.0",
            "environment": "production",
            "note": "Checks names too.",
        },
        request_only=True,
    ),
    OpenApiExample("Waits for one approval", value=_PROPOSED, response_only=True, status_codes=["201"]),
]
_OVERRIDE: dict[str, Any] = {
    "gate": "evaluation",
    "detail": "An evaluation is asked for here, and none was reported.",
    "reason": "The harness is down; run by hand.",
    "by": "mara",
    "at": "2026-11-30T10:00:00Z",
}
ACT = [
    OpenApiExample("approve", value={"note": "Read it.", "confirm": "code-review"}, request_only=True),
    OpenApiExample("start, advance, resume", value={"percent": 25}, request_only=True),
    OpenApiExample(
        "reject, withdraw, halt, rollback, break_glass",
        value={"reason": "Wrong totals."},
        request_only=True,
    ),
    OpenApiExample(
        "override",
        value={"gate": _OVERRIDE["gate"], "reason": _OVERRIDE["reason"]},
        request_only=True,
    ),
    OpenApiExample(
        "A gate is overridden",
        value={
            **_PROPOSED,
            "gates": [
                {
                    "name": _OVERRIDE["gate"],
                    "passed": False,
                    "detail": _OVERRIDE["detail"],
                    "overridden": f"mara: {_OVERRIDE['reason']}",
                }
            ],
            "overrides": [_OVERRIDE],
        },
        response_only=True,
        status_codes=["200"],
    ),
]
INBOX = [
    OpenApiExample(
        "A release to decide on",
        value={
            "decide": [
                {**_ROW, "approvals": {"held": 0, "needed": 1}, "shut": [], "live": "1.1.0"},
            ],
            "void": [],
            "start": [],
            "holds": [],
            "blocked": [],
            "approved": [],
            "mine": [],
            "appeals": [],
        },
        response_only=True,
        status_codes=["200"],
    )
]
_ENVIRONMENT: dict[str, Any] = {
    "name": "preview",
    "title": "Preview",
    "order": 40,
    "permissions": ["network", "filesystem.read"],
    "highest_risk": "medium",
    "lowest_stability": "experimental",
    "approvals_low": 0,
    "approvals_medium": 1,
    "approvals_high": 1,
    "second_confirmation": False,
    "outside_approval": False,
    "owner_may_start": True,
    "call_confirmation": "never",
    "script_confirmation": "never",
    "needs_idempotency": False,
    "needs_evaluation": False,
    "soak_minutes": 60,
    "retention_days": 90,
    "revision": 0,
    "warnings": [],
}
ENVIRONMENT = [
    OpenApiExample(
        "Up to medium risk",
        value={
            "name": "preview",
            "title": "Preview",
            "permissions": ["network", "filesystem.read"],
            "highest_risk": "medium",
            "approvals_low": 0,
            "owner_may_start": True,
        },
        request_only=True,
    ),
    OpenApiExample("Made, the last one", value=_ENVIRONMENT, response_only=True, status_codes=["201"]),
]
CHANGE_ENVIRONMENT = [
    OpenApiExample("Two approvals for medium risk", value={"approvals_medium": 2}, request_only=True),
    OpenApiExample(
        "Changed",
        value={**_ENVIRONMENT, "approvals_medium": 2},
        response_only=True,
        status_codes=["200"],
    ),
]
TRACES = [
    OpenApiExample(
        "One failed call",
        value={
            "calls": [
                {
                    "call_id": "c-1",
                    "trace_id": "t-1",
                    "skill": "web.search",
                    "version": "1.2.0",
                    "user_intent": "Find the address of the tax office",
                    "parameters": {"query": "tax office address"},
                    "outcome": "error",
                    "failed_stage": "execution",
                    "error_code": "upstream_timeout",
                    "retryable": True,
                    "started_at": "2026-11-30T12:00:00Z",
                    "duration_ms": 2010,
                }
            ]
        },
        request_only=True,
    ),
    OpenApiExample(
        "Taken",
        value={"accepted": 1, "duplicates": 0, "rejected": []},
        response_only=True,
        status_codes=["202"],
    ),
]
NOTICES = [
    OpenApiExample(
        "A proposal that waits",
        value={
            "items": [
                {
                    "id": "01936f0e-7c1a-7000-8000-000000000003",
                    "verb": "release.propose",
                    "text": "Ines Okafor proposes code-review 1.2.0 for Production; it waits for your decision.",
                    "reason": "Checks names too.",
                    "skill": "code-review",
                    "version": "1.2.0",
                    "environment": "production",
                    "release": _ROW["id"],
                    "page": f"/releases/{_ROW['id']}/",
                    "at": "2026-11-30T09:00:00Z",
                    "read_at": None,
                }
            ],
            "next": None,
        },
        response_only=True,
        status_codes=["200"],
    )
]
