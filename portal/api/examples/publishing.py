"""Examples of publications."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample

from portal.api.examples.feed import SHA256, SKILL

FINDING = {
    "code": "frontmatter-unknown-key",
    "severity": "warning",
    "path": "SKILL.md",
    "line": 4,
    "message": "The key 'auther' in the frontmatter is not known; it is kept.",
    "hint": "Did you mean author, below metadata?",
}
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
