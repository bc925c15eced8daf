from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.test import RequestFactory
from pytest_django import DjangoAssertNumQueries

from catalog.models import Role, Skill, State, User
from portal import access
from portal.waiting import inbox_of
from tests import make
from tests.make import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    return make.cast()


def ask(user: User | AnonymousUser) -> HttpRequest:
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.7")
    request.user = user
    return request


def test_powers_are_read_once(cast: Cast, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    request = ask(cast.ines)
    with django_assert_num_queries(1):
        assert access.powers(request) is access.powers(request)


def test_actor_tells_who_and_from_where(cast: Cast) -> None:
    actor = access.actor(ask(cast.ines))
    assert (actor.user, actor.origin) == (cast.ines, "192.0.2.7")
    assert access.actor(ask(AnonymousUser())).user is None


def test_near_names_are_those_the_user_sees(cast: Cast) -> None:
    make.version("refund-check", cast=cast)
    make.version("refund-cheque", cast=cast)
    Skill.objects.filter(name="refund-cheque").update(visibility=Skill.Visibility.TEAM)
    with pytest.raises(access.NotFound) as outsider:
        access.skill_read(ask(cast.sven), "refund-chek")
    with pytest.raises(access.NotFound) as colleague:
        access.skill_read(ask(cast.ravi), "refund-chek")
    assert outsider.value.near == ("refund-check",)
    assert set(colleague.value.near) == {"refund-check", "refund-cheque"}


def test_version_is_of_the_skill(cast: Cast) -> None:
    make.version("refund-check", cast=cast)
    make.version("other", "2.0.0", cast=cast)
    assert access.version_read(ask(cast.nora), "refund-check", "1.0.0").skill.name == "refund-check"
    with pytest.raises(access.NotFound):
        access.version_read(ask(cast.nora), "refund-check", "2.0.0")


def test_release_follows_its_skill(cast: Cast) -> None:
    release = make.release(make.version("refund-check", cast=cast), "production", cast=cast)
    assert access.release_read(ask(cast.nora), release.pk) == release
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    with pytest.raises(access.NotFound):
        access.release_read(ask(cast.nora), release.pk)


def test_agent_is_for_its_team(cast: Cast) -> None:
    agent = make.agent(team=cast.payments)
    assert access.agent_read(ask(cast.ines), agent.name) == agent
    assert access.agent_read(ask(cast.ada), agent.name) == agent
    for stranger in (cast.sven, cast.nora, cast.mara):
        with pytest.raises(access.NotFound):
            access.agent_read(ask(stranger), agent.name)


def decides(cast: Cast, name: str) -> list[str]:
    held = access.powers(ask(getattr(cast, name)))
    return [one.release.skill.name for one in inbox_of(held).decide]


def test_what_waits_for_whom(cast: Cast) -> None:
    version = make.version("refund-check", cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    assert decides(cast, "mara") == ["refund-check"]
    assert decides(cast, "ines") == []
    assert decides(cast, "ada") == []
    make.grant(cast.ines, Role.APPROVER)
    assert decides(cast, "ines") == []
    make.grant(cast.sven, Role.APPROVER, environment=make.environment("staging"))
    make.grant(cast.lena, Role.APPROVER, team=cast.payments)
    make.grant(cast.ravi, Role.APPROVER, team=cast.support)
    assert (decides(cast, "sven"), decides(cast, "lena"), decides(cast, "ravi")) == ([], ["refund-check"], [])
    make.approve(release, cast.mara)
    assert decides(cast, "mara") == []
    assert decides(cast, "otto") == ["refund-check"]
