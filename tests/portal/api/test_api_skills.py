"""The record by REST: skills, versions, files; who sees what."""

from __future__ import annotations

from hashlib import sha256

import pytest

from catalog.models import Skill, State, Version
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db


def test_a_skill(ines: Caller, cast: make.Cast, refunds: Version) -> None:
    newer = make.version(number="1.1.0", cast=cast, body="# Newer\n", tags=("money",))
    make.release(newer, "production", cast=cast, state=State.CANARY, percent=20)
    body = ines.get("skills/refund-check").json()
    assert (body["skill_id"], body["name"], body["team"], body["owner"]) == (
        *("refund-check", "refund-check", "payments", "ines"),
    )
    assert (body["latest_version"], body["tags"], body["risk_level"]) == ("1.1.0", ["money"], "low")
    assert body["environments"] == {"production": {"live": "1.0.0", "canary": "1.1.0", "percent": 20}}
    assert body["created_at"].endswith("Z")


def test_a_version(ines: Caller, refunds: Version) -> None:
    body = ines.get("skills/refund-check/versions/1.0.0").json()
    assert body["bundle_sha256"] == refunds.bundle_sha256
    assert body["runtimes"].keys() == {"spec", "raf", "awaken", "maf"}
    files = {file["path"]: file for file in body["files"]}
    assert files["references/rules.md"] == {
        "path": "references/rules.md",
        "size": 8,
        "sha256": sha256(b"# Rules\n").hexdigest(),
        "executable": False,
    }
    assert all(
        list(finding) == ["code", "severity", "path", "line", "message", "hint"]
        for finding in body["findings"]
    )
    assert_problem(ines.get("skills/refund-check/versions/9.9.9"), 404, "not-found")


def test_versions_newest_first(ines: Caller, cast: make.Cast) -> None:
    for n in range(3):
        make.version(number=f"1.{n}.0", cast=cast, body=f"# {n}\n", now=make.NOW.replace(hour=9 + n))
    items = ines.get("skills/refund-check/versions").json()["items"]
    assert [item["version"] for item in items] == ["1.2.0", "1.1.0", "1.0.0"]


def test_bytes_of_a_file_and_of_a_version(ines: Caller, refunds: Version) -> None:
    base = "skills/refund-check/versions/1.0.0"
    answer = ines.get(f"{base}/files/references/rules.md", Accept="text/markdown")
    assert answer.content == b"# Rules\n"
    assert answer["Content-Disposition"].startswith("attachment;")
    assert ines.get(f"{base}/files/references/rules.md", If_None_Match=answer["ETag"]).status_code == 304
    archive = ines.get(f"{base}/bundle.zip", Accept="application/zip")
    assert archive["ETag"] == f'"{sha256(archive.content).hexdigest()}"'
    assert sha256(archive.content).hexdigest() == refunds.artifact_id
    assert ines.head(f"{base}/bundle.zip")["ETag"] == archive["ETag"]
    for path in ("none.md", "../SKILL.md", "%2e%2e/SKILL.md", "rules.md", "references"):
        assert_problem(ines.get(f"{base}/files/{path}"), 404, "file-not-found")


def test_yank_deprecate_and_revoke(cast: make.Cast, refunds: Version) -> None:
    base = "skills/refund-check/versions/1.0.0"
    ines, ada, sven = (caller(cast, name) for name in ("ines", "ada", "sven"))
    assert_problem(ines.post(f"{base}/yank", {}), 422, "reason-missing")
    assert_problem(sven.post(f"{base}/yank", {"reason": "No."}), 403, "not-allowed")
    assert_problem(ines.post(f"{base}/revoke", {"reason": "No."}), 403, "not-allowed")
    assert_problem(ines.post(f"{base}/fly", {"reason": "No."}), 404, "action-unknown")
    publisher = caller(cast, "ada", ("publish",))
    assert_problem(publisher.post(f"{base}/revoke", {"reason": "No."}), 403, "scope-missing")
    assert ines.post(f"{base}/deprecate", {"reason": "Old."}).json()["deprecated_at"]
    assert ines.post(f"{base}/yank", {"reason": "Broken."}).json()["yanked_at"]
    assert ines.get(f"{base}/bundle.zip").status_code == 200
    assert ada.post(f"{base}/revoke", {"reason": "Malware."}).json()["revoked_at"]
    for path in ("bundle.zip", "files/SKILL.md"):
        assert_problem(ines.get(f"{base}/{path}"), 410, "version-revoked")
        assert ada.get(f"{base}/{path}").status_code == 200  # to look into what happened
    assert ines.get(base).json()["revoked_at"]


