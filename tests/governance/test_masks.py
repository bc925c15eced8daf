"""The instance's masker: its rules and switches as they are now, and what was masked under former keys."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from pytest_django import DjangoAssertNumQueries, Settings

from governance import masks
from governance.masking import BadRule
from governance.models import Call, CallDetail, MaskingRule, MaskingSwitch, SubjectTag
from tests import make
from tests.governance.traced import call, report, span, task

OLD, NEW = "an old key of at least thirty-two characters", "a new key of at least thirty-two characters"
MAIL = "jane@example.com"


def rule(kind: str, **more: Any) -> MaskingRule:
    made = MaskingRule.objects.create(kind=kind, created_at=make.NOW, changed_at=make.NOW, **more)
    masks.forget_cached()
    return made


def off(kind: str) -> None:
    MaskingSwitch.objects.create(kind=kind, reason="Because.", changed_at=make.NOW)
    masks.forget_cached()


def shown(text: str) -> str:
    told: str = masks.masker().mask_text(text).value
    return told


@pytest.mark.django_db
def test_rules_and_switches_hold_at_once() -> None:
    assert "EMP-12345" in shown(f"EMP-12345 {MAIL}")
    rule("EMP", pattern="EMP-[0-9]{5}")
    off("EMAIL")
    assert shown(f"EMP-12345 {MAIL}").startswith("[EMP·")
    assert shown(f"EMP-12345 {MAIL}").endswith(f" {MAIL}")
    MaskingRule.objects.update(is_on=False)
    MaskingSwitch.objects.all().delete()
    masks.forget_cached()
    assert "EMP-12345 [EMAIL·" in shown(f"EMP-12345 {MAIL}")


@pytest.mark.django_db
def test_they_are_read_by_two_queries_once_a_second(
    django_assert_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("governance.masks.time.monotonic", lambda: now[0])
    with django_assert_num_queries(2):
        for _ in range(50):
            shown("nothing")
            masks.stored_ids("trace_id", "t")
    now[0] += 0.9
    with django_assert_num_queries(0):
        shown("nothing")
    MaskingRule.objects.create(kind="EMP", pattern="EMP", created_at=make.NOW, changed_at=make.NOW)
    now[0] += 0.2
    with django_assert_num_queries(2):
        assert shown("EMP") != "EMP"


@pytest.mark.django_db
def test_one_masker_for_the_same_rules() -> None:
    rule("EMP", pattern="EMP-[0-9]{5}")
    one = masks.masker()
    masks.forget_cached()
    assert masks.masker() is one


@pytest.mark.django_db
def test_what_cannot_be_read_is_raised_and_leaves_every_kind_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    rule("EMP", pattern="EMP-[0-9]{5}")
    off("EMAIL")
    assert shown(MAIL) == MAIL
    assert masks.masker_at_hand().mask_text(MAIL).value == MAIL

    def fail() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr("governance.masks._query", fail)
    masks.forget_cached()
    for _ in range(2):
        with pytest.raises(OperationalError):
            masks.masker()
    told = masks.masker_at_hand().mask_text(f"EMP-12345 {MAIL}").value
    assert (told[:5], "[EMAIL·" in told) == ("[EMP·", True)
    monkeypatch.undo()
    assert shown(MAIL) == MAIL


@pytest.mark.django_db
def test_a_batch_is_not_written_with_rules_missing() -> None:
    rule("EMP", pattern="(")
    with pytest.raises(BadRule):
        report(make.agent(team=make.cast().payments), call("c-1", trace="t-1"))
    assert not Call.objects.exists()


def test_at_hand_asks_no_database() -> None:
    # Without the mark a query would fail.
    assert masks.masker_at_hand().mask_text(MAIL).value.startswith("[EMAIL·")


@pytest.mark.django_db
def test_a_subject_is_found_whatever_is_off_or_rests(settings: Settings) -> None:
    settings.MASKING_KEY, settings.MASKING_KEYS_BEFORE = NEW, [OLD]
    rule("EMP", pattern="EMP-[0-9]{5}", is_on=False)
    rule("SALARY", fields=["salary"])
    off("EMAIL")
    kinds = {(key_id, tag.kind) for key_id, tag in masks.subject_tags(f"{MAIL} EMP-12345")}
    for key in (NEW, OLD):
        assert {(masks.key_id_of(key), kind) for kind in ("EMAIL", "EMP", "SALARY")} <= kinds


@pytest.mark.django_db
def test_what_was_masked_before_a_rotation_is_found_by_its_tags(settings: Settings) -> None:
    desk = make.agent(team=make.cast().payments)
    settings.MASKING_KEY = OLD
    report(desk, call("c-old", trace="t-1", intent=f"Write to {MAIL}"))
    settings.MASKING_KEY, settings.MASKING_KEYS_BEFORE = NEW, [OLD]
    report(desk, call("c-new", trace="t-2", intent=f"Write to {MAIL}"))
    intents = dict(CallDetail.objects.values_list("call__call_id", "user_intent"))
    assert MAIL not in str(intents)
    assert intents["c-old"] != intents["c-new"]
    found = {
        name
        for key_id, tag in masks.subject_tags(MAIL)
        for name in SubjectTag.objects.filter(key_id=key_id, hash=tag.hash).values_list(
            "call__call_id", flat=True
        )
    }
    assert found == {"c-old", "c-new"}
    assert masks.known_keys() == [masks.key_id_of(NEW), masks.key_id_of(OLD)]
    assert len(masks.stored_ids("trace_id", MAIL)) == 2
    assert masks.stored_ids("trace_id", "t-1") == ["t-1"]


@pytest.mark.django_db
def test_a_search_asks_for_the_newest_keys_alone(settings: Settings) -> None:
    settings.MASKING_KEYS_BEFORE = [f"key number {n} of at least thirty-two characters" for n in range(9)]
    assert len(masks.stored_ids("trace_id", MAIL)) == masks.MOST_KEYS
    assert len(masks.known_keys()) == 10


@pytest.mark.django_db
def test_a_greedy_rule_leaves_the_words_that_are_ours() -> None:
    rule("LETTERS", pattern="[a-z]+|[A-Z]{3}")
    rule("WHOLE", fields=["detail", "spans", "row", "parameters"])
    steps = [{"span_id": "s", "name": "step", "start_ms": 5, "duration_ms": 7, "attributes": {"n": 3}}]
    sent = call("c-1", trace="t-1", cost="1", currency="EUR", spans=steps, parameters={"ask": 5})
    desk = make.agent(team=make.cast().payments)
    report(desk, sent, spans=[span("s-1", trace="t-1", who="jane")], tasks=[task("k", trace="t-1")])
    one = Call.objects.get()
    assert (one.kind, one.outcome, one.currency) == ("called", "ok", "EUR")
    assert one.skill_text.startswith("[WHOLE·")
    assert (one.detail.spans[0]["start_ms"], one.detail.spans[0]["duration_ms"]) == (5, 7)
    assert "ask" not in one.detail.parameters
    assert one.trace_id == masks.stored_id("trace_id", "t-1")
