"""Nobody approves what they proposed or published, by whatever path they come."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from catalog.access import NotAllowed
from catalog.models import Approval, Delegation, Release, Role, State, User
from catalog.tokens import USER_SCOPES
from governance import approvals
from tests import cast as crew
from tests import make
from tests.portal.api.callers import Caller, assert_problem

pytestmark = pytest.mark.django_db

Path = Callable[[Release, User], None]


@pytest.fixture
def cast() -> make.Cast:
    """The cast; Nora may do whatever there is, and is a superuser as well."""
    made = make.cast()
    for role in (Role.PUBLISHER, Role.APPROVER, Role.ADMIN):
        make.grant(made.nora, role, may_override=role == Role.APPROVER)
    User.objects.filter(pk=made.nora.pk).update(is_superuser=True, is_staff=True)
    return made


def by_domain(release: Release, user: User) -> None:
    """The function that every path ends in."""
    with pytest.raises(NotAllowed, match=r"^You (proposed|published) this"):
        make.approve(release, user)


def by_portal(release: Release, user: User) -> None:
    """The form of the page."""
    client = Client()
    client.force_login(user)
    sent = {"note": "x", "confirm": release.skill.name, "password": make.PASSWORD}
    assert client.post(f"/releases/{release.pk}/approve/", sent).status_code == 403
    assert (
        client.post(f"/releases/{release.pk}/approve/", sent, headers={"HX-Request": "true"}).status_code
        == 403
    )


def by_api(release: Release, user: User) -> None:
    """A token with every scope."""
    caller = Caller(make.token(user=user, scopes=USER_SCOPES)[1])
    answer = caller.post(f"releases/{release.pk}/approve", {"confirm": release.skill.name})
    assert_problem(answer, 403, "not-allowed")


def by_admin_site(release: Release, user: User) -> None:
    """Django's admin shows rows and writes none, whatever is posted to it."""
    client = Client()
    client.force_login(user)
    row = {"release": release.pk, "user": user.pk, "right_of": user.pk, "state": "approved"}
    for name, args in (
        ("catalog_approval_add", []),
        ("catalog_release_add", []),
        ("catalog_release_change", [release.pk]),
    ):
        assert client.post(reverse(f"admin:{name}", args=args), row).status_code == 403


def by_a_lent_right(release: Release, user: User) -> None:
    """Mara's right, lent to who may not use their own."""
    mara = User.objects.get(username="mara")
    Delegation.objects.create(
        giver=mara,
        taker=user,
        starts_at=make.NOW,
        ends_at=make.NOW + timedelta(days=1),
        created_at=make.NOW,
    )
    by_domain(release, user)


def by_lending_it(release: Release, user: User) -> None:
    """Their own right, in the hands of somebody without any."""
    lena = User.objects.get(username="lena")
    Delegation.objects.create(
        giver=user,
        taker=lena,
        starts_at=make.NOW,
        ends_at=make.NOW + timedelta(days=1),
        created_at=make.NOW,
    )
    with pytest.raises(NotAllowed, match=r"^Who lent you the right proposed this release or published its"):
        make.approve(release, lena)


PATHS: tuple[Path, ...] = (by_domain, by_portal, by_api, by_admin_site, by_a_lent_right, by_lending_it)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("role", ["proposer", "publisher", "both"])
def test_nobody_approves_their_own(cast: make.Cast, path: Path, role: str) -> None:
    publisher = cast.ines if role == "proposer" else cast.nora
    proposer = cast.ines if role == "publisher" else cast.nora
    version = make.version(cast=cast, publisher=publisher)
    release = make.release(version, "production", cast=cast, state=State.PROPOSED, proposer=proposer)
    path(release, cast.nora)
    assert not Approval.objects.exists()
    assert Release.objects.get().state == State.PROPOSED
    assert make.approve(release, cast.mara).state == State.APPROVED


def test_who_withdraws_and_lets_a_colleague_propose_is_still_the_publisher(cast: make.Cast) -> None:
    version = make.version(cast=cast, publisher=cast.nora)
    first = make.release(version, "production", cast=cast, state=State.PROPOSED, proposer=cast.nora)
    approvals.withdraw(release=first, actor=crew.actor(cast.nora), now=make.NOW)
    second = make.release(version, "production", cast=cast, state=State.PROPOSED, proposer=cast.ines)
    by_domain(second, cast.nora)
    assert not Approval.objects.exists()
    second.refresh_from_db()
    assert second.state == State.PROPOSED
