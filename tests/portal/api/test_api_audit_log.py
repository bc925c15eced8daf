"""The audit log by REST."""

from __future__ import annotations

import pytest

from catalog.models import JournalEntry, Version
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(cast: make.Cast, refunds: Version) -> Caller:
    """Ada, the administrator, after something happened."""
    return caller(cast, "ada")


def test_entries_newest_first(ada: Caller) -> None:
    items = ada.get("audit-log").json()["items"]
    assert [item["n"] for item in items] == list(range(len(items), 0, -1))
    first = next(item for item in items if item["verb"] == "version.publish")
    assert (first["actor"], first["target"], first["origin"]) == ("ines", "refund-check 1.0.0", "127.0.0.1")
    assert first["after"]["team"] == "payments"
    assert len(first["hash"]) == 64


def test_filters(ada: Caller) -> None:
    def verbs(query: str) -> list[str]:
        return [item["verb"] for item in ada.get(f"audit-log?{query}").json()["items"]]

    assert verbs("verb=version.publish") == ["version.publish"]
    assert set(verbs("actor=mara")) == {"release.approve", "release.start"}
    assert "version.publish" in verbs("target=refund-check%201.0.0")
    assert verbs("since=2100-01-01T00:00:00Z") == []
    assert "version.publish" in verbs("since=2026-01-01T00:00:00%2B02:00&since=")
    assert verbs("actor=nobody") == []
    assert verbs("until=2000-01-01T00:00:00Z") == []
    assert "version.publish" in verbs("until=2100-01-01T00:00:00Z")
    assert set(verbs("verb=version")) == {"version.publish"}
    assert verbs("verb=vers") == verbs("target=refund") == []
    assert {"version.publish", "release.start"} <= set(verbs("target=refund-check"))


@pytest.mark.parametrize(
    "since",
    [
        *("yesterday", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00%2B23:59", "9999-12-31T23:59:59-23:59"),
        *("1e99", "x" * 5000, "2026-11-30T12:00:00%2B99:99", "%ff"),
    ],
)
def test_a_time_that_is_none(ada: Caller, since: str) -> None:
    assert_problem(ada.get(f"audit-log?since={since}"), 400, "field-invalid")
    assert_problem(ada.get(f"audit-log?until={since}"), 400, "field-invalid")


def test_verify(ada: Caller) -> None:
    body = ada.get("audit-log/verify").json()
    assert (body["intact"], body["broken_at"]) == (True, None)
    assert body["entries"] == body["head"]["n"] == JournalEntry.objects.count()
    JournalEntry.objects.filter(n=2).update(actor="somebody")
    body = ada.get("audit-log/verify").json()
    assert (body["intact"], body["broken_at"]) == (False, 2)


def test_for_administrators_alone(cast: make.Cast) -> None:
    for name in ("ines", "mara", "lena", "ravi", "nora"):
        for path in ("audit-log", "audit-log/verify"):
            assert_problem(caller(cast, name).get(path), 403, "not-allowed")
    assert_problem(caller(cast, "ada", ("read",)).get("audit-log"), 403, "scope-missing")
