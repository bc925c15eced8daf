"""Proposing a release, and the list of a skill's releases."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from catalog.models import Release, State
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
