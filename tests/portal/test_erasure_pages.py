"""Erasures in the portal: what would go is shown first, the value is never sent back, the end is a report."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.sessions.models import Session
from django.core import signing
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from catalog.models import Agent
from governance.erasures import erase_due
from governance.models import Erasure, SubjectTag
from tests import make
from tests.governance.traced import ANNA, BORIS, call, report, span
from tests.make import Cast
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import is_page, signed_in

pytestmark = pytest.mark.django_db
ADDRESS, LOOK, NEW = "/erasures/", "/erasures/preview/", "/erasures/new/"
MOST_QUERIES = 14


@pytest.fixture
def ada(cast: Cast) -> Client:
    return signed_in(cast.ada)


def erase() -> None:
    """The worker's turn, two minutes from now."""
    later = timezone.now() + timedelta(minutes=2)
    erase_due(clock=lambda: later, until=later + timedelta(minutes=1))


def hidden(answer: HttpResponse) -> dict[str, str]:
    """What the second step's form holds."""
    form = answer.content.decode().split(f'action="{NEW}"')[1]
    pairs = re.findall(r'name="(tags|reason)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in pairs}


def test_from_the_form_to_the_report(ada: Client, desk: Agent) -> None:
    report(desk, call("a", trace="t", intent=f"Write to {ANNA}"), call("b", trace="t"), now=timezone.now())
    report(desk, spans=[span("s", trace="u", user=ANNA)], now=timezone.now())
    report(desk, call("c", trace="v", intent=BORIS), now=timezone.now())
    assert "Nobody has been erased yet" in text_of(ada.get(ADDRESS))
    looked = ada.post(LOOK, {"value": ANNA, "reason": "Request 118."})
    mask = f"EMAIL·{SubjectTag.objects.filter(call__call_id='a').get().hash[:4]}"
    told = text_of(looked)
    assert "2 traces, 2 calls" in told
    assert f'<span class="mask">{mask}</span>' in told
    assert "1 call, 1 span" in told
    assert looked["Cache-Control"] == "private, no-store"
    assert not Erasure.objects.exists()
    sent = ada.post(NEW, hidden(looked))
    row = Erasure.objects.get()
    assert (sent.status_code, sent["Location"]) == (302, f"/erasures/{row.pk}/")
    waiting = text_of(ada.get(sent["Location"]))
    assert "Waiting" in waiting
    assert "It begins" in waiting
    assert 'hx-trigger="every 3s"' in waiting
    erase()
    done = text_of(ada.get(sent["Location"]))
    assert "<dt>Traces erased</dt><dd>2</dd>" in done
    assert "<dt>Calls</dt><dd>2</dd>" in done
    assert "<dt>Spans</dt><dd>1</dd>" in done
    assert "Request 118." in done
    assert "every 3s" not in done
    listed = text_of(ada.get(ADDRESS))
    assert mask in listed
    assert "Done" in listed


def test_the_progress_is_a_part(ada: Client, cast: Cast) -> None:
    ada.post(NEW, hidden(ada.post(LOOK, {"value": ANNA})))
    address = f"/erasures/{Erasure.objects.get().pk}/"
    assert not is_page(ada.get(address, headers=HTMX).content.decode())
    assert is_page(ada.get(address).content.decode())
    assert ada.get("/erasures/01a22c57-0000-7000-8000-000000000000/").status_code == 404


@pytest.mark.parametrize("reason", ["", "Request of anna@example.org", "ANNA@EXAMPLE.ORG wrote"])
def test_the_value_comes_back_nowhere(ada: Client, reason: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    looked = ada.post(LOOK, {"value": ANNA, "reason": reason})
    sent = ada.post(NEW, hidden(looked))
    pages = [looked, sent, ada.get(sent["Location"]), ada.get(ADDRESS)]
    seen = "".join(page.content.decode() + str(page.headers) for page in pages)
    seen += str([one.get_decoded() for one in Session.objects.all()]) + caplog.text
    seen += str(list(Erasure.objects.values()))
    assert "anna" not in seen.lower()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "Give the value of the subject"),
        ("Anna Schmidt", "Nothing is masked in this value"),
        ("anna\u202e@example.org", "It holds a hidden control character"),
        ("anna" * 2000, "at most 4096 characters"),
    ],
)
def test_a_refusal_keeps_the_reason_and_not_the_value(ada: Client, value: str, message: str) -> None:
    refused = ada.post(LOOK, {"value": value, "reason": "Request 118."})
    assert refused.status_code == 422
    told = text_of(refused)
    assert message in told
    assert 'value="Request 118."' in told
    assert "it has to be typed again" in told
    assert "anna" not in told.lower()
    assert 'autocomplete="off"' in told


