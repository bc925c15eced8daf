"""The second confirmation: the skill's name, and the password again unless it was just entered."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalog.models import Release, State, User
from portal import confirming, tries
from tests import make
from tests.portal.answers import HTMX, text_of

pytestmark = pytest.mark.django_db

WRONG = "Enter the password of your account; this one is missing or wrong."
RIGHT = {"confirm": "refund-check", "password": make.PASSWORD}


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def risky(cast: make.Cast) -> Release:
    """A high-risk version that Ines proposes for production."""
    return make.release(
        make.version(cast=cast, risk_level="high"), "production", cast=cast, state=State.PROPOSED
    )


def again(cast: make.Cast, name: str) -> Release:
    """Another such release."""
    version = make.version(name, cast=cast, risk_level="high")
    return make.release(version, "production", cast=cast, state=State.PROPOSED)


def approve(client: Client, release: Release, **data: str) -> HttpResponse:
    """What an approval of who is signed in answers."""
    return client.post(f"/releases/{release.pk}/approve/", data, headers=HTMX)  # type: ignore[return-value]


def held(release: Release) -> int:
    """The approvals that it has."""
    return release.approvals.count()


def pass_time(monkeypatch: pytest.MonkeyPatch, **span: int) -> None:
    """Let the clock of the pages go on."""
    now = timezone.now() + timedelta(**span)
    monkeypatch.setattr("portal.views.releases.timezone.now", lambda: now)


@pytest.mark.parametrize("password", ["", "the red door is open", f" {make.PASSWORD}", "\N{SNOWMAN}" * 2000])
def test_a_wrong_password_is_refused_and_never_shown(
    client: Client, cast: make.Cast, risky: Release, password: str
) -> None:
    client.force_login(cast.mara)
    answer = approve(client, risky, confirm="refund-check", password=password, note="Read.")
    assert answer.status_code == 422
    assert answer["HX-Retarget"] == "#form-approve"
    assert WRONG in text_of(answer)
    assert "Read.</textarea>" in text_of(answer)
    assert not password or password.strip() not in text_of(answer)
    assert held(risky) == 0
    assert confirming.ENTERED not in client.session


def test_the_right_one_counts_for_ten_minutes(
    client: Client, cast: make.Cast, risky: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(cast.mara)
    page = text_of(client.get(f"/releases/{risky.pk}/"))
    assert "Your password" in page
    assert approve(client, risky, **RIGHT).status_code == 200
    second, third = again(cast, "order-find"), again(cast, "order-lookup")
    pass_time(monkeypatch, minutes=9, seconds=50)
    page = text_of(client.get(f"/releases/{second.pk}/"))
    assert "it is not asked for again" in page
    assert 'name="password"' not in page
    assert approve(client, second, confirm="order-find").status_code == 200
    pass_time(monkeypatch, minutes=10, seconds=1)
    assert 'name="password"' in text_of(client.get(f"/releases/{third.pk}/"))
    assert WRONG in text_of(approve(client, third, confirm="order-lookup"))
    assert [held(one) for one in (risky, second, third)] == [1, 1, 0]


def test_a_clock_that_went_back_counts_for_nothing(
    client: Client, cast: make.Cast, risky: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(cast.mara)
    approve(client, risky, **RIGHT)
    pass_time(monkeypatch, minutes=-5)
    assert WRONG in text_of(approve(client, again(cast, "order-find"), confirm="order-find"))


def test_the_name_is_asked_for_before_the_password_is_tried(
    client: Client, cast: make.Cast, risky: Release
) -> None:
    client.force_login(cast.mara)
    answer = approve(client, risky, confirm="refund", password=make.PASSWORD)
    assert "Type refund-check to confirm a high-risk release to Production." in text_of(answer)
    assert confirming.ENTERED not in client.session
    assert approve(client, risky, confirm="refund-check").status_code == 422


def test_another_session_enters_its_own(client: Client, cast: make.Cast, risky: Release) -> None:
    client.force_login(cast.mara)
    approve(client, risky, **RIGHT)
    entered = client.session[confirming.ENTERED]
    other = Client()
    other.force_login(cast.otto)
    session = other.session
    session[confirming.ENTERED] = entered  # Mara's, put into Otto's session
    session.save()
    assert WRONG in text_of(approve(other, risky, confirm="refund-check"))
    client.force_login(cast.otto)  # in the browser that Mara used
    assert WRONG in text_of(approve(client, risky, confirm="refund-check"))
    assert held(risky) == 1
    assert approve(client, risky, **RIGHT).status_code == 200


def test_wrong_tries_are_bounded_and_the_right_one_waits_then(
    client: Client, cast: make.Cast, risky: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(cast.mara)
    for n in range(tries.MOST):
        answer = approve(client, risky, confirm="refund-check", password=f"guess {n}")
        assert (answer.status_code, WRONG in text_of(answer)) == (422, True)
    answer = approve(client, risky, **RIGHT)
    assert answer.status_code == 429
    assert answer["HX-Retarget"] == "#form-approve"
    assert "Too many tries. Wait five minutes, then enter your password again." in text_of(answer)
    assert held(risky) == 0
    other = Client(REMOTE_ADDR="203.0.113.9")  # another address is the same account
    other.force_login(cast.mara)
    assert approve(other, risky, **RIGHT).status_code == 429
    pass_time(monkeypatch, minutes=5, seconds=1)
    assert approve(client, risky, **RIGHT).status_code == 200
    pass_time(monkeypatch, minutes=20)
    answer = approve(client, again(cast, "order-find"), confirm="order-find", password="one more guess")
    assert answer.status_code == 422


def test_no_password_is_looked_at_while_tries_cannot_be_counted(
    client: Client, cast: make.Cast, risky: Release, settings: Settings
) -> None:
    client.force_login(cast.mara)
    settings.REDIS_URL, settings.COUNTERS_DIR = "", "/dev/null"
    answer = approve(client, risky, **RIGHT)
    assert answer.status_code == 503
    assert "Your password cannot be checked now" in text_of(answer)
    assert held(risky) == 0
    assert confirming.ENTERED not in client.session


def test_an_account_without_a_password_is_told_who_helps(
    client: Client, cast: make.Cast, risky: Release
) -> None:
    cast.mara.set_unusable_password()
    cast.mara.save()
    client.force_login(cast.mara)
    page = text_of(client.get(f"/releases/{risky.pk}/"))
    assert "your account has none here. An administrator helps you to one" in page
    assert 'id="dialog-approve"' not in page
    answer = approve(client, risky, **RIGHT)
    assert answer.status_code == 403
    assert "your account has none here" in text_of(answer)
    assert held(risky) == 0


def test_low_risk_asks_for_neither(client: Client, cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    cast.mara.set_unusable_password()
    cast.mara.save()
    client.force_login(cast.mara)
    assert 'name="password"' not in text_of(client.get(f"/releases/{release.pk}/"))
    assert approve(client, release).status_code == 200


def test_who_may_not_approve_is_told_that_and_no_password_is_tried(
    client: Client, cast: make.Cast, risky: Release
) -> None:
    for user in (cast.ravi, cast.ines):
        client.force_login(user)
        answer = approve(client, risky, confirm="refund-check", password="guess")
        assert answer.status_code == 403
        assert WRONG not in text_of(answer)


@pytest.fixture
def keeper(cast: make.Cast) -> User:
    """Vera, approver with the right to break the glass."""
    vera = make.user("vera", first_name="Vera")
    make.grant(vera, "approver", may_override=True)
    return vera


def glass(client: Client, release: Release, **data: str) -> HttpResponse:
    """What breaking the glass answers."""
    return client.post(f"/releases/{release.pk}/break_glass/", data, headers=HTMX)  # type: ignore[return-value]


def test_breaking_the_glass_asks_for_all_of_it(
    client: Client, cast: make.Cast, keeper: User, clock: datetime
) -> None:
    version = make.version(cast=cast, stability="experimental")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    client.force_login(keeper)
    assert "Type refund-check to break the glass in Production." in text_of(glass(client, release))
    answer = glass(client, release, **RIGHT)
    assert answer.status_code == 422
    assert "Give a reason; it is kept with the release." in text_of(answer)
    assert WRONG in text_of(glass(client, release, confirm="refund-check", reason="Tills are down."))
    answer = glass(client, release, reason="Tills are down.", **RIGHT)
    assert answer.status_code == 200
    release.refresh_from_db()
    assert (release.state, release.percent) == (State.LIVE, 100)
    page = text_of(client.get(f"/releases/{release.pk}/"))
    assert "Vera broke the glass" in page
    assert "It went live with 0 approvals, past these gates: Stability." in page
    assert page.count("Tills are down.") >= 2
    make.release(make.version(number="1.1.0", cast=cast), "production", cast=cast)
    release.refresh_from_db()
    assert release.state == State.SUPERSEDED
    assert "Vera broke the glass" in text_of(client.get(f"/releases/{release.pk}/"))


@pytest.fixture
def clock() -> datetime:
    """Now."""
    return timezone.now()


def test_only_who_holds_the_right_is_shown_it(
    client: Client, cast: make.Cast, keeper: User, risky: Release
) -> None:
    client.force_login(cast.mara)
    page = text_of(client.get(f"/releases/{risky.pk}/"))
    assert "Break the glass" not in page
    assert "Can override a gate or break the glass: Vera." in page
    answer = glass(client, risky, reason="x", **RIGHT)
    assert answer.status_code == 403
    assert "Breaking the glass needs an approver for Production with that right." in text_of(answer)
    client.force_login(keeper)
    assert 'id="dialog-break_glass"' in text_of(client.get(f"/releases/{risky.pk}/"))


def test_what_the_policy_forbids_no_glass_opens(client: Client, cast: make.Cast, keeper: User) -> None:
    version = make.version(cast=cast, permissions=("subprocess",))
    production = make.environment("production")
    production.permissions = []
    production.save()
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    client.force_login(keeper)
    page = text_of(client.get(f"/releases/{release.pk}/"))
    assert 'id="dialog-break_glass"' not in page
    assert "Not allowed here: subprocess." in page
    assert "Nobody overrides it: an administrator changes the policy of the environment." in page
    assert glass(client, release, reason="x", **RIGHT).status_code in {403, 409}
    release.refresh_from_db()
    assert release.state == State.PROPOSED


def test_a_glass_that_nothing_is_behind_asks_for_all_of_it_too(
    client: Client, cast: make.Cast, keeper: User
) -> None:
    version = make.version(cast=cast)
    release = make.release(version, "production", cast=cast, state=State.CANARY, percent=5)
    client.force_login(keeper)
    assert glass(client, release, reason="Faster.").status_code == 409
    assert glass(client, release, reason="Faster.", confirm="refund-check").status_code == 409
    release.refresh_from_db()
    assert (release.state, release.percent) == (State.CANARY, 5)


def test_a_right_that_is_left_is_used_with_the_password_alone(
    client: Client, cast: make.Cast, risky: Release
) -> None:
    now = timezone.now()
    make.delegation(cast.mara, cast.nora, starts_at=now)
    make.delegation(cast.otto, cast.mara, starts_at=now)
    make.approve(risky, cast.nora, now=now)
    client.force_login(cast.mara)
    answer = approve(client, risky, confirm="refund-check")
    assert (answer.status_code, WRONG in text_of(answer)) == (422, True)
    assert held(risky) == 1
    assert approve(client, risky, **RIGHT).status_code == 200
    rights = risky.approvals.order_by("created_at").values_list("user__username", "right_of__username")
    assert list(rights) == [("nora", "mara"), ("mara", "otto")]


@pytest.mark.parametrize(
    ("lends", "first", "second", "told"),
    [
        (
            "mara",
            "nora",
            "mara",
            "Nora Quist has approved it with your right; another approver has to as well.",
        ),
        (
            "mara",
            "mara",
            "nora",
            "The right that Mara Lindqvist lent you was used for it; another approver has to as well.",
        ),
    ],
)
def test_a_right_that_was_used_is_refused_before_a_password_is_tried(
    client: Client, cast: make.Cast, risky: Release, lends: str, first: str, second: str, told: str
) -> None:
    now = timezone.now()
    make.delegation(getattr(cast, lends), cast.nora, starts_at=now)
    make.approve(risky, getattr(cast, first), now=now)
    client.force_login(getattr(cast, second))
    answer = approve(client, risky, **RIGHT)
    assert answer.status_code == 409
    assert told in text_of(answer)
    assert confirming.ENTERED not in client.session
    assert held(risky) == 1
