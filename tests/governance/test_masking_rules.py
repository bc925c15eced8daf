"""Rules of masking: what is taken and what is refused, how they mask, and that masks stay as they are."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.access import NotAllowed
from catalog.journal import Actor
from catalog.models import JournalEntry
from governance import masks
from governance.masking import KINDS, BadRule, Masker, Rule, check_rule, compile_rules
from governance.masking_rules import (
    Draft,
    NoSuchKind,
    RuleChanged,
    RuleTaken,
    TooManyRules,
    Untried,
    change_rule,
    create_rule,
    delete_rule,
    switch_kind,
    switch_rule,
    try_sample,
)
from governance.models import MaskingRule, MaskingSwitch
from governance.refusals import ReasonMissing
from tests import make

RULES = (
    Rule("EMP", "EMP-[0-9]{2,5}"),
    Rule("SALARY", "", ("salary", "base_pay")),
    Rule("BADGE", "[0-9]{2,6}", ("badge",)),
    Rule("OPENING", "^x"),
    Rule("WORD", r"\bfoo\w*"),
    Rule("CAPITALS", "[A-Z]{3}"),
    Rule("TAIL", "(?P<value>[a-z]+) end"),
)
MASKER = Masker(b"key", "k1", compile_rules(RULES[:3]))


def kinds(value: Any, masker: Masker = MASKER) -> list[str]:
    return sorted({tag.kind for tag in masker.mask(value).tags})


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("see EMP-12345.", ["EMP"]),
        ({"EMP-12345": 1}, ["EMP"]),
        ("?id=EMP%2D12345", ["EMP"]),
        (r"id: EMP\u002d12345", ["EMP"]),
        ({"a": '{"b": "EMP-12345", "c": [1.10]}'}, ["EMP"]),
        ({"a": json.dumps({"b": json.dumps({"c": "EMP-12345"})})}, ["EMP"]),
        ('{"salary": 52} and EMP-12345', ["EMP", "SALARY"]),
        ('{"n": 1}\n{"base-pay": "12 EUR"}', ["SALARY"]),
        ('{"salary": "1 000", "cut', ["SALARY"]),
        ({"salary": 5000}, ["SALARY"]),
        ({"salary": 5000.5}, ["SALARY"]),
        ({"Base-Pay": [{"amount": 1}]}, ["SALARY"]),
        ({"staff.basePay": "low"}, ["SALARY"]),
        ([{"key": "salary", "value": "low"}], ["SALARY"]),
        ({"badge": 1234}, ["BADGE"]),
        ({"badge": "no. 1234"}, ["BADGE"]),
        ({"number": 1234}, []),
        ({"salary": True, "base_pay": None}, []),
        ({"salary_band": 5000}, []),
        ("emp-12345", []),
        ("salary: 5000", []),
        ("EMP-12345@example.com", ["EMAIL", "EMP"]),
        ({"salary": "ask jane@example.com"}, ["EMAIL", "SALARY"]),
        ("\ud800 EMP-12345", ["EMP"]),
    ],
)
def test_what_they_mask(value: Any, found: list[str]) -> None:
    assert kinds(value) == found
    assert "12345" not in repr(MASKER.mask(value).value) or not found


def test_values_are_masked_where_they_stand() -> None:
    sent = '{"salary": 5200, "n": 1.10, "who": "EMP-12345"} EMP-12345'
    masked = MASKER.mask_text(sent).value
    body, _, tail = masked.rpartition(" ")
    assert json.loads(body)["who"] == tail
    assert '"n": 1.10' in body
    assert json.loads(body)["salary"] == MASKER.mask({"salary": 5200}).value["salary"]


def test_a_group_called_value_is_what_is_masked() -> None:
    masker = Masker(b"key", "k1", compile_rules([Rule("STAFF", "staff (?P<value>[a-z]+)|badge [0-9]+")]))
    assert masker.mask_text("staff jane").value.startswith("staff [STAFF·")
    assert masker.mask_text("badge 12").value.startswith("[STAFF·")


def test_the_tags_of_a_value_are_those_it_was_masked_under() -> None:
    for value, sent in (
        ("5000", {"salary": 5000}),
        ("1234", {"badge": "1234"}),
        ("EMP-12345", "a EMP-12345"),
    ):
        assert MASKER.mask(sent).tags & set(MASKER.tag(value)), value


def test_a_rule_of_an_instance_names_the_mask() -> None:
    masker = Masker(b"key", "k1", compile_rules([Rule("CLIENT", "[0-9]{4}( [0-9]{4}){3}")]))
    assert kinds("4111 1111 1111 1111", masker) == ["CARD", "CLIENT"]
    assert masker.mask_text("4111 1111 1111 1111").value.startswith("[CLIENT·")


def test_kinds_that_are_off_stay_unless_another_one_covers_them() -> None:
    masker = Masker(b"key", "k1", None, frozenset({"EMAIL"}))
    assert masker.mask({"a": "jane@example.com"}).value == {"a": "jane@example.com"}
    assert masker.mask({"password": "jane@example.com"}).value["password"].startswith("[SECRET·")
    mixed = masker.mask_text("jane@example.com 4111 1111 1111 1111").value
    assert mixed.startswith("jane@example.com [CARD·")
    assert {tag.kind for tag in masker.tag("jane@example.com")} >= {"EMAIL"}


bits = st.sampled_from(
    [
        *("EMP-123", "EMP%2D12", "foo", "x", "a@b.com", " end", " ", "·", "[", "]", "[EMAIL·7f3a]", "7f3a"),
        *(
            "password=",
            "ABC",
            "{",
            '"salary"',
            ":",
            '"',
            "\\",
            "\\n",
            "}",
            ",",
            "12",
            "1234567",
            "%5B",
            "&#64;",
        ),
        *("\ud800", "é", "null", "-", "+49 170 1234567"),
    ]
)
texts = st.lists(bits, max_size=8).map("".join)
names = st.one_of(st.sampled_from(["salary", "badge", "Base-Pay", "name", "value", "password", "x"]), texts)
values = st.recursive(
    st.one_of(texts, st.integers(), st.floats(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=300)
@given(st.one_of(values, values.map(json.dumps), values.map(lambda v: json.dumps({"a": json.dumps(v)}))))
def test_masks_stay_as_they_are(value: Any) -> None:
    masker = Masker(b"key", "k1", compile_rules(RULES), frozenset({"PHONE"}))
    once = masker.mask(value).value
    assert repr(masker.mask(once).value) == repr(once)


def test_masks_of_kinds_that_are_gone_stay() -> None:
    told = "[GONE_1·0a1b]"
    for value in (told, {"password": told}, f"token={told}", {"salary": told}):
        assert MASKER.mask(value).value == value


@pytest.mark.parametrize(
    ("rule", "field", "message"),
    [
        (Rule("emp", "a"), "kind", "A kind has 2 to 16 characters"),
        (Rule("E", "a"), "kind", "A kind has 2 to 16 characters"),
        (Rule("E" * 17, "a"), "kind", "A kind has 2 to 16 characters"),
        (Rule("EMAIL", "a"), "kind", "EMAIL is a built-in kind"),
        (Rule("EMP"), "pattern", "Say what to look for"),
        (Rule("EMP", "("), "pattern", "a bracket is opened and not closed"),
        (Rule("EMP", r"(a)\1"), "pattern", "it refers back to a group"),
        (Rule("EMP", "a(?=b)"), "pattern", "it looks ahead"),
        (Rule("EMP", "(?<=a)b"), "pattern", "it looks behind"),
        (Rule("EMP", "(?<!a)b"), "pattern", "it looks behind"),
        (Rule("EMP", "((a{100}){100}){100}"), "pattern", "it repeats something too often"),
        (Rule("EMP", r"(\pL{500}){2}"), "pattern", "too large"),
        (Rule("EMP", "[z-a]"), "pattern", "a range that is none"),
        (Rule("EMP", "a**"), "pattern", "two signs for a repetition"),
        (Rule("EMP", "*a"), "pattern", "nothing stands before the sign"),
        (Rule("EMP", "a" * 1001), "pattern", "has 1001 characters"),
        (Rule("EMP", "a*"), "pattern", "matches the empty text"),
        (Rule("EMP", r"\b"), "pattern", "matches the empty text"),
        (Rule("EMP", "^"), "pattern", "matches the empty text"),
        (Rule("EMP", ".+"), "pattern", "matches masks as well, such as [KEY·7f3a]"),
        (Rule("EMP", r"\S+"), "pattern", "matches masks as well"),
        (Rule("EMP", "."), "pattern", "matches whatever there is"),
        (Rule("EMP", r"\w+"), "pattern", "matches whatever there is"),
        (Rule("EMP", r"\[EMP·[0-9a-f]+\]"), "pattern", "matches masks as well, such as [EMP·7f3a]"),
        (Rule("EMP", "\ud800"), "pattern", "half a character"),
        (Rule("EMP", "a", ("--",)), "fields", "is no name of a field"),
        (Rule("EMP", "a", ("a" * 65,)), "fields", "is no name of a field"),
        (Rule("EMP", "a", tuple(f"f{n}" for n in range(51))), "fields", "51 names of fields are too many"),
    ],
)
def test_what_is_refused(rule: Rule, field: str, message: str) -> None:
    with pytest.raises(BadRule) as refused:
        check_rule(rule)
    assert refused.value.field == field
    assert message in str(refused.value)


def test_a_hostile_pattern_takes_linear_time() -> None:
    check_rule(Rule("SLOW", "(a+)+b"))
    masker = Masker(b"key", "k1", compile_rules([Rule("SLOW", "(a+)+b")]))
    assert masker.mask_text("a" * 200_000).value == "a" * 200_000


@pytest.fixture
def ada(db: None) -> Actor:
    return Actor(user=make.cast().ada)


def create(ada: Actor, kind: str = "EMP", pattern: str = "EMP-[0-9]{5}", **more: Any) -> MaskingRule:
    told = {"sample": "EMP-12345", **more}
    return create_rule(draft=Draft(kind, pattern, (), "Staff"), actor=ada, now=make.NOW, **told)


def masked(text: str) -> str:
    told: str = masks.masker().mask_text(text).value
    return told


def test_a_rule_lives(ada: Actor) -> None:
    assert masked("EMP-12345") == "EMP-12345"
    rule = create(ada)
    assert masked("EMP-12345").startswith("[EMP·")
    later = make.NOW + timedelta(hours=1)
    rule = change_rule(
        rule=rule,
        draft=Draft("STAFF", "S-[0-9]+"),
        actor=ada,
        now=later,
        sample={"a": "S-1"},
        opened=make.NOW,
    )
    assert masked("S-1 EMP-12345").endswith(" EMP-12345")
    rule = switch_rule(rule=rule, is_on=False, actor=ada, now=later)
    assert masked("S-1") == "S-1"
    switch_rule(rule=rule, is_on=False, actor=ada, now=later)
    delete_rule(rule=rule, actor=ada, now=later)
    entries = JournalEntry.objects.order_by("n").values_list("verb", "target", "actor")
    assert list(entries) == [
        ("masking.create", "masking EMP", "ada"),
        ("masking.change", "masking STAFF", "ada"),
        ("masking.change", "masking STAFF", "ada"),
        ("masking.delete", "masking STAFF", "ada"),
    ]
    assert "12345" not in str(list(JournalEntry.objects.values_list("before", "after")))


def test_it_is_tried_before_it_is_saved(ada: Actor) -> None:
    for sample in (None, "", "nothing of it", {"a": 1}):
        with pytest.raises(Untried):
            create(ada, sample=sample)
    rule = create(ada, sample=None, without_sample=True)
    draft = Draft("EMP", "EMP-[0-9]{6}")
    with pytest.raises(Untried):
        change_rule(rule=rule, draft=draft, actor=ada, now=make.NOW, sample="EMP-12345")
    # Another description masks nothing otherwise.
    draft = Draft("EMP", "EMP-[0-9]{5}", (), "Badges")
    assert change_rule(rule=rule, draft=draft, actor=ada, now=make.NOW).description == "Badges"


def test_a_trial_shows_both_and_writes_nothing(ada: Actor) -> None:
    rule = create(ada)
    told = try_sample(sample={"a": "EMP-12345 S-1"}, draft=Draft("STAFF", "S-[0-9]+"), instead=rule)
    assert told.now["a"].endswith(" S-1")
    assert told.then["a"].startswith("EMP-12345 [STAFF·")
    assert told.found == 1
    assert try_sample(sample="S-1 S-2").now == "S-1 S-2"
    assert masked("S-1") == "S-1"
    assert MaskingRule.objects.count() == JournalEntry.objects.count() == 1


def test_clashes(ada: Actor) -> None:
    rule, other = create(ada), create(ada, "STAFF")
    with pytest.raises(RuleTaken):
        create(ada)
    with pytest.raises(RuleTaken):
        change_rule(rule=other, draft=Draft("EMP", "E-1"), actor=ada, now=make.NOW, sample="E-1")
    with pytest.raises(RuleChanged):
        change_rule(
            rule=rule,
            draft=Draft("EMP", "E-1"),
            actor=ada,
            now=make.NOW,
            sample="E-1",
            opened=make.NOW - timedelta(seconds=1),
        )
    delete_rule(rule=rule, actor=ada, now=make.NOW)
    for late in (
        lambda: delete_rule(rule=rule, actor=ada, now=make.NOW),
        lambda: switch_rule(rule=rule, is_on=True, actor=ada, now=make.NOW),
    ):
        with pytest.raises(RuleChanged):
            late()


def test_no_more_than_fifty(ada: Actor) -> None:
    MaskingRule.objects.bulk_create(
        MaskingRule(kind=f"R{n:02}", pattern=f"R{n:02}", created_at=make.NOW, changed_at=make.NOW)
        for n in range(50)
    )
    with pytest.raises(TooManyRules):
        create(ada)


def test_a_rule_holds_no_value(ada: Actor) -> None:
    with pytest.raises(BadRule, match="EMAIL"):
        create(ada, pattern=r"jane@example\.com|jane@example.com", without_sample=True)
    for spelled in (r"jane@example\.com", "jane[@]example[.]com", r"\+49 ?170 ?1234567", r"^10\.0\.0\.1$"):
        with pytest.raises(BadRule, match=r"EMAIL|PHONE|IP"):
            create(ada, pattern=spelled, without_sample=True)
    assert create(ada, kind="MAIL", pattern=r"[a-z.]+@(?:corp|example)\.com", without_sample=True).pk
    assert create(ada, kind="LOCAL", pattern=r"10\.0\.\d{1,3}\.\d{1,3}", without_sample=True).pk
    assert create(ada, pattern="password=(?P<value>[a-z]{9})", without_sample=True).pk


def test_kinds_are_switched_with_a_reason(ada: Actor) -> None:
    with pytest.raises(ReasonMissing):
        switch_kind(kind="EMAIL", is_on=False, reason=" ", actor=ada, now=make.NOW)
    with pytest.raises(NoSuchKind):
        switch_kind(kind="EMP", is_on=False, reason="Because.", actor=ada, now=make.NOW)
    assert switch_kind(kind="EMAIL", is_on=False, reason="Made-up data.", actor=ada, now=make.NOW)
    assert not switch_kind(kind="EMAIL", is_on=False, reason="Again.", actor=ada, now=make.NOW)
    assert masked("jane@example.com") == "jane@example.com"
    assert MaskingSwitch.objects.get().reason == "Made-up data."
    assert switch_kind(kind="EMAIL", is_on=True, reason="Done.", actor=ada, now=make.NOW)
    assert masked("jane@example.com").startswith("[EMAIL·")
    assert list(JournalEntry.objects.order_by("n").values_list("verb", "after")) == [
        ("masking.switch_off", {"reason": "Made-up data."}),
        ("masking.switch_on", {"reason": "Done."}),
    ]


def test_administrators_alone(ada: Actor) -> None:
    rule = create(ada)
    assert ada.user
    other = Actor(user=type(ada.user).objects.get(username="ines"))
    for act in (
        lambda: create(other, "STAFF"),
        lambda: change_rule(rule=rule, draft=Draft("EMP", "E"), actor=other, now=make.NOW, sample="E"),
        lambda: switch_rule(rule=rule, is_on=False, actor=other, now=make.NOW),
        lambda: delete_rule(rule=rule, actor=other, now=make.NOW),
        lambda: switch_kind(kind=KINDS[0], is_on=False, reason="Mine.", actor=other, now=make.NOW),
    ):
        with pytest.raises(NotAllowed):
            act()
    assert MaskingRule.objects.get().pattern == "EMP-[0-9]{5}"
