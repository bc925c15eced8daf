"""Replacing a token: the new secret is shown once, the old one works for a while."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from catalog.models import Agent, Token
from catalog.tokens import digest_of
from tests import make
from tests.portal.answers import HTMX, secret_in, text_of

pytestmark = pytest.mark.django_db

SENT = {"overlap_hours": "24", "days": "30"}


@pytest.mark.parametrize("htmx", [False, True])
def test_the_new_secret_is_shown_once(ines: Client, desk: Agent, htmx: bool) -> None:
    old, _ = make.token(agent=desk)
    address, headers = f"/tokens/{old.pk}/rotate/", HTMX if htmx else {}
    form = ines.get(address, headers=headers)
    assert ("<!doctype html>" in text_of(form)) is not htmx
    assert 'name="days" value="90"' in text_of(form)
    assert "no-store" in form["Cache-Control"]
    answer = ines.post(address, SENT, headers=headers)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    assert ("token-changed" in answer.get("HX-Trigger", "")) is htmx
    new = Token.objects.get(sha256=digest_of(secret_in(text_of(answer))))
    old.refresh_from_db()
    assert old.replaced_by == new
    assert timedelta(hours=23) < old.expires_at - timezone.now() <= timedelta(hours=24)
    page = text_of(ines.get("/agents/front-desk/"))
    assert "Replaced, ends in 24 h" in page
    assert f"{new.prefix}…" in page
    assert page.count(f'href="/tokens/{old.pk}/rotate/"') == 0
    assert page.count(f'href="/tokens/{new.pk}/rotate/"') == 1


def test_ones_own_token(ines: Client, cast: make.Cast) -> None:
    own, _ = make.token(user=cast.ines)
    answer = ines.post(f"/tokens/{own.pk}/rotate/", SENT)
    new = Token.objects.get(sha256=digest_of(secret_in(text_of(answer))))
    assert (new.user, new.scopes) == (cast.ines, ["read"])
    assert "Replaced, ends in" in text_of(ines.get("/tokens/"))


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"overlap_hours": "169"}, "less than or equal to 168"),
        ({"overlap_hours": "-1"}, "greater than or equal to 0"),
        ({"overlap_hours": ""}, "0 ends the old one at once"),
        ({"days": "366"}, "less than or equal to 365"),
        ({"days": ""}, "every token has an end"),
    ],
)
@pytest.mark.parametrize("htmx", [False, True])
def test_bad_input(ines: Client, desk: Agent, sent: dict[str, str], message: str, htmx: bool) -> None:
    old, _ = make.token(agent=desk)
    answer = ines.post(f"/tokens/{old.pk}/rotate/", {**SENT, **sent}, headers=HTMX if htmx else {})
    assert answer.status_code == 422
    assert message in text_of(answer)
    assert answer.get("HX-Retarget") == ("#rotate-token" if htmx else None)
    assert Token.objects.count() == 1


@pytest.mark.parametrize("state", ["revoked", "expired", "replaced already"])
@pytest.mark.parametrize("htmx", [False, True])
def test_what_is_ended_is_not_replaced(ines: Client, desk: Agent, state: str, htmx: bool) -> None:
    old, _ = make.token(agent=desk)
    row, now = Token.objects.filter(pk=old.pk), timezone.now()
    if state == "revoked":
        row.update(revoked_at=now)
    elif state == "expired":
        row.update(expires_at=now)
    else:
        row.update(replaced_by=make.token(agent=desk)[0])
    count = Token.objects.count()
    for answer in (
        ines.get(f"/tokens/{old.pk}/rotate/", headers=HTMX if htmx else {}),
        ines.post(f"/tokens/{old.pk}/rotate/", SENT, headers=HTMX if htmx else {}),
    ):
        assert answer.status_code == 409
        assert f"is {state}; issue a new one." in text_of(answer)
        assert answer.get("HX-Retarget") == ("#rotate-token" if htmx else None)
    assert Token.objects.count() == count


def test_tokens_of_others(ines: Client, cast: make.Cast, desk: Agent) -> None:
    of_mara, _ = make.token(user=cast.mara)
    of_desk, _ = make.token(agent=desk)
    for who, token, status in (
        (cast.ines, of_mara, 404),
        (cast.ada, of_mara, 404),
        (cast.sven, of_desk, 404),
        (cast.ravi, of_desk, 404),
    ):
        ines.force_login(who)
        assert ines.get(f"/tokens/{token.pk}/rotate/").status_code == status
        assert ines.post(f"/tokens/{token.pk}/rotate/", SENT).status_code == status
    assert ines.get(f"/tokens/{uuid4()}/rotate/").status_code == 404
    assert ines.put(f"/tokens/{of_desk.pk}/rotate/").status_code == 405
    make.grant(cast.nora, "publisher", team=cast.payments, environment=make.environment("staging"))
    ines.force_login(cast.nora)
    assert ines.get(f"/tokens/{of_desk.pk}/rotate/").status_code == 403
    assert ines.post(f"/tokens/{of_desk.pk}/rotate/", SENT).status_code == 403
    assert Token.objects.count() == 2