def names(who: Caller, query: str = "") -> list[str]:
    """The names of a list."""
    return [item["name"] for item in who.get(f"skills{query}").json()["items"]]


def test_filters(ines: Caller, cast: make.Cast) -> None:
    orders = make.skill(
        "order-lookup",
        team=cast.support,
        publisher=cast.sven,
        tags=("orders",),
        description="Finds a parcel.",
        body="# Orders\n",
    )
    refunds = make.skill("refund-check", cast=cast, risk_level="medium", description="Weighs a refund.")
    make.skill_set("front-office", orders)
    make.release(refunds.latest, "staging", cast=cast)
    make.release(refunds.latest, "production", cast=cast, state=State.PROPOSED)
    assert names(ines) == ["order-lookup", "refund-check"]
    for query, found in {
        "q=REFUND": ["refund-check"],
        "q=weighs": ["refund-check"],
        "q=orders": ["order-lookup"],
        "q=%25": [],
        "q=_": [],
        "team=support": ["order-lookup"],
        "set=front-office": ["order-lookup"],
        "tag=orders": ["order-lookup"],
        "risk=medium": ["refund-check"],
        "risk=high": [],
        "environment=staging": ["refund-check"],
        "environment=production": [],
        "environment=production&status=proposed": ["refund-check"],
        "status=live": ["refund-check"],
        "q=%27%20OR%201=1": [],
        "q=%ff%fe": [],
        "team=&set=&risk=": ["order-lookup", "refund-check"],
    }.items():
        assert names(ines, f"?{query}") == found, query
    assert_problem(ines.get("skills?risk=enormous"), 400, "field-invalid")


def test_the_risk_filter_is_of_the_risk_that_is_shown(ines: Caller, cast: make.Cast) -> None:
    make.skill(cast=cast, risk_level="low")
    Version.objects.update(suggested_risk="high")
    assert names(ines, "?risk=high") == ["refund-check"]
    assert names(ines, "?risk=low") == []
    assert ines.get("skills/refund-check").json()["risk_level"] == "high"


def test_a_team_only_skill_is_like_none(cast: make.Cast, refunds: Version) -> None:
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    paths = (
        *("", "/versions", "/versions/1.0.0", "/versions/1.0.0/bundle.zip", "/versions/1.0.0/files/SKILL.md"),
    )
    for name in ("sven", "nora"):
        who = caller(cast, name)
        assert names(who) == names(who, "?q=refund") == names(who, "?team=payments") == []
        for path in paths:
            hidden, none = who.get(f"skills/refund-check{path}"), who.get(f"skills/refund-chick{path}")
            assert_problem(hidden, 404, "not-found")
            assert hidden.content == none.content.replace(b"refund-chick", b"refund-check")
            assert hidden.json()["near"] == []
    for name in ("ines", "ravi", "mara", "lena", "ada"):
        assert names(caller(cast, name)) == ["refund-check"], name


def test_near_names(ines: Caller, cast: make.Cast, refunds: Version) -> None:
    told = assert_problem(ines.get("skills/refund-chek"), 404, "not-found")
    assert told["near"] == ["refund-check"]
    assert told["detail"].endswith(". Did you mean refund-check?")
    assert told["detail"].count("There is no") == 1
    deleted = make.skill("refund-chekk", cast=cast)
    Skill.objects.filter(pk=deleted.pk).update(deleted_at=make.NOW)
    assert ines.get("skills/refund-chekk").json()["near"] == ["refund-check"]
