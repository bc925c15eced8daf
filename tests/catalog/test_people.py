"""Accounts: invited, opened to their person by a link, found by name and state."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.tokens import PasswordResetTokenGenerator

from catalog import people
from catalog.access import NotAllowed, powers_of
from catalog.grants import BadGrant, Wanted
from catalog.models import JournalEntry, Role, User
from catalog.people import AccountTaken, BadAccount, Link, LinkUsed
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db
PASSWORD = "a kettle of seven fish"


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


def invite(cast: make.Cast, **more: object) -> User:
    told = {"username": "wen", "name": "Wen Li", "email": "wen@example.org", **more}
    return people.invite(actor=crew.actor(cast.ada), now=make.NOW, **told)  # type: ignore[arg-type]


def link_of(cast: make.Cast, person: User) -> Link:
    return people.make_link(person=person, actor=crew.actor(cast.ada), now=make.NOW)


def choose(link: Link, password: str = PASSWORD) -> User:
    return people.choose_password(link=link, password=password, origin="127.0.0.1", now=make.NOW)


def test_an_invitation_makes_an_account_with_grants_and_without_a_password(cast: make.Cast) -> None:
    grants = (Wanted(Role.PUBLISHER, cast.payments), Wanted(Role.APPROVER, may_override=True))
    wen = invite(cast, grants=grants)
    assert (str(wen), wen.email, wen.is_active, wen.has_usable_password()) == (
        "Wen Li", "wen@example.org", True, False,
    )  # fmt: skip
    assert powers_of(wen).may_publish(cast.payments)
    assert sorted(wen.grants.values_list("role", "may_override")) == [
        ("approver", True),
        ("publisher", False),
    ]
    assert crew.verbs() == ["user.create", "grant.create", "grant.create"]
    assert JournalEntry.objects.get(n=1).target == "user wen"
    assert "example.org" not in str(list(JournalEntry.objects.values()))


def test_a_grant_that_is_none_makes_no_account_either(cast: make.Cast) -> None:
    with pytest.raises(BadGrant):
        invite(cast, grants=(Wanted(Role.ADMIN, cast.payments),))
    assert not User.objects.filter(username="wen").exists()
    assert crew.verbs() == []


@pytest.mark.parametrize(
    ("told", "field", "message"),
    [
        ({"username": "a b"}, "username", "a b is no user name"),
        ({"username": ""}, "username", "is no user name"),
        ({"username": "Invite"}, "username", "'Invite' is no user name; choose another one."),
        ({"username": ".."}, "username", "'..' is no user name; choose another one."),
        ({"username": "x" * 151}, "username", "is no user name"),
        ({"email": "wen"}, "email", "'wen' is no e-mail address."),
        ({"email": "w@" + "x" * 60 + ".org" * 60}, "email", "e-mail address"),
        ({"name": "x" * 151}, "name", "A name has at most 150 characters"),
        ({"name": "We\u202en"}, "name", "all of them printable"),
    ],
)
def test_what_is_no_account(cast: make.Cast, told: dict[str, str], field: str, message: str) -> None:
    with pytest.raises(BadAccount, match=message.replace("(", r"\(")) as refused:
        invite(cast, **told)
    assert refused.value.field == field


@pytest.mark.parametrize("username", ["ines", "INES"])
def test_a_name_is_given_once(cast: make.Cast, username: str) -> None:
    with pytest.raises(AccountTaken, match=f"There is an account {username} already"):
        invite(cast, username=username)


@pytest.mark.parametrize("name", ["ines", "mara", "lena", "nora"])
def test_only_administrators_invite_and_make_links(cast: make.Cast, name: str) -> None:
    actor = crew.actor(getattr(cast, name))
    with pytest.raises(NotAllowed, match="by administrators"):
        people.invite(username="wen", actor=actor, now=make.NOW)
    with pytest.raises(NotAllowed, match="by administrators"):
        people.make_link(person=cast.nora, actor=actor, now=make.NOW)


def test_a_link_works_once(cast: make.Cast) -> None:
    wen = invite(cast)
    link = link_of(cast, wen)
    assert people.read_link(link) == wen
    assert choose(link).check_password(PASSWORD)
    with pytest.raises(LinkUsed):
        choose(link, "another one of them")
    wen.refresh_from_db()
    assert wen.check_password(PASSWORD)
    assert crew.verbs() == ["user.create", "user.link", "user.password"]
    last = JournalEntry.objects.get(verb="user.password")
    assert (last.actor, last.origin) == ("wen", "127.0.0.1")


def test_a_new_link_ends_the_one_before(cast: make.Cast) -> None:
    wen = invite(cast)
    first, second = link_of(cast, wen), link_of(cast, wen)
    with pytest.raises(LinkUsed):
        people.read_link(first)
    assert people.read_link(second) == wen


def test_a_link_for_who_lost_the_password_leaves_it_until_it_is_used(cast: make.Cast) -> None:
    link = link_of(cast, cast.nora)
    cast.nora.refresh_from_db()
    assert cast.nora.check_password(make.PASSWORD)
    assert choose(link) == cast.nora
    cast.nora.refresh_from_db()
    assert cast.nora.check_password(PASSWORD)


def test_a_link_lives_seven_days(cast: make.Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    wen = invite(cast)
    link, start = link_of(cast, wen), datetime.now()  # noqa: DTZ005  # as Django counts
    for days, good in ((6.9, True), (7.1, False)):
        later = start + timedelta(days=days)
        monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda self, later=later: later)
        if good:
            assert people.read_link(link) == wen
        else:
            with pytest.raises(LinkUsed):
                people.read_link(link)


@pytest.mark.parametrize(
    "uid", ["", "x", "bm90LWEtdXVpZA", "é", "MDE5MzZmMGUtN2MxYS03MDAwLTgwMDAtMDAwMDAwMDAwMDAy", "%00"]
)
def test_what_is_no_link(cast: make.Cast, uid: str) -> None:
    with pytest.raises(LinkUsed, match="was used, or is too old"):
        people.read_link(Link(uid, "abc-def"))
    with pytest.raises(LinkUsed):
        people.read_link(Link(link_of(cast, cast.nora).uid, "abc-def"))


def test_nobody_gets_a_link_to_a_closed_account(cast: make.Cast) -> None:
    link = link_of(cast, cast.nora)
    User.objects.filter(username="nora").update(is_active=False)
    with pytest.raises(LinkUsed):
        people.read_link(link)
    with pytest.raises(BadAccount, match="is closed"):
        link_of(cast, cast.nora)


def test_people_are_found_by_name_and_state(cast: make.Cast) -> None:
    wen = invite(cast)
    User.objects.filter(username="nora").update(is_active=False)
    assert {people.state_of(one) for one in people.people_who(state="active")} == {"active"}
    assert list(people.people_who(state="waiting")) == [wen]
    assert list(people.people_who(state="closed")) == [cast.nora]
    for text in ("wen", "LI", "example.org"):
        assert wen in people.people_who(text=text)
    assert list(people.people_who(text="Lindqvist")) == [cast.mara]
    assert people.people_who().count() == 9
