"""Overriding a gate on the page of a release, and what stays of it."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import Client

from catalog.models import Override, Release, State, User
from tests import make
from tests.portal.answers import HTMX, text_of

pytestmark = pytest.mark.django_db

DETAIL = "The version is experimental; stable is asked for here."


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def keeper(cast: make.Cast) -> User:
    """Vera, approver with the right to override."""
    vera = make.user("vera", first_name="Vera")
    make.grant(vera, "approver", may_override=True)
    return vera


@pytest.fixture
def shut(cast: make.Cast) -> Release:
    """An approved release with a shut gate."""
    version = make.version(cast=cast, stability="experimental")
    return make.release(version, "production", cast=cast, state=State.APPROVED)


def override(client: Client, user: User, release: Release, htmx: bool = True, **data: str) -> HttpResponse:
    """What the user's override answers."""
    client.force_login(user)
    headers = HTMX if htmx else {}
    return client.post(f"/releases/{release.pk}/override/", data, headers=headers)  # type: ignore[return-value]


def page(client: Client, user: User, release: Release) -> str:
    """The release as the user sees it."""
    client.force_login(user)
    return text_of(client.get(f"/releases/{release.pk}/"))


def test_it_opens_the_gate_and_says_by_whom_and_why(
    client: Client, cast: make.Cast, keeper: User, shut: Release
) -> None:
    assert 'id="dialog-override-stability"' in page(client, keeper, shut)
    answer = override(client, keeper, shut, gate="stability", reason="Tried for a month.")
    assert answer.status_code == 200
    text = text_of(answer)
    assert "Overridden by Vera" in text
    assert "Tried for a month." in text
    assert 'id="dialog-override-stability"' not in text
    assert "all open, 1 by an override" in text
    assert "The gate Stability of refund-check 1.0.0 is overridden in Production." in text
    assert client.post(f"/releases/{shut.pk}/start/", {"percent": "100"}).status_code == 302
    make.release(make.version(number="1.1.0", cast=cast), "production", cast=cast)
    text = page(client, cast.ravi, shut)
    assert Release.objects.get(pk=shut.pk).state == State.SUPERSEDED
    assert "Gates that were overridden" in text
    assert "Tried for a month." in text
    assert f"It was for: {DETAIL}" in text


def test_it_counts_no_longer_when_the_policy_changes_and_stays_in_sight(
    client: Client, cast: make.Cast, keeper: User, shut: Release
) -> None:
    override(client, keeper, shut, gate="stability", reason="Tried for a month.")
    production = make.environment("production")
    production.approvals_high = 3
    production.save()
    text = page(client, keeper, shut)
    assert "It counts no longer: what it was for has changed." in text
    assert "Overridden by Vera" in text
    assert "1 is shut" in text
    assert 'id="dialog-override-stability"' in text


@pytest.mark.parametrize("htmx", [True, False])
def test_a_reason_is_asked_for_in_the_dialog_of_that_gate(
    client: Client, cast: make.Cast, keeper: User, shut: Release, htmx: bool
) -> None:
    answer = override(client, keeper, shut, htmx, gate="stability", reason=" ")
    assert answer.status_code == 422
    assert "Give a reason; it is kept with the release." in text_of(answer)
    assert answer.get("HX-Retarget") == ("#form-override-stability" if htmx else None)
    assert '<input type="hidden" name="gate" value="stability">' in text_of(answer)
    assert not Override.objects.exists()


@pytest.mark.parametrize("gate", ["", "risk", "evaluation", "moon"])
def test_a_gate_that_nobody_answers_for_is_refused(
    client: Client, cast: make.Cast, keeper: User, shut: Release, gate: str
) -> None:
    answer = override(client, keeper, shut, gate=gate, reason="x")
    assert answer.status_code == 422
    assert answer["HX-Retarget"] == "#release"
    assert "Nothing was changed" in text_of(answer)
    assert not Override.objects.exists()


def test_a_second_click_changes_nothing(client: Client, cast: make.Cast, keeper: User, shut: Release) -> None:
    override(client, keeper, shut, gate="stability", reason="Tried.")
    answer = override(client, keeper, shut, gate="stability", reason="Tried.")
    assert answer.status_code == 422
    assert "The gate stability is open; there is nothing to override." in text_of(answer)
    assert Override.objects.count() == 1


def test_four_eyes_hold_and_the_page_says_so(
    client: Client, cast: make.Cast, keeper: User, shut: Release
) -> None:
    Release.objects.filter(pk=shut.pk).update(proposer=keeper)
    text = page(client, keeper, shut)
    assert "another approver with that right overrides." in text
    assert 'id="dialog-override-stability"' not in text
    assert override(client, keeper, shut, gate="stability", reason="x").status_code == 403


@pytest.mark.parametrize("name", ["ines", "mara", "ravi", "ada", "nora", "sven"])
def test_others_see_who_holds_the_right(
    client: Client, cast: make.Cast, keeper: User, shut: Release, name: str
) -> None:
    user = getattr(cast, name)
    text = page(client, user, shut)
    assert "dialog-override" not in text
    assert "Can override a gate or break the glass: Vera." in text
    assert override(client, user, shut, gate="stability", reason="x").status_code == 403
    assert not Override.objects.exists()


def test_where_nobody_holds_it_an_administrator_helps(client: Client, cast: make.Cast, shut: Release) -> None:
    text = page(client, cast.mara, shut)
    assert "Nobody has the right to override a gate or to break the glass here" in text
