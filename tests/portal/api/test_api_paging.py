"""Lists: 50 a page, 200 at most, by cursor."""

from __future__ import annotations

import pytest
from django.core import signing

from catalog.models import Appeal, Skill
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller
from tests.portal.api.test_api_traces import call, report

pytestmark = pytest.mark.django_db


def walk(who: Caller, path: str) -> list[list[dict[str, object]]]:
    """All pages of a list."""
    pages, cursor = [], ""
    while True:
        join = "&" if "?" in path else "?"
        body = who.get(path + (f"{join}cursor={cursor}" if cursor else "")).json()
        assert list(body) == ["items", "next"]
        pages.append(body["items"])
        cursor = body["next"]
        if cursor is None:
            return pages


def test_fifty_a_page_and_nothing_twice(desk: Caller, cast: make.Cast) -> None:
    # All at one moment: the order is still one, and no page repeats another.
    report(desk, *[call(f"c-{n}") for n in range(120)])
    pages = walk(caller(cast, "lena"), "traces")
    assert [len(page) for page in pages] == [50, 50, 20]
    ids = [item["call_id"] for page in pages for item in page]
    assert len(set(ids)) == 120
    assert [len(page) for page in walk(caller(cast, "lena"), "traces?limit=120")] == [120]
    assert [len(page) for page in walk(caller(cast, "lena"), "traces?limit=60&outcome=ok")] == [60, 60]


def test_every_list(cast: make.Cast) -> None:
    for n in range(3):
        version = make.version(f"skill-{n}", cast=cast)
        make.release(version, "development", cast=cast)
        make.version("many-versions", f"1.{n}.0", cast=cast, body=f"# {n}\n")
        Appeal.objects.create(version=version, fingerprint="0" * 64, code="x", reason=str(n), at=make.NOW)
    ada = caller(cast, "ada")
    for path, count in {
        "skills": 4,
        "skills/many-versions/versions": 3,
        "releases": 3,
        "appeals": 3,
        "audit-log?verb=version.publish": 6,
    }.items():
        join = "&" if "?" in path else "?"
        pages = walk(ada, f"{path}{join}limit=2")
        assert sum(map(len, pages)) == count
        assert {len(page) for page in pages[:-1]} == {2}
        texts = [str(item) for page in pages for item in page]
        assert len(set(texts)) == count
    names = [item["name"] for page in walk(ada, "skills?limit=1") for item in page]
    assert names == sorted(names)


@pytest.mark.parametrize(
    "limit", ["0", "-1", "201", "1.5", "abc", "1e2", "%C2%B2", "9" * 5000, "+5", "0x10", "%D9%A3", "%20"]
)
def test_a_limit_that_is_none(ines: Caller, limit: str) -> None:
    assert_problem(ines.get(f"skills?limit={limit}"), 400, "limit-invalid")


@pytest.mark.parametrize(
    "cursor",
    ["x", "W10", "eyJhIjoxfQ", "x" * 10_000, "%ff", "a:b:c", "null", "..", "%20"],
)
def test_a_cursor_that_is_none(ines: Caller, cursor: str) -> None:
    for path in ("skills", "releases", "traces"):
        assert_problem(ines.get(f"{path}?cursor={cursor}"), 400, "cursor-invalid")


def test_a_cursor_of_another_list(cast: make.Cast) -> None:
    assert_problem(
        caller(cast, "ada").get(f"skills?cursor={signing.dumps(['a', 'b'])}"), 400, "cursor-invalid"
    )
    for n in range(3):
        make.version(f"skill-{n}", cast=cast)
    ada = caller(cast, "ada")
    cursor = ada.get("skills?limit=1").json()["next"]
    assert ada.get(f"skills?limit=1&cursor={cursor}").status_code == 200
    for path in ("releases", "audit-log", "traces", "skills/skill-0/versions"):
        assert_problem(ada.get(f"{path}?cursor={cursor}"), 400, "cursor-invalid")
    Skill.objects.all().update(deleted_at=make.NOW)
    assert ada.get(f"skills?cursor={cursor}").json() == {"items": [], "next": None}
