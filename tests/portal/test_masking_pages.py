"""The page of masking: kinds and switches, rules that are tried before they are saved, and a sample that nobody keeps."""

from __future__ import annotations

import io
import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F
from django.http import HttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import JobRun, JournalEntry
from governance import masks
from governance.masking import KINDS
from governance.models import MaskingRule, MaskingSwitch
from governance.remasking import SETTLE
from governance.tasks import remask
from portal.masking_page import KIND_WORDS, compare
from tests import make
from tests.make import Cast
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import is_page, signed_in

pytestmark = pytest.mark.django_db
NEW = "/masking/rules/new/"
MOST_QUERIES = 16
RULE = {"kind": "staff", "description": "Numbers of staff", "pattern": "EMP-[0-9]{5}", "fields_text": ""}
SAMPLE = "Ask EMP-12345 or jane@example.com."


@pytest.fixture
def cast() -> Cast:
    return make.cast()


@pytest.fixture
def ada(cast: Cast) -> Client:
    return signed_in(cast.ada)


def rule(kind: str = "STAFF", **more: Any) -> MaskingRule:
    told = {"pattern": "EMP-[0-9]{5}", "created_at": make.NOW, "changed_at": make.NOW, **more}
    return MaskingRule.objects.create(kind=kind, **told)


def save(client: Client, address: str = NEW, **changes: Any) -> HttpResponse:
    return client.post(address, {**RULE, "sample": SAMPLE, "act": "save", **changes})


def test_every_kind_finds_its_example(ada: Client) -> None:
    assert set(KIND_WORDS) == set(KINDS)
    for kind, (_, example) in KIND_WORDS.items():
        assert kind in {tag.kind for tag in masks.masker().mask_text(example).tags}, kind
    text = text_of(ada.get("/masking/"))
    assert "jane@example.com" in text
    assert "No rule yet" in text
    assert "Kinds of credentials" not in text


def test_the_navigation_leads_there_for_administrators(cast: Cast, ada: Client) -> None:
    assert 'href="/masking/"' in text_of(ada.get("/"))
    assert 'href="/masking/"' not in text_of(signed_in(cast.ines).get("/"))


@pytest.mark.parametrize("name", ["ines", "mara", "lena", "ravi", "nora"])
def test_others_see_and_change_nothing(cast: Cast, name: str) -> None:
    client, there = signed_in(getattr(cast, name)), rule()
    for address in ("/masking/", NEW, f"/masking/rules/{there.pk}/", "/masking/kinds/EMAIL/"):
        assert client.get(address).status_code == 403
    for address in (
        "try/",
        "rules/new/",
        f"rules/{there.pk}/switch/",
        f"rules/{there.pk}/delete/",
        "kinds/EMAIL/",
    ):
        assert (
            client.post(f"/masking/{address}", {**RULE, "reason": "Mine.", "sample": "x"}).status_code == 403
        )
    assert MaskingRule.objects.get().is_on
    assert not MaskingSwitch.objects.exists()


def test_a_rule_is_tried_beside_the_rules_of_now(ada: Client) -> None:
    fields = {**RULE, "sample": SAMPLE, "act": "try"}
    part = ada.post(NEW, fields, headers=HTMX)
    assert not is_page(part.content.decode())
    text = text_of(part)
    assert "The rule finds 1 value in the sample. Nothing is saved yet." in text
    assert "<mark>EMP-12345</mark>" in text.replace("EMP</mark>-<mark>", "EMP-") or "<mark>" in text
    assert "[STAFF·" in text
    assert "jane@" not in part.content.decode().partition('id="trial"')[2]
    page = ada.post(NEW, fields)
    assert is_page(page.content.decode())
    assert "The rule finds 1 value" in text_of(page)
    assert not MaskingRule.objects.exists()


def test_it_is_saved_with_a_sample_that_it_masks(ada: Client) -> None:
    answer = save(ada)
    assert answer["Location"] == "/masking/"
    text = text_of(ada.get("/masking/"))
    assert "The rule STAFF is saved and holds now." in text
    assert "Numbers of staff" in text
    assert masks.masker().mask_text("EMP-12345").value.startswith("[STAFF·")
    entry = JournalEntry.objects.get()
    assert (entry.verb, entry.actor) == ("masking.create", "ada")