def test_what_was_seen_is_of_who_saw_it_and_not_for_long(
    ada: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = hidden(ada.post(LOOK, {"value": ANNA, "reason": "Request 118."}))
    second = make.user("second")
    make.grant(second, "admin")
    made_up = signing.dumps([str(cast.ada.pk), [["k", "EMAIL", "0" * 64]]], salt="another")
    for who, tags in ((signed_in(second), seen["tags"]), (ada, made_up), (ada, ""), (ada, seen["tags"][:-3])):
        refused = who.post(NEW, {**seen, "tags": tags})
        assert refused.status_code == 422
        assert "too old, or not yours" in text_of(refused)
        assert 'value="Request 118."' in text_of(refused)
    real = signing.time.time
    monkeypatch.setattr(signing.time, "time", lambda: real() + 31 * 60)
    assert ada.post(NEW, seen).status_code == 422
    assert not Erasure.objects.exists()


def test_nothing_kept_can_be_asked_for_all_the_same(ada: Client) -> None:
    looked = ada.post(LOOK, {"value": BORIS})
    assert "Nothing is kept now" in text_of(looked)
    assert ada.post(NEW, hidden(looked)).status_code == 302


def test_what_was_lost_is_told_with_its_end(ada: Client, cast: Cast) -> None:
    ada.post(NEW, hidden(ada.post(LOOK, {"value": ANNA})))
    erase()
    Erasure.objects.update(lost=3)
    told = text_of(ada.get(f"/erasures/{Erasure.objects.get().pk}/"))
    assert "3 masks could not be searched" in told
    assert "MASKING_KEYS_BEFORE" in told


def test_administrators_alone(cast: Cast) -> None:
    for who in (cast.ines, cast.mara, cast.lena, cast.nora):
        client = signed_in(who)
        assert client.get(ADDRESS).status_code == 403
        assert client.post(LOOK, {"value": ANNA}).status_code == 403
        assert client.post(NEW, {}).status_code == 403
        assert ADDRESS not in text_of(client.get("/teams/"))
    assert f'href="{ADDRESS}"' in text_of(signed_in(cast.ada).get("/teams/"))
    assert signed_in(cast.ada).get(LOOK).status_code == 405


def test_the_queries_are_bounded(
    ada: Client, desk: Agent, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    report(desk, *(call(f"c{n}", trace=f"t{n}", intent=ANNA) for n in range(30)), now=timezone.now())
    for _ in range(30):
        ada.post(NEW, hidden(ada.post(LOOK, {"value": ANNA})))
    Erasure.objects.update(lost=1, finished_at=timezone.now())
    with django_assert_max_num_queries(MOST_QUERIES):
        first = ada.get(ADDRESS)
    assert "1–25 of 30" in text_of(first)
    assert "26–30 of 30" in text_of(ada.get(f"{ADDRESS}?page=2", headers=HTMX))
    with django_assert_max_num_queries(MOST_QUERIES + 6):
        ada.post(LOOK, {"value": ANNA})
    with django_assert_max_num_queries(MOST_QUERIES):
        ada.get(f"/erasures/{Erasure.objects.first().pk}/")  # type: ignore[union-attr]  # there are thirty
