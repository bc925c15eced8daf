"""The page of an environment: reading its policy, foreseeing a change, saving it."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from catalog.degradations import degrade
from catalog.journal import Actor
from catalog.models import Environment, JournalEntry, Release, Skill, State
from governance import retention
from governance.models import Call
from portal import policies
from portal.forms.environments import editable, pack
from tests import make
from tests.governance.traced import call, report
from tests.make import Cast
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import is_page, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/environments/production/"
PREVIEW = f"{ADDRESS}preview/"
MOST_QUERIES = 24


@pytest.fixture
def cast() -> Cast:
    return make.cast()


@pytest.fixture
def ada(cast: Cast) -> Client:
    return signed_in(cast.ada)


def production() -> Environment:
    return make.environment("production")


def sent(**changes: Any) -> dict[str, Any]:
    """The form as the page holds it, with some fields changed."""
    terms = editable(production())
    fields = {**terms, **changes, "opened": pack(terms)}
    return {name: value for name, value in fields.items() if value is not False}


def seen_in(answer: HttpResponse) -> str:
    found = re.search(r'name="seen" value="(\w{64})"', answer.content.decode())
    assert found, answer.content.decode()
    return found[1]


def save(client: Client, **changes: Any) -> HttpResponse:
    fields = sent(**changes)
    return client.post(ADDRESS, {**fields, "seen": seen_in(client.post(PREVIEW, fields, headers=HTMX))})


@pytest.mark.parametrize("name", ["nora", "ravi", "ines", "mara"])
def test_everyone_reads_the_policy_and_what_it_does(cast: Cast, name: str) -> None:
    text = text_of(signed_in(getattr(cast, name)).get(ADDRESS))
    assert "<h1>Production</h1>" in text
    assert '<th scope="row">Approvals, high risk</th><td data-label="Here">2</td>' in text
    assert '<th scope="row">Second confirmation</th><td data-label="Here">Yes</td>' in text
    assert "network, filesystem.read, filesystem.write, shell, secrets, send" in text
    assert "Who publishes for the owning team does not approve its releases." in text
    assert "Save the policy" not in text
    assert "Remove" not in text


def test_a_policy_without_approvals_for_high_risk_is_warned_of(cast: Cast, ada: Client) -> None:
    told = "High-risk releases need no approval"
    assert told not in text_of(ada.get(ADDRESS))
    assert told in text_of(signed_in(cast.nora).get("/environments/development/"))
    assert told in text_of(ada.post(PREVIEW, sent(approvals_high=0), headers=HTMX))


def test_the_preview_tells_what_would_follow(cast: Cast, ada: Client) -> None:
    live = make.version(cast=cast, permissions=("network",))
    make.release(live, "production", cast=cast)
    make.release(make.version("order-find", cast=cast), "production", cast=cast, state=State.APPROVED)
    before = production().revision
    part = ada.post(PREVIEW, sent(permissions=["shell"], approvals_low=2), headers=HTMX)
    assert not is_page(part.content.decode())
    text = text_of(part)
    assert "1 served version becomes unavailable" in text
    assert "Not allowed here: network." in text
    assert "1 proposal needs more approvals" in text
    assert "1 approval becomes void (releases: 1)" in text
    assert '<b class="medium">Approvals, low risk</b>: 1 → 2' in text
    page = ada.post(PREVIEW, sent(permissions=["shell"]))
    assert is_page(page.content.decode())
    assert "1 served version becomes unavailable" in text_of(page)
    assert production().revision == before
    assert production().approvals_low == 1


def test_quiet_changes_are_said_to_be_so(ada: Client) -> None:
    assert "Nothing that is served or waits here is touched." in text_of(
        ada.post(PREVIEW, sent(soak_minutes=5), headers=HTMX)
    )
    assert "This is the policy as it is." in text_of(ada.post(PREVIEW, sent(), headers=HTMX))


def test_a_shorter_retention_says_how_many_calls_it_deletes(
    cast: Cast, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make.agent(team=cast.payments)
    old = timezone.now() - timedelta(days=20)
    report(desk, *(call(f"c{n}", trace=f"t{n}") for n in range(3)), now=old)

    def told(days: int) -> str:
        return text_of(ada.post(PREVIEW, sent(retention_days=days), headers=HTMX))

    assert "3 calls are older than the new retention: they are deleted within an hour" in told(10)
    assert "No call here is older than the new retention: nothing is deleted now." in told(30)
    assert "than the new retention" not in told(120)
    assert Call.objects.count() == 3
    for module in (retention, policies):
        monkeypatch.setattr(module, "MOST_COUNTED", 2)
    assert "2 calls and more are older than the new retention" in told(10)


def test_what_was_previewed_is_saved(ada: Client) -> None:
    answer = save(ada, approvals_high=3, second_confirmation=False, title="Shops")
    assert answer["Location"] == ADDRESS
    assert "The policy of Shops is saved." in text_of(ada.get(ADDRESS))
    kept = production()
    assert (kept.approvals_high, kept.second_confirmation, kept.title) == (3, False, "Shops")
    entry = JournalEntry.objects.get()
    assert (entry.verb, entry.actor, entry.origin) == ("environment.change", "ada", "127.0.0.1")
    assert entry.before == {"title": "Production", "approvals_high": 2, "second_confirmation": True}


def test_without_script_saving_takes_a_second_step(ada: Client) -> None:
    fields = sent(approvals_high=3)
    first = ada.post(ADDRESS, fields)
    assert first.status_code == 200
    assert "Nothing is saved yet." in text_of(first)
    assert production().approvals_high == 2
    second = ada.post(ADDRESS, {**fields, "seen": seen_in(first)})
    assert second.status_code == 302
    assert production().approvals_high == 3


def test_a_preview_is_of_those_values_alone(ada: Client) -> None:
    seen = seen_in(ada.post(PREVIEW, sent(approvals_high=3), headers=HTMX))
    answer = ada.post(ADDRESS, {**sent(approvals_high=0), "seen": seen})
    assert answer.status_code == 200
    assert "High-risk releases need no approval" in text_of(answer)
    assert production().approvals_high == 2


def test_the_same_again_changes_nothing(ada: Client) -> None:
    assert ada.post(ADDRESS, sent()).status_code == 302
    assert not JournalEntry.objects.exists()


def test_a_second_editor_is_told_and_overwrites_nothing(ada: Client) -> None:
    fields = sent(approvals_low=2)
    seen = seen_in(ada.post(PREVIEW, fields, headers=HTMX))
    save(ada, approvals_high=4, soak_minutes=5)
    part = ada.post(PREVIEW, fields, headers=HTMX)
    assert part.status_code == 200
    assert "Somebody else has changed this policy meanwhile" in text_of(part)
    for more in ({}, {"seen": seen}):
        late = ada.post(ADDRESS, {**fields, **more})
        assert late.status_code == 409
        text = text_of(late)
        assert '<b class="medium">Approvals, high risk</b>: 2 → 4' in text
        assert '<b class="medium">Minutes of a canary&#x27;s step</b>: 60 minutes → 5 minutes' in text
        # Theirs where nothing was changed, the editor's own where something was.
        assert re.search(r'name="approvals_high" value="4"', text)
        assert re.search(r'name="approvals_low" value="2"', text)
        opened = re.search(r'name="opened" value="([^"]*)"', text)
        assert opened
        assert json.loads(opened[1].replace("&quot;", '"'))["approvals_high"] == 4
    kept = production()
    assert (kept.approvals_low, kept.approvals_high, kept.soak_minutes) == (1, 4, 5)
    assert save(ada, approvals_low=2).status_code == 302
    assert (production().approvals_low, production().approvals_high) == (2, 4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"title": ""}, "This field is required."),
        ({"approvals_low": "6"}, "less than or equal to 5."),
        ({"approvals_low": "x"}, "Enter a whole number."),
        ({"highest_risk": "extreme"}, "extreme is not one of the available choices."),
        ({"opened": ""}, "The form cannot be read; load the page anew."),
        ({"opened": "[" * 3000}, "The form cannot be read; load the page anew."),
        ({"opened": '{"title": "x"}'}, "The form cannot be read; load the page anew."),
        ({"title": "a\u2028b"}, "title is a line of text that can be read."),
    ],
)
def test_bad_input_is_said(ada: Client, wrong: dict[str, Any], message: str) -> None:
    fields = {**sent(soak_minutes=7), **wrong}
    for address in (ADDRESS, PREVIEW):
        answer = ada.post(address, fields)
        if answer.status_code == 200:
            answer = ada.post(ADDRESS, {**fields, "seen": seen_in(answer)})
        assert answer.status_code == 422
        assert message in text_of(answer)
        assert 'name="soak_minutes" value="7"' in text_of(answer)
    assert production().title == "Production"


@pytest.mark.parametrize("name", ["ines", "mara", "lena", "ravi", "nora"])
def test_others_change_nothing(cast: Cast, name: str) -> None:
    client = signed_in(getattr(cast, name))
    for address in (ADDRESS, PREVIEW):
        assert client.post(address, sent(title="Mine")).status_code == 403
    assert production().title == "Production"


def test_wrong_methods_and_names(ada: Client) -> None:
    assert ada.get(PREVIEW).status_code == 405
    assert ada.delete(ADDRESS).status_code == 405
    answer = ada.get("/environments/moon/")
    assert answer.status_code == 404
    assert "There is no environment called moon; there are development, staging, production" in text_of(
        answer
    )


def test_the_queries_do_not_grow(
    cast: Cast, ada: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(8):
        version = make.version(f"skill-{n}", cast=cast, permissions=("network",))
        make.release(version, "production", cast=cast, state=State.LIVE if n % 2 else State.APPROVED)
    with django_assert_max_num_queries(MOST_QUERIES):
        ada.get(ADDRESS)
    fields = sent(permissions=[])
    with django_assert_max_num_queries(MOST_QUERIES):
        ada.post(PREVIEW, fields, headers=HTMX)


def test_what_is_under_way_there_is_linked_to_who_may_see_it(cast: Cast) -> None:
    for name in ("refunds", "vault", "letters"):
        state = State.LIVE if name == "letters" else State.PROPOSED
        make.release(make.version(name, cast=cast), "production", cast=cast, state=state)
    Skill.objects.filter(name="vault").update(visibility="team")
    degrade(
        skill=Skill.objects.get(name="letters"),
        environments=(production(),),
        reason="It misses the date.",
        actor=Actor(user=cast.mara),
        now=make.NOW,
    )
    answer = signed_in(cast.nora).get(ADDRESS)
    text = text_of(answer)
    assert 'refunds <span class="ver">1.0.0</span>' in text
    assert "It misses the date." in text
    assert "vault" not in text
    assert f'href="/releases/{Release.objects.get(skill__name="refunds").pk}/"' in answer.content.decode()
    assert "Nothing is on its way here" in text_of(signed_in(cast.nora).get("/environments/staging/"))