@pytest.mark.parametrize("sample", ["", "   ", "EMP-1", json.dumps({"a": 12345})])
def test_without_such_a_sample_it_is_not_saved(ada: Client, sample: str) -> None:
    answer = save(ada, sample=sample)
    assert answer.status_code == 422
    assert "sample" in text_of(answer)
    assert not MaskingRule.objects.exists()
    assert save(ada, sample=sample, without_sample="on").status_code == 302


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "E"}, "A kind has 2 to 16 characters"),
        ({"kind": "email"}, "EMAIL is a built-in kind"),
        ({"kind": ""}, "This field is required."),
        ({"pattern": r"(a)\1"}, "it refers back to a group"),
        ({"pattern": "(?=a)"}, "it looks ahead"),
        ({"pattern": ""}, "Say what to look for"),
        ({"pattern": "a*"}, "matches the empty text"),
        ({"pattern": r"\S+"}, "matches masks as well"),
        ({"pattern": "jane@example.com"}, "It holds personal data or a secret (EMAIL)"),
        ({"fields_text": "--"}, "is no name of a field"),
        ({"sample": "x" * 20_001}, "at most 20000 characters"),
        ({"opened": "yesterday"}, "load the page anew"),
    ],
)
def test_what_is_wrong_is_said(ada: Client, wrong: dict[str, str], message: str) -> None:
    answer = save(ada, **wrong)
    assert answer.status_code == 422
    assert message in text_of(answer).replace("&#x27;", "'")
    assert not MaskingRule.objects.exists()


def test_a_trial_says_what_is_wrong_in_its_place(ada: Client) -> None:
    for wrong in ({"pattern": "("}, {"sample": ""}, {"kind": ""}):
        part = ada.post(NEW, {**RULE, "sample": SAMPLE, "act": "try", **wrong}, headers=HTMX)
        assert part.status_code == 422
        assert 'id="trial"' in part.content.decode()
        assert not is_page(part.content.decode())
    told = text_of(ada.post(NEW, {**RULE, "sample": "nothing", "act": "try"}, headers=HTMX))
    assert "The rule finds nothing in the sample." in told


def test_a_rule_is_changed_rests_and_goes(ada: Client) -> None:
    there = rule(fields=["badge", "staff_id"])
    address = f"/masking/rules/{there.pk}/"
    page = text_of(ada.get(address))
    assert "badge, staff_id" in page
    opened = there.changed_at.isoformat()
    changed = save(
        ada,
        address,
        pattern="[0-9]{5}",
        fields_text="Badge,\nstaff_id",
        opened=opened,
        sample='{"badge": 12345}',
    )
    assert changed.status_code == 302
    there.refresh_from_db()
    assert (there.pattern, there.fields) == ("[0-9]{5}", ["Badge", "staff_id"])
    late = save(ada, address, pattern="[0-9]{6}", opened=opened, without_sample="on")
    assert late.status_code == 409
    assert "changed meanwhile" in text_of(late)
    assert ada.post(f"{address}switch/").status_code == 302
    assert "Rests" in text_of(ada.get("/masking/"))
    assert ada.post(f"{address}switch/", {"on": "yes"}).status_code == 302
    assert "What it has masked stays masked." in text_of(ada.get(f"{address}delete/"))
    assert ada.post(f"{address}delete/").status_code == 302
    assert not MaskingRule.objects.exists()
    for gone in (address, f"{address}delete/"):
        assert ada.get(gone).status_code == 404
    assert ada.post(f"{address}switch/").status_code == 404


def test_a_second_rule_of_a_kind_is_refused(ada: Client) -> None:
    rule()
    assert "There is a rule STAFF already" in text_of(save(ada))


