"""One skill of the feed: instructions, files, pinned versions, names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from catalog import resolution
from catalog.models import Release, State, Version
from tests import make
from tests.portal.api.callers import Caller, assert_problem

pytestmark = pytest.mark.django_db

TOOL = {"manifest.yaml": make.manifest("web.search"), "run.py": b"pass\n"}


def test_load(desk: Caller, refunds: Version) -> None:
    answer = desk.get("feed/skills/refund-check")
    assert answer["X-Quartermaster-Assignment"] == "stable"
    body = answer.json()
    assert body["skill_name"] == "refund-check"
    assert body["instructions"] == make.BODY
    assert body["content"] == make.skill_md(version="1.0.0").decode()
    assert [file["path"] for file in body["files"]] == [
        *("SKILL.md", "assets/notes.md", "assets/table.csv"),
        *("references/notes.md", "references/rules.md", "scripts/check.py"),
    ]
    assert all(list(file) == ["path", "size", "sha256", "executable"] for file in body["files"])
    (script,) = body["scripts"]
    assert script["path"] == "scripts/check.py"
    executable = {file["path"]: file["executable"] for file in body["files"]}
    assert executable["scripts/check.py"]
    assert not executable["SKILL.md"]
    resources = {one["path"]: one for one in body["resources"]}
    assert set(resources) == {
        *("assets/notes.md", "assets/table.csv", "references/notes.md", "references/rules.md"),
    }
    assert resources["assets/table.csv"]["name"] == "table.csv"
    assert resources["assets/table.csv"]["media_type"] == "text/csv"


def test_arguments_stay_and_a_byte_order_mark_goes(desk: Caller, cast: make.Cast) -> None:
    content = b"\xef\xbb\xbf" + make.skill_md(version="1.0.0", body="Do $ARGUMENTS and $1.\r\n")
    version = make.version(cast=cast, files={"SKILL.md": content})
    make.release(version, "production", cast=cast)
    body = desk.get("feed/skills/refund-check").json()
    assert body["instructions"] == "Do $ARGUMENTS and $1.\r\n"
    assert body["content"].startswith("---\nname: refund-check")


def test_a_tool_skill_has_written_instructions(desk: Caller, cast: make.Cast) -> None:
    make.release(make.version("web.search", cast=cast, files=TOOL), "production", cast=cast)
    body = desk.get("feed/skills/web.search").json()
    assert (body["name"], body["skill_name"]) == ("web.search", "web-search")
    assert body["instructions"].startswith("# web.search")
    assert '"order_id"' in body["instructions"]
    assert body["content"].startswith("---\nname: web-search\n")


@pytest.mark.parametrize("name", ["web.search", "web-search", "web_search"])
def test_both_spellings_of_a_name(desk: Caller, cast: make.Cast, name: str) -> None:
    make.release(make.version("web.search", cast=cast, files=TOOL), "production", cast=cast)
    for path in ("", "/bundle.zip", "/resources/run.py"):
        assert desk.get(f"feed/skills/{name}{path}").status_code == 200


def test_an_unknown_name_lists_near_ones(desk: Caller, refunds: Version) -> None:
    told = assert_problem(desk.get("feed/skills/refund-chek"), 404, "skill-not-found")
    assert told["near"] == ["refund-check"]
    assert "Did you mean refund-check?" in told["detail"]
    assert assert_problem(desk.get("feed/skills/zzz"), 404, "skill-not-found")["near"] == []
    assert_problem(desk.get(f"feed/skills/{'x' * 5000}"), 404, "skill-not-found")
    for odd in ("%e2%80%ae", "%ff%fe", "..", "%0d%0aSet-Cookie:a=b", "a'b\"c;--"):
        assert desk.get(f"feed/skills/{odd}").status_code == 404, odd


def superseded(cast: make.Cast, days: float) -> None:
    """1.0.0 was live and was replaced by 1.1.0 so many days ago."""
    make.release(make.version(number="1.1.0", cast=cast, body="# Newer\n"), "production", cast=cast)
    old = Release.objects.get(version__version="1.0.0")
    assert old.state == State.SUPERSEDED
    when = datetime.now(UTC) - timedelta(days=days)
    Release.objects.filter(pk=old.pk).update(changed_at=when)
    resolution.forget_cached()


def test_a_pinned_version_stays_readable_for_30_days(desk: Caller, cast: make.Cast, refunds: Version) -> None:
    superseded(cast, days=29.9)
    assert desk.get("feed/skills/refund-check").json()["version"] == "1.1.0"
    pinned = desk.get("feed/skills/refund-check?version=1.0.0")
    assert pinned.json()["version"] == "1.0.0"
    assert pinned.json()["content"] == make.skill_md(version="1.0.0").decode()
    assert desk.get("feed/skills/refund-check?version=1.1.0").json()["version"] == "1.1.0"
    assert desk.get("feed/skills/refund-check/resources/rules.md?version=1.0.0").content == b"# Rules\n"
    assert_problem(desk.get("feed/skills/refund-check/resources/rules.md"), 404, "resource-not-found")
    artifact = desk.get("feed/skills/refund-check/bundle.zip?version=1.0.0")
    assert artifact["ETag"] == f'"{refunds.artifact_id}"'


def test_after_30_days_it_is_gone(desk: Caller, cast: make.Cast, refunds: Version) -> None:
    superseded(cast, days=30.1)
    for path in ("", "/resources/rules.md", "/bundle.zip"):
        answer = desk.get(f"feed/skills/refund-check{path}?version=1.0.0")
        assert_problem(answer, 410, "version-gone")


def test_a_version_that_was_never_live_is_not_read(desk: Caller, cast: make.Cast, refunds: Version) -> None:
    proposed = make.version(number="2.0.0", cast=cast, body="# Next\n")
    make.release(proposed, "production", cast=cast, state=State.PROPOSED)
    make.release(make.version(number="3.0.0", cast=cast, body="# 3\n"), "staging", cast=cast)
    for version in ("2.0.0", "3.0.0", "9.9.9", "1.0", "x" * 3000, "%ff"):
        answer = desk.get(f"feed/skills/refund-check?version={version}")
        assert_problem(answer, 410, "version-gone")
    assert desk.get("feed/skills/refund-check?version=").json()["version"] == "1.0.0"
