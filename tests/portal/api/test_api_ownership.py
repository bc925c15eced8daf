"""PATCH and DELETE /api/v1/skills/{name}, POST /api/v1/skills/{name}/transfer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.http import HttpResponse

from catalog.models import JournalEntry, Role, Skill
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db
PATH = "skills/refund-check"


@pytest.fixture(autouse=True)
def version(cast: make.Cast) -> None:
    make.version(cast=cast)


def patch(caller: Caller, body: dict[str, Any]) -> HttpResponse:
    return caller.send("PATCH", PATH, data=json.dumps(body), content_type="application/json")


def test_settle(ines: Caller) -> None:
    told = patch(ines, {"visibility": "team", "owner": "ravi", "maintainers": ["ines"]}).json()
    assert told == {
        "name": "refund-check",
        "team": "payments",
        "visibility": "team",
        "owner": "ravi",
        "maintainers": ["ines"],
        "deleted_at": None,
    }
    assert patch(ines, {"maintainers": []}).json()["maintainers"] == []


def test_settle_refuses(ines: Caller, cast: make.Cast) -> None:
    assert_problem(patch(ines, {"visibility": "everyone"}), 422, "field-invalid")
    assert_problem(patch(ines, {"owner": "nobody"}), 422, "user-unknown")
    assert_problem(patch(ines, {"owner": "sven"}), 422, "user-unknown")
    assert_problem(patch(caller(cast, "ravi"), {"visibility": "team"}), 403, "not-allowed")
    assert_problem(patch(caller(cast, "ines", ("read",)), {"visibility": "team"}), 403, "scope-missing")


def test_transfer(ines: Caller, cast: make.Cast) -> None:
    body = {"team": "support", "reason": "Theirs."}
    assert_problem(ines.post(f"{PATH}/transfer", body), 403, "not-allowed")
    assert_problem(ines.post(f"{PATH}/transfer", {"team": "support"}), 422, "reason-missing")
    assert_problem(ines.post(f"{PATH}/transfer", {**body, "team": "nowhere"}), 422, "team-unknown")
    assert caller(cast, "ada").post(f"{PATH}/transfer", body).json()["team"] == "support"
    assert ines.get(f"{PATH}/transfer").status_code == 405


def test_delete(ines: Caller, cast: make.Cast) -> None:
    assert_problem(caller(cast, "ravi").send("DELETE", PATH), 403, "not-allowed")
    told = ines.send("DELETE", f"{PATH}?reason=Unused").json()
    assert told["deleted_at"]
    assert JournalEntry.objects.order_by("-n")[0].after == {"reason": "Unused", "needed_by": []}
    assert_problem(ines.send("DELETE", PATH), 404, "not-found")
    assert_problem(ines.get(PATH), 404, "not-found")


def test_delete_of_what_others_need(ines: Caller, cast: make.Cast) -> None:
    files = {"manifest.yaml": make.manifest(more="dependencies:\n  refund-check: 1.0.0\n"), "run.py": b"\n"}
    make.version("refund.issue", cast=cast, files=files)
    assert_problem(ines.send("DELETE", PATH), 409, "skill-needed")
    assert ines.send("DELETE", f"{PATH}?although_needed=true").status_code == 200


def test_a_key_is_answered_once(ines: Caller) -> None:
    first, again = (ines.send("DELETE", PATH, headers={"Idempotency-Key": "end-1"}) for _ in range(2))
    assert first.content == again.content
    assert Skill.objects.get().deleted_at


def test_a_token_does_not_act_by_a_right_that_its_scopes_leave_out(cast: make.Cast) -> None:
    body = {"team": "support", "reason": "Theirs."}
    publishing, administering = caller(cast, "ada", ("publish",)), caller(cast, "ines", ("admin",))
    for narrow in (publishing, administering):
        assert_problem(patch(narrow, {"visibility": "team"}), 403, "scope-missing")
        assert_problem(narrow.send("DELETE", PATH), 403, "scope-missing")
        assert_problem(narrow.post(f"{PATH}/transfer", body), 403, "scope-missing")
    # Of both teams: one right by the scope, the other by being an administrator, is not enough.
    make.grant(cast.ada, Role.PUBLISHER, team=cast.payments)
    assert_problem(publishing.post(f"{PATH}/transfer", body), 403, "scope-missing")
    assert patch(publishing, {"visibility": "team"}).status_code == 200
    assert caller(cast, "ada", ("admin",)).post(f"{PATH}/transfer", body).status_code == 200
