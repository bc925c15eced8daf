"""GET /api/v1/skills/{name}/compare."""

from __future__ import annotations

import pytest

from catalog.models import Skill
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db
PATH = "skills/refund-check/compare"


@pytest.fixture
def versions(cast: make.Cast) -> None:
    make.version(cast=cast, frontmatter="allowed-tools: Read, Bash(git:*)\n")
    make.version(
        number="1.1.0",
        cast=cast,
        frontmatter="allowed-tools: Read, Write\n",
        files={"references/a.md": b"# A\n"},
        permissions=("network",),
        tags=("money",),
    )


def test_it_tells_what_changed(ines: Caller, versions: None) -> None:
    told = ines.get(f"{PATH}?from=1.0.0&to=1.1.0").json()
    assert (told["from"], told["to"], told["same_bytes"]) == ("1.0.0", "1.1.0", False)
    assert [(one["path"], one["change"]) for one in told["files"]] == [
        ("SKILL.md", "changed"),
        ("references/a.md", "added"),
    ]
    assert told["permissions"] == {"gained": ["network"], "lost": []}
    assert told["allowed_tools"] == {"gained": ["Write"], "lost": ["Bash(git:*)"]}
    assert told["declaration"].keys() == {"permissions", "tags"}
    assert told["bump"]["least"] == "minor"
    assert told["bump"]["honest"] is True


def test_schemas(ines: Caller, cast: make.Cast) -> None:
    make.version("refund.issue", cast=cast, files={"manifest.yaml": make.manifest(), "run.py": b"\n"})
    other = make.manifest(version="2.0.0").replace(b"required: [order_id]", b"required: [order_id, currency]")
    make.version("refund.issue", cast=cast, files={"manifest.yaml": other, "run.py": b"\n"})
    told = ines.get("skills/refund.issue/compare").json()
    assert told["schemas"] == [
        {"side": "input", "where": "input_schema.currency", "change": "is required now", "bump": "major"}
    ]
    assert told["bump"] == {
        "least": "major",
        "named": "major",
        "honest": True,
        "breaks": False,
        "next": "2.0.0",
        "why": ["input_schema.currency is required now"],
    }


def test_refusals(ines: Caller, versions: None, cast: make.Cast) -> None:
    assert_problem(ines.get(f"{PATH}?to=1.0.0"), 404, "version-alone")
    assert_problem(ines.get(f"{PATH}?to=7.0.0"), 404, "not-found")
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert_problem(caller(cast, "sven").get(PATH), 404, "not-found")
    assert ines.post(PATH).status_code == 405
