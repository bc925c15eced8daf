"""Switching a skill off and on again on its page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from catalog.degradations import degrade
from catalog.models import Degradation, JournalEntry, Release, Role, Skill, User
from tests import cast as crew
from tests import make
from tests.make import Cast
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db
PAGE = "/skills/refund-check/"
OFF, ON = f"{PAGE}switch-off/", f"{PAGE}restore/"
BODY = {"environments": ["production"], "fallback": "", "reason": "Wrong totals."}


@pytest.fixture(autouse=True)
def served(cast: Cast, live: Release) -> None:
    """refund-check is live in production."""


def other(cast: Cast, name: str = "refund-issue") -> Skill:
    version = make.version(name, cast=cast)
    make.release(version, "production", cast=cast)
    return version.skill


def off(cast: Cast, user: User | None = None, **fields: Any) -> None:
    """It is switched off in production."""
    where = [make.environment("production")]
    told = {
        "skill": Skill.objects.get(folder="refund-check"),
        "environments": where,
        "reason": "Wrong totals.",
    }
    degrade(**{**told, **fields}, actor=crew.actor(user or cast.mara), now=make.NOW)


def in_force() -> list[str]:
    return [row.environment.name for row in Degradation.objects.filter(restored_at=None)]


def ticked(answer: HttpResponse) -> set[str]:
    return set(
        re.findall(r'value="(\w+)" [^>]*id="degrade-environments_\d" checked', answer.content.decode())
    )


def test_it_is_switched_off_and_on(ines: Client, cast: Cast) -> None:
    other(cast)
    answer = ines.post(OFF, {**BODY, "fallback": "refund-issue"})
    assert answer["Location"] == PAGE
    assert in_force() == ["production"]
    text = text_of(ines.get(PAGE))
    assert "refund-check is switched off in Production." in text
    assert "Switched off in Production" in text
    assert "Wrong totals." in text
    assert "Ines Okafor" in text
    assert 'Agents are told to use <a href="/skills/refund-issue/">refund-issue</a>' in text
    answer = ines.post(ON, {"environments": ["production"], "reason": ""})
    assert answer["Location"] == PAGE
    assert in_force() == []
    text = text_of(ines.get(PAGE))
    assert "refund-check is switched on again in Production." in text
    assert "Switched off in" not in text
    assert [one.verb for one in JournalEntry.objects.order_by("-n")[:2]] == ["skill.restore", "skill.degrade"]


def test_what_is_wrong_comes_back_with_the_form(ines: Client, cast: Cast) -> None:
    answer = ines.post(OFF, {"environments": [], "fallback": "refund-chek", "reason": " "})
    assert answer.status_code == 422
    text = text_of(answer)
    assert "Tick at least one environment." in text
    assert "There is no skill refund-chek. Did you mean refund-check?" in text
    assert "Give a reason; it is kept in the audit log." in text
    assert 'value="refund-chek"' in text
    answer = ines.post(OFF, {**BODY, "fallback": "refund-check"})
    assert answer.status_code == 422
    assert "cannot stand in for itself" in text_of(answer)
    assert ines.post(OFF, {**BODY, "environments": ["moon"]}).status_code == 422
    assert in_force() == []


def test_htmx_gets_the_form_of_the_dialog_and_is_sent_back_to_the_page(ines: Client, cast: Cast) -> None:
    answer = ines.post(OFF, {**BODY, "reason": ""}, headers=HTMX)
    assert answer.status_code == 422
    html = answer.content.decode()
    assert html.lstrip().startswith("<form")
    assert 'hx-post="/skills/refund-check/switch-off/"' in html
    answer = ines.post(OFF, BODY, headers=HTMX)
    assert (answer.status_code, answer["HX-Redirect"]) == (200, PAGE)
    assert in_force() == ["production"]
    answer = ines.post(ON, {"environments": []}, headers=HTMX)
    assert answer.status_code == 422
    assert answer.content.decode().lstrip().startswith("<form")
    answer = ines.post(ON, {"environments": ["production"]}, headers=HTMX)
    assert (answer.status_code, answer["HX-Redirect"]) == (200, PAGE)
    assert in_force() == []


def test_the_forms_are_pages_too(ines: Client, cast: Cast) -> None:
    other(cast)
    answer = ines.get(OFF)
    assert answer.status_code == 200
    assert ticked(answer) == {"production"}
    assert '<option value="refund-issue">' in answer.content.decode()
    off(cast)
    assert "Where it is off already" in text_of(ines.get(OFF))
    assert ticked(ines.get(OFF)) == set()
    assert "Switch refund-check on again?" in text_of(ines.get(ON))


def test_names_are_suggested_when_they_are_asked_for(ines: Client, cast: Cast) -> None:
    other(cast, "refund-a")
    other(cast, "refund-b")
    make.version("refund-c", cast=cast)
    answer = ines.get(f"{OFF}?suggest=1", headers=HTMX)
    names = re.findall(r'value="([\w-]+)"', answer.content.decode())
    assert names == ["refund-a", "refund-b"]
    skill = Skill.objects.get(folder="refund-check")
    assert skill.latest
    skill.latest.fields["alternatives"] = ["refund.b"]
    skill.latest.save()
    Skill.objects.filter(folder="refund-a").update(visibility="team", team=cast.support, owner=None)
    answer = ines.get(f"{OFF}?suggest=1", headers=HTMX)
    assert re.findall(r'value="([\w-]+)"', answer.content.decode()) == ["refund-b"]
    degrade(skill=other(cast, "refund-d"), reason="x", actor=crew.actor(cast.mara), now=make.NOW)
    assert "refund-d" not in ines.get(f"{OFF}?suggest=1", headers=HTMX).content.decode()


def test_the_page_offers_what_the_user_may(cast: Cast) -> None:
    def offered(name: str) -> set[str]:
        html = signed_in(getattr(cast, name)).get(PAGE).content.decode()
        return {one for one in ("degrade", "restore") if f'popovertarget="dialog-{one}"' in html}

    assert offered("ines") == offered("mara") == {"degrade"}
    for name in ("sven", "lena", "ravi", "ada", "nora"):
        assert offered(name) == set()
    off(cast)
    assert offered("ines") == offered("mara") == {"degrade", "restore"}
    assert offered("nora") == set()
    assert "Wrong totals." in text_of(signed_in(cast.nora).get(PAGE))


def test_an_approver_of_one_environment_ticks_that_one(cast: Cast) -> None:
    make.grant(cast.nora, Role.APPROVER, environment=make.environment("staging"))
    nora = signed_in(cast.nora)
    html = nora.get(OFF).content.decode()
    assert re.findall(r'value="(\w+)" [^>]*id="degrade-env', html) == ["staging"]
    assert nora.post(OFF, BODY).status_code == 422
    assert nora.post(OFF, {**BODY, "environments": ["staging"]}).status_code == 302
    off(cast)
    assert nora.post(ON, {"environments": ["production"]}).status_code == 422
    assert sorted(in_force()) == ["production", "staging"]


@pytest.mark.parametrize("address", [OFF, ON])
def test_who_may_not(client: Client, cast: Cast, address: str) -> None:
    off(cast)
    for name in ("sven", "lena", "ravi", "ada", "nora"):
        user = signed_in(getattr(cast, name))
        assert user.get(address).status_code == 403, name
        assert user.post(address, BODY).status_code == 403, name
    assert client.post(address, BODY).status_code == 302
    assert signed_in(cast.ines).put(address).status_code == 405
    assert signed_in(cast.ines).get(address.replace("check", "chek")).status_code == 404
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert signed_in(cast.sven).get(address).status_code == 404
    assert in_force() == ["production"]


def test_somebody_else_has_restored_it(ines: Client, cast: Cast) -> None:
    answer = ines.post(ON, {"environments": ["production"]})
    assert answer.status_code == 409
    assert "refund-check is not switched off in Production." in text_of(answer)
    assert ines.get(ON).status_code == 403


def test_it_is_marked_wherever_it_is_shown(cast: Cast, live: Release) -> None:
    off(cast)
    nora = signed_in(cast.nora)
    for address in ("/", PAGE):
        assert "switched off" in text_of(nora.get(address)), address
    for address in (f"{PAGE}releases/", f"/releases/{live.pk}/"):
        assert "Switched off: Wrong totals." in text_of(nora.get(address)), address


def test_one_word_for_all_environments_is_one_callout(ines: Client, cast: Cast) -> None:
    off(cast, environments=None)
    text = text_of(ines.get(PAGE))
    assert text.count("Switched off in ") == 1
    assert "Switched off in Development, Staging, Production" in text
    off(cast, environments=None, fallback=other(cast))
    text = text_of(ines.get(PAGE))
    assert "Switched off in Development, Staging, Production" in text
    assert "Agents are told to use" in text
    assert "not live here" not in text
    off(cast, environments=None)
    off(cast, reason="Wrong dates.")
    text = text_of(ines.get(PAGE))
    assert text.count("Switched off in ") == 2
    assert text.count('popovertarget="dialog-restore">') == 1


def test_a_lost_fallback_is_told(ines: Client, cast: Cast) -> None:
    stand_in = other(cast)
    off(cast, fallback=stand_in)
    degrade(skill=stand_in, reason="x", actor=crew.actor(cast.mara), now=make.NOW)
    assert "Its fallback refund-issue is switched off too." in text_of(ines.get(PAGE))


def test_what_the_policy_no_longer_allows_is_told(cast: Cast) -> None:
    version = make.version("refund-mail", cast=cast, permissions=("network",), risk_level="medium")
    where = make.environment("production")
    where.permissions = ["network"]
    where.save()
    release = make.release(version, "production", cast=cast)
    where.permissions, where.highest_risk = [], "low"
    where.save()
    nora = signed_in(cast.nora)
    told = "Not allowed here: network. The risk is medium; up to low is allowed here."
    for address in ("/", "/skills/refund-mail/", "/skills/refund-mail/releases/", f"/releases/{release.pk}/"):
        assert told in text_of(nora.get(address)), address
