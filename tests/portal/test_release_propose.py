"""Proposing a release, and the list of a skill's releases."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from catalog.models import Environment, Release, State, Version
from tests import make
from tests.portal.answers import HTMX, text_of

pytestmark = pytest.mark.django_db

PROPOSE = "/skills/refund-check/releases/propose/"


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def ines(client: Client, cast: make.Cast) -> Client:
    """Ines, publisher in Payments, with a version of refund-check."""
    make.version(cast=cast)
    client.force_login(cast.ines)
    return client


def test_the_address_chooses_version_environment_and_note(ines: Client, cast: make.Cast) -> None:
    make.version(number="1.1.0", cast=cast)
    text = text_of(ines.get(PROPOSE, {"version": "1.0.0", "environment": "production", "note": "Rounds."}))
    assert '<option value="1.0.0" selected>' in text
    assert '<option value="production" selected>' in text
    assert "Rounds.</textarea>" in text
    assert "1 approval is needed." in text


def test_it_begins_where_the_version_is_not_yet(ines: Client, cast: make.Cast) -> None:
    assert '<option value="development" selected>' in text_of(ines.get(PROPOSE))
    version = Version.objects.get()
    make.release(version, "development", cast=cast)
    make.release(version, "staging", cast=cast, state=State.PROPOSED)
    text = text_of(ines.get(PROPOSE))
    assert '<option value="production" selected>' in text
    assert "1.0.0 · Production" in text
    assert '<option value="staging" selected>' in text_of(ines.get(PROPOSE, {"environment": "staging"}))


def test_lists_of_a_skill_stand_under_the_catalog(ines: Client, cast: make.Cast) -> None:
    release = make.release(Version.objects.get(), "production", cast=cast, state=State.PROPOSED)
    for address in (PROPOSE, "/skills/refund-check/releases/"):
        assert '<a href="/" aria-current="page">' in ines.get(address).content.decode()
    html = ines.get(f"/releases/{release.pk}/").content.decode()
    assert '<a href="/inbox/" aria-current="page">' in html


def test_htmx_asks_what_another_environment_needs(ines: Client) -> None:
    answer = ines.get(PROPOSE, {"version": "1.0.0", "environment": "development"}, headers=HTMX)
    assert "<html" not in text_of(answer)
    assert "No approval is needed here." in text_of(answer)


def test_a_proposal_waits_in_production_and_is_live_in_development(ines: Client, cast: make.Cast) -> None:
    for environment, state in (("production", State.PROPOSED), ("development", State.LIVE)):
        sent = {"version": "1.0.0", "environment": environment, "percent": "100", "note": "First."}
        answer = ines.post(PROPOSE, sent)
        release = Release.objects.get(environment__name=environment)
        assert answer["Location"] == f"/releases/{release.pk}/"
        assert (release.state, release.note, release.proposer) == (state, "First.", cast.ines)


def test_less_than_all_callers_is_a_canary(ines: Client) -> None:
    ines.post(PROPOSE, {"version": "1.0.0", "environment": "development", "percent": "20"})
    release = Release.objects.get()
    assert (release.state, release.percent, release.canary) == (State.CANARY, 20, {"percent": 20})


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"version": "9.9.9"}, "9.9.9 is not one of the available choices."),
        ({"environment": "moon"}, "moon is not one of the available choices."),
        ({"percent": "0"}, "greater than or equal to 1"),
        ({"percent": "many"}, "Enter a whole number."),
    ],
)
def test_bad_input_is_said_and_the_note_is_kept(ines: Client, sent: dict[str, str], message: str) -> None:
    good = {"version": "1.0.0", "environment": "production", "percent": "100", "note": "Rounds."}
    answer = ines.post(PROPOSE, {**good, **sent})
    assert answer.status_code == 422
    assert message in text_of(answer)
    assert "Rounds.</textarea>" in text_of(answer)
    assert not Release.objects.exists()


def test_a_second_proposal_of_the_version_is_told_so(ines: Client) -> None:
    sent = {"version": "1.0.0", "environment": "production", "percent": "100"}
    ines.post(PROPOSE, sent)
    answer = ines.post(PROPOSE, sent)
    assert answer.status_code == 409
    assert "is open in Production already" in text_of(answer)
    assert Release.objects.count() == 1


@pytest.mark.parametrize("name", ["ravi", "sven", "mara", "ada"])
def test_only_publishers_of_the_team_propose(client: Client, cast: make.Cast, name: str) -> None:
    make.version(cast=cast)
    client.force_login(getattr(cast, name))
    answer = client.get(PROPOSE)
    assert answer.status_code == 403
    assert "Proposing needs the role publisher in Payments." in text_of(answer)
    sent = {"version": "1.0.0", "environment": "production", "percent": "100"}
    assert client.post(PROPOSE, sent).status_code == 403
    assert not Release.objects.exists()


def test_a_hidden_skill_is_not_there(client: Client, cast: make.Cast) -> None:
    skill = make.version(cast=cast).skill
    skill.visibility = "team"
    skill.save()
    client.force_login(cast.sven)
    for address in (PROPOSE, "/skills/refund-check/releases/"):
        assert client.get(address).status_code == 404


def test_other_methods_are_refused(ines: Client) -> None:
    assert ines.put(PROPOSE).status_code == 405
    assert ines.post("/skills/refund-check/releases/").status_code == 405


def test_the_list_shows_every_release_in_few_queries(
    ines: Client, cast: make.Cast, django_assert_max_num_queries: Any
) -> None:
    assert "No version was ever proposed" in text_of(ines.get("/skills/refund-check/releases/"))
    for number in range(1, 6):
        version = make.version(number=f"1.{number}.0", cast=cast)
        make.release(version, "production", cast=cast, note=f"Change {number}.")
    with django_assert_max_num_queries(12):
        answer = ines.get("/skills/refund-check/releases/")
    text = text_of(answer)
    assert "Change 5." in text
    assert text.count("Superseded") == 4
    part = text_of(ines.get("/skills/refund-check/releases/", headers=HTMX))
    assert "<html" not in part
    assert "Change 1." in part


GOOD = {"version": "1.0.0", "environment": "production", "percent": "", "note": "Rounds."}
PLAN = {
    "steps": "5, 25 %, 50, 100",
    "soak_minutes": "90",
    "max_error_rate": "2.5",
    "max_p95_ms": "900",
    "min_calls": "50",
    "agents": "front-desk, back-office",
    "teams": "support",
    "tags": "shop",
}


@pytest.fixture
def desks(cast: make.Cast) -> None:
    """Two agents, one of them of another team."""
    make.agent(team=cast.payments, tags=["shop", "till"])
    make.agent("back-office", team=cast.support, tags=["hush-hush"])


@pytest.mark.usefixtures("desks")
def test_a_whole_plan_is_kept(ines: Client) -> None:
    answer = ines.post(PROPOSE, {**GOOD, **PLAN})
    assert answer.status_code == 302
    assert Release.objects.get().canary == {
        "percent": 5,
        "steps": [5, 25, 50, 100],
        "soak_minutes": 90,
        "guard": {"max_error_rate": 0.025, "max_p95_ms": 900, "min_calls": 50},
        "agents": ["front-desk", "back-office"],
        "teams": ["support"],
        "tags": ["shop"],
    }
    page = text_of(ines.get(answer["Location"]))
    assert "Then 25 %, 50 %, 100 %; each step lasts 90 minutes." in page
    assert "Always: agents front-desk, back-office; teams support; tags shop." in page
    assert "Guard: errors up to 2.5 %, P95 up to 900 ms, at least 50 calls." in page


@pytest.mark.usefixtures("desks")
def test_named_callers_alone_are_a_plan(ines: Client) -> None:
    ines.post(PROPOSE, {**GOOD, "percent": "0", "agents": "front-desk"})
    assert Release.objects.get().canary == {"percent": 0, "agents": ["front-desk"]}


@pytest.mark.parametrize(
    ("sent", "field", "message"),
    [
        ({"steps": "5, many"}, "steps", "Give whole numbers with commas between them"),
        ({"steps": "25, 5"}, "steps", "Each step is above the one before, from 1 to 100."),
        ({"steps": "0, 5"}, "steps", "Each step is above the one before, from 1 to 100."),
        ({"steps": "5, 101"}, "steps", "Each step is above the one before, from 1 to 100."),
        ({"steps": "5, 25", "percent": "10"}, "percent", "It is not the first of the steps, 5."),
        ({"percent": "0"}, "percent", "greater than or equal to 1"),
        ({"percent": "101"}, "percent", "less than or equal to 100"),
        ({"soak_minutes": "10"}, "soak_minutes", "A step lasts at least 60 minutes in this environment."),
        ({"soak_minutes": "99999999"}, "soak_minutes", "less than or equal to 43200"),
        ({"max_error_rate": "101"}, "max_error_rate", "less than or equal to 100"),
        ({"max_error_rate": "NaN"}, "max_error_rate", "Enter a number."),
        ({"max_p95_ms": "0"}, "max_p95_ms", "greater than or equal to 1"),
        ({"min_calls": "-1"}, "min_calls", "greater than or equal to 1"),
        ({"agents": "front-desk, ghost"}, "agents", "There is no agent ghost."),
        ({"teams": "nobody"}, "teams", "There is no team nobody."),
        ({"tags": "x" * 65}, "tags", "tags is not a list of at most 100 names."),
        ({"tags": ",".join(f"t{n}" for n in range(101))}, "tags", "Name at most 100."),
    ],
)
@pytest.mark.usefixtures("desks")
def test_each_error_stands_beside_its_field_and_nothing_is_lost(
    ines: Client, sent: dict[str, str], field: str, message: str
) -> None:
    Environment.objects.filter(name="production").update(soak_minutes=60)
    typed = {**GOOD, "agents": "front-desk", **sent} if "percent" not in sent else {**GOOD, **sent}
    answer = ines.post(PROPOSE, typed)
    text = text_of(answer)
    assert answer.status_code == 422
    said = text[text.index(f'id="id_{field}"') :]
    assert message in said[said.index(f'id="id_{field}_error"') :][:400]
    for name, value in typed.items():
        assert value in text, name
    assert not Release.objects.exists()


@pytest.mark.usefixtures("desks")
def test_it_offers_who_the_publisher_works_with(ines: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(25):
        text = text_of(ines.get(PROPOSE))
    assert 'data-add="front-desk" data-to="id_agents"' in text
    assert 'data-add="support" data-to="id_teams"' in text
    assert 'data-add="till" data-to="id_tags"' in text
    assert "back-office" not in text
    assert "hush-hush" not in text


def test_the_preview_says_what_changes_and_how_it_is_served(ines: Client, cast: make.Cast) -> None:
    make.release(make.version(number="0.9.0", cast=cast), "production", cast=cast)
    make.version(number="1.1.0", cast=cast, permissions=("network",), risk_level="high")
    asked = {"version": "1.1.0", "environment": "production", "steps": "5, 100", "soak_minutes": "120"}
    text = text_of(ines.get(PROPOSE, asked, headers=HTMX))
    assert "<html" not in text
    assert "2 approvals are needed. Approvers type the skill" in text
    assert "Against 0.9.0, live there" in text
    assert "It gains the permission network." in text
    assert "Its risk rises from low to high." in text
    assert "At first 5 % of the callers get it." in text
    assert "Then 100 %; each step lasts 2 hours." in text
    text = text_of(ines.get(PROPOSE, {**asked, "steps": "5, x"}, headers=HTMX))
    assert "It gains the permission network." in text
    assert "How it is served" not in text