def test_a_kind_is_switched_with_a_reason(ada: Client) -> None:
    address = "/masking/kinds/KEY/"
    assert "These are credentials" in text_of(ada.get(address))
    refused = ada.post(address, {"on": "no", "reason": " "})
    assert refused.status_code == 422
    assert "Give a reason" in text_of(refused)
    assert ada.post(address, {"on": "no", "reason": "Ask jane@example.com."}).status_code == 302
    text = text_of(ada.get("/masking/"))
    assert "A kind of credentials is off: KEY" in text
    assert "Ask [EMAIL·" in text
    assert "KEY is masked no longer." in text
    assert ada.post(address, {"on": "no", "reason": "Again."}).status_code == 302
    assert ada.post(address, {"on": "yes", "reason": "Done."}).status_code == 302
    assert not MaskingSwitch.objects.exists()
    assert "jane@" not in str(list(JournalEntry.objects.values_list("after", flat=True)))
    assert ada.get("/masking/kinds/NOTHING/").status_code == 404


def test_a_sample_is_masked_as_a_payload_would_be(ada: Client) -> None:
    sent = json.dumps({"password": "hunter-2-hunter", "order": "ORD-1", "odd": "\ud800"})
    text = text_of(ada.post("/masking/try/", {"sample": sent}, headers=HTMX))
    assert "hunter" not in text
    assert "ORD-1" in text
    assert "[SECRET·" in text_of(ada.post("/masking/try/", {"sample": sent}))
    assert ada.post("/masking/try/", {"sample": ""}).status_code == 422
    assert ada.get("/masking/try/").status_code == 405


def test_nothing_of_a_sample_is_kept(ada: Client, caplog: pytest.LogCaptureFixture) -> None:
    secret = "a word that only the sample holds"
    with caplog.at_level(logging.DEBUG):
        ada.post("/masking/try/", {"sample": f"{secret} EMP-12345"})
        ada.post(NEW, {**RULE, "sample": f"{secret} EMP-12345", "act": "try"})
        save(ada, sample=f"{secret} EMP-12345")
    out = io.StringIO()
    call_command("dumpdata", stdout=out)
    assert MaskingRule.objects.exists()
    assert secret not in out.getvalue()
    assert secret not in caplog.text
    assert secret not in str(dict(ada.session.items()))


def test_what_differs_is_told() -> None:
    left, right = compare('{\n  "a": "EMP-1 x"\n}', '{\n  "a": "[STAFF·7f3a] x"\n}')
    assert "".join(one.text for one in left) == '{\n  "a": "EMP-1 x"\n}'
    assert [one.text for one in left if one.differs] == ["EMP-1"]
    assert [one.text for one in right if one.differs] == ["[STAFF·7f3a]"]
    long = "word " * 400
    left, right = compare(f"{long}EMP-1 {long}", f"{long}[STAFF·7f3a] {long}")
    assert [one.text for one in right if one.differs] == ["[STAFF·7f3a]"]
    left, right = compare("a\nb", "[STAFF·7f3a]")
    assert [one.text for one in right if one.differs] == ["[STAFF·7f3a]"]
    assert compare("same", "same") == compare("same", "same")


def test_the_queries_do_not_grow(ada: Client, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(50):
        rule(f"R{n:02}")
    for kind in KINDS:
        MaskingSwitch.objects.create(kind=kind, reason="Because.", changed_at=make.NOW - timedelta(days=1))
    with django_assert_max_num_queries(MOST_QUERIES):
        ada.get("/masking/")
    with django_assert_max_num_queries(MOST_QUERIES):
        ada.post("/masking/try/", {"sample": "x"}, headers=HTMX)
    assert "There are 50 rules already" in text_of(save(ada))


def test_what_is_stored_is_masked_again(ada: Client) -> None:
    assert "Mask what is stored" in text_of(ada.get("/masking/"))
    assert ada.post("/masking/stored/").status_code == 302
    part = ada.get("/masking/stored/", headers=HTMX)
    assert not is_page(part.content.decode())
    assert "It is being masked again" in text_of(part)
    assert is_page(ada.get("/masking/stored/").content.decode())
    JobRun.objects.update(started_at=F("started_at") - SETTLE)
    remask()
    assert "Last done" in text_of(ada.get("/masking/"))
    assert JournalEntry.objects.get().verb == "masking.again"
