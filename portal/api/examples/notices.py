"""Examples of notices."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample

from portal.api.examples.releases import ROW

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
                    "release": ROW["id"],
                    "page": f"/releases/{ROW['id']}/",
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
