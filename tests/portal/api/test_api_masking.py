"""Rules of masking, built-in kinds and samples by REST."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.http import HttpResponse
from pytest_django import DjangoAssertNumQueries

from catalog.models import JournalEntry
from governance import masks
from governance.masking import KINDS
from governance.models import MaskingRule, MaskingSwitch
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller
from tests.portal.api.test_api_schema import examples, same_shape

pytestmark = pytest.mark.django_db
STAFF = {"kind": "STAFF", "pattern": "EMP-[0-9]{5}", "sample": "EMP-12345"}
MOST_QUERIES = 6


@pytest.fixture
def ada(cast: make.Cast) -> Caller:
    return caller(cast, "ada")


def patch(who: Caller, rule_id: str, body: Any) -> HttpResponse:
    path = f"masking/rules/{rule_id}"
    return who.send("PATCH", path, data=json.dumps(body), content_type="application/json")


def test_as_the_examples_do(ada: Caller) -> None:
    sent, answered = examples("masking_rule_create")
    made = ada.post("masking/rules", sent[0], Idempotency_Key="k-1")
    assert made.status_code == 201
    same_shape(answered["201"][0], made.json())
    assert ada.post("masking/rules", sent[0], Idempotency_Key="k-1").content == made.content
    rule_id = made.json()["id"]
    sent, answered = examples("masking_rule_change")
    changed = patch(ada, rule_id, sent[0])
    same_shape(answered["200"][0], changed.json())
    assert changed.json()["fields"] == ["staff_id", "manager_id"]
    ada.send("DELETE", f"masking/rules/{rule_id}")
    sent, answered = examples("masking_try")
    tried = ada.post("masking/try", sent[0]).json()
    same_shape(answered["200"][0], tried)
    assert tried["now"]["note"].startswith("EMP-12345 wrote to [EMAIL·")
    assert tried["then"]["note"].startswith("[STAFF·")
    sent, answered = examples("masking_kind_switch")
    switched = ada.post("masking/kinds/IP", sent[0])
    same_shape(answered["200"][0], switched.json())
    assert switched.json() == {**answered["200"][0], "since": switched.json()["since"]}


def test_a_rule_lives(ada: Caller, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    made = ada.post("masking/rules", {**STAFF, "description": "Ask jane@example.com"}).json()
    assert made["description"].startswith("Ask [EMAIL·")
    with django_assert_max_num_queries(MOST_QUERIES):
        assert ada.get("masking/rules").json()["items"] == [made]
    assert masks.masker().mask_text("EMP-12345").value.startswith("[STAFF·")
    assert patch(ada, made["id"], {"is_on": False}).json()["is_on"] is False
    assert masks.masker().mask_text("EMP-12345").value == "EMP-12345"
    assert patch(ada, made["id"], {}).json()["is_on"] is False
    both = patch(ada, made["id"], {"is_on": True, "kind": "crew", "without_sample": True}).json()
    assert (both["is_on"], both["kind"]) == (True, "CREW")
    assert ada.send("DELETE", f"masking/rules/{made['id']}").json()["kind"] == "CREW"
    assert_problem(patch(ada, made["id"], {}), 404, "not-found")
    assert_problem(ada.send("DELETE", f"masking/rules/{made['id']}"), 404, "not-found")
    verbs = (
        JournalEntry.objects.filter(verb__startswith="masking").order_by("n").values_list("verb", flat=True)
    )
    assert list(verbs) == ["masking.create", *["masking.change"] * 3, "masking.delete"]


def test_it_is_tried_first(ada: Caller) -> None:
    for sample in (None, "", "EMP-1", {"staff": 12345}):
        told = {**STAFF, "sample": sample}
        assert_problem(ada.post("masking/rules", told), 422, "rule-untried")
    made = ada.post("masking/rules", {**STAFF, "sample": None, "without_sample": True}).json()
    assert_problem(patch(ada, made["id"], {"pattern": "E-[0-9]"}), 422, "rule-untried")
    assert patch(ada, made["id"], {"description": "Staff"}).status_code == 200
    assert patch(ada, made["id"], {"pattern": "E-[0-9]", "sample": ["E-1"]}).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": ""}, "kind"),
        ({"kind": "EMAIL"}, "kind"),
        ({"kind": 5}, "kind"),
        ({"pattern": "("}, "pattern"),
        ({"pattern": "a*"}, "pattern"),
        ({"pattern": ""}, "pattern"),
        ({"pattern": "x" * 1001}, "pattern"),
        ({"pattern": "jane@example.com"}, "pattern"),
        ({"fields": "--"}, "fields"),
        ({"fields": {}}, "fields"),
        ({"description": 5}, "description"),
        ({"without_sample": "perhaps"}, "without_sample"),
        ({"sample": "x" * 90_000}, "sample"),
    ],
)
def test_every_wrong_field_is_named(ada: Caller, body: dict[str, Any], field: str) -> None:
    told = assert_problem(ada.post("masking/rules", {**STAFF, **body}), 422, "field-invalid")
    assert field in {error["field"] for error in told["errors"]}
    assert not MaskingRule.objects.exists()


def test_clashes(ada: Caller) -> None:
    ada.post("masking/rules", STAFF)
    assert_problem(ada.post("masking/rules", STAFF), 409, "rule-taken")
    MaskingRule.objects.bulk_create(
        MaskingRule(kind=f"R{n:02}", pattern="R", created_at=make.NOW, changed_at=make.NOW) for n in range(49)
    )
    assert_problem(ada.post("masking/rules", {**STAFF, "kind": "CREW"}), 409, "rules-full")
    assert_problem(ada.post("masking/rules", []), 400, "body-invalid")


def test_a_sample(ada: Caller) -> None:
    rule = ada.post("masking/rules", STAFF).json()
    body = {"sample": "EMP-12345 C-1", "rule": {"kind": "CREW", "pattern": "C-[0-9]"}, "instead": rule["id"]}
    told = ada.post("masking/try", body).json()
    assert told["now"].endswith(" C-1")
    assert told["then"].startswith("EMP-12345 [CREW·")
    assert ada.post("masking/try", {"sample": "C-1"}).json() == {"now": "C-1", "then": "C-1", "found": 0}
    assert_problem(ada.post("masking/try", {}), 422, "field-invalid")
    assert_problem(ada.post("masking/try", {"sample": "x", "rule": {}}), 422, "field-invalid")
    assert_problem(ada.post("masking/try", {"sample": "x", "rule": 5}), 422, "field-invalid")
    wrong = {"sample": "x", "rule": {"kind": "CREW", "pattern": r"\1"}}
    assert "refers back" in assert_problem(ada.post("masking/try", wrong), 422, "field-invalid")["detail"]
    for instead in ("x", "01a22c57-0000-7000-8000-000000000000"):
        assert_problem(ada.post("masking/try", {**body, "instead": instead}), 404, "not-found")
    assert JournalEntry.objects.filter(verb__startswith="masking").count() == 1


def test_kinds(ada: Caller, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_max_num_queries(MOST_QUERIES):
        told = ada.get("masking/kinds").json()["items"]
    assert [one["kind"] for one in told] == list(KINDS)
    assert all(one["is_on"] and one["reason"] is None for one in told)
    off = ada.post("masking/kinds/PHONE", {"is_on": False, "reason": "Made-up numbers."}).json()
    assert (off["is_on"], off["reason"]) == (False, "Made-up numbers.")
    assert masks.masker().mask_text("+49 30 1234567").value == "+49 30 1234567"
    on = ada.post("masking/kinds/PHONE", {"is_on": True, "reason": "Done."}).json()
    assert (on["is_on"], on["reason"], on["since"]) == (True, None, None)
    assert_problem(ada.post("masking/kinds/PHONE", {"is_on": False}), 422, "reason-missing")
    assert_problem(ada.post("masking/kinds/PHONE", {"reason": "Why not."}), 422, "field-invalid")
    assert_problem(ada.post("masking/kinds/STAFF", {"is_on": False, "reason": "x"}), 404, "not-found")
    assert not MaskingSwitch.objects.exists()


def test_who_may(cast: make.Cast, ada: Caller) -> None:
    rule = ada.post("masking/rules", STAFF).json()
    for who, code in (
        (caller(cast, "ines"), "not-allowed"),
        (caller(cast, "ada", ("read",)), "scope-missing"),
    ):
        assert_problem(who.get("masking/rules"), 403, code)
        assert_problem(who.get("masking/kinds"), 403, code)
        assert_problem(who.post("masking/rules", STAFF), 403, code)
        assert_problem(who.post("masking/try", {"sample": "x"}), 403, code)
        assert_problem(who.post("masking/kinds/IP", {"is_on": False, "reason": "x"}), 403, code)
        assert_problem(patch(who, rule["id"], {"is_on": False}), 403, code)
        assert_problem(who.send("DELETE", f"masking/rules/{rule['id']}"), 403, code)
    assert_problem(Caller().get("masking/rules"), 401, "not-authenticated")
    assert MaskingRule.objects.get().is_on
