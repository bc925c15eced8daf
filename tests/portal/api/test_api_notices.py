"""Notices by REST."""

from __future__ import annotations

from uuid import uuid4

import pytest

from catalog.models import State
from governance.models import Notice
from governance.notices import spread
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def mara(cast: make.Cast) -> Caller:
    """Mara, who is told of two proposals."""
    for name in ("refund-check", "late-fee"):
        make.release(
            make.version(name, cast=cast), "production", cast=cast, state=State.PROPOSED, note="Why."
        )
    spread(now=make.NOW)
    return caller(cast, "mara", ("read",))


def test_newest_first(mara: Caller) -> None:
    first, second = mara.get("notices").json()["items"]
    row = Notice.objects.filter(user__username="mara").order_by("-entry")[0]
    assert first == {
        "id": str(row.pk),
        "verb": "release.propose",
        "text": "Ines Okafor proposes late-fee 1.0.0 for Production; it waits for your decision.",
        "reason": "Why.",
        "skill": "late-fee",
        "version": "1.0.0",
        "environment": "production",
        "release": str(row.release_id),
        "page": f"/releases/{row.release_id}/",
        "at": first["at"],
        "read_at": None,
    }
    assert second["skill"] == "refund-check"


def test_pages(mara: Caller) -> None:
    page = mara.get("notices?limit=1").json()
    last = mara.get(f"notices?limit=1&cursor={page['next']}").json()
    assert [one["skill"] for one in (*page["items"], *last["items"])] == ["late-fee", "refund-check"]
    assert last["next"] is None
    assert_problem(mara.get("notices?cursor=x"), 400, "cursor-invalid")


def test_read_one(mara: Caller, cast: make.Cast) -> None:
    pk = mara.get("notices").json()["items"][0]["id"]
    read_at = mara.post(f"notices/{pk}/read").json()["read_at"]
    assert read_at is not None
    assert mara.post(f"notices/{pk}/read").json()["read_at"] == read_at
    assert [one["skill"] for one in mara.get("notices?unread=true").json()["items"]] == ["refund-check"]
    assert len(mara.get("notices?unread=0").json()["items"]) == 2
    assert len(caller(cast, "otto").get("notices?unread=1").json()["items"]) == 2


def test_read_all_once_for_each_key(mara: Caller) -> None:
    assert mara.post("notices/read-all", Idempotency_Key="k").json() == {"read": 2}
    assert mara.post("notices/read-all", Idempotency_Key="k").json() == {"read": 2}
    assert mara.post("notices/read-all").json() == {"read": 0}


def test_what_is_refused(mara: Caller, cast: make.Cast) -> None:
    pk = mara.get("notices").json()["items"][0]["id"]
    assert_problem(mara.get("notices?unread=maybe"), 400, "field-invalid")
    assert_problem(mara.post(f"notices/{uuid4()}/read"), 404, "not-found")
    assert_problem(caller(cast, "otto").post(f"notices/{pk}/read"), 404, "not-found")
    assert_problem(caller(cast, "mara", ("release",)).get("notices"), 403, "scope-missing")
    assert_problem(caller(cast, "mara", ("release",)).post("notices/read-all"), 403, "scope-missing")
    assert_problem(Caller().get("notices"), 401, "not-authenticated")
    assert mara.send("DELETE", "notices").status_code == 405
    assert Notice.objects.filter(read_at=None).count() == 4
    assert caller(cast, "nora").get("notices").json() == {"items": [], "next": None}
