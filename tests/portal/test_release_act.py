"""Deciding on a release: four eyes, reasons, confirmations, lost races."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from catalog.journal import Actor
from catalog.models import Release, State, User
from governance import approvals
from portal.decisions import ACTIONS
from tests import make
from tests.portal.answers import HTMX, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def proposed(cast: make.Cast) -> Release:
    """A low-risk version that Ines proposes for production."""
    return make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)


def post(
    client: Client, user: User, release: Release, action: str, htmx: bool = False, **data: str
) -> HttpResponse:
    """What the user's click answers."""
    client.force_login(user)
    return client.post(f"/releases/{release.pk}/{action}/", data, headers=HTMX if htmx else {})  # type: ignore[return-value]


def state_of(release: Release) -> str:
    """The state in the database."""
    return Release.objects.get(pk=release.pk).state


def test_an_approver_approves_and_starts(client: Client, cast: make.Cast, proposed: Release) -> None:
    answer = post(client, cast.mara, proposed, "approve", note="Rules read.")
    assert answer.status_code == 302
    assert answer["Location"] == f"/releases/{proposed.pk}/"
    assert state_of(proposed) == State.APPROVED
    assert post(client, cast.mara, proposed, "start").status_code == 302
    assert state_of(proposed) == State.LIVE
    page = text_of(client.get(f"/releases/{proposed.pk}/"))
    assert "Rules read." in page
    assert "refund-check 1.0.0 is live in Production." in page


def test_htmx_gets_the_release_as_it_is_now(client: Client, cast: make.Cast, proposed: Release) -> None:
    answer = post(client, cast.mara, proposed, "approve", htmx=True)
    assert answer.status_code == 200
    assert answer["HX-Retarget"] == "#release"
    assert "release-changed" in answer["HX-Trigger"]
    assert "<html" not in text_of(answer)
    assert "Start 1.0.0 in Production" in text_of(answer)
    assert 'hx-swap-oob="beforeend:#toasts"' in text_of(answer)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_get_changes_nothing(client: Client, cast: make.Cast, proposed: Release, action: str) -> None:
    client.force_login(cast.mara)
    assert client.get(f"/releases/{proposed.pk}/{action}/").status_code == 405


def test_an_unknown_action_is_not_there(client: Client, cast: make.Cast, proposed: Release) -> None:
    assert post(client, cast.mara, proposed, "expire").status_code == 404
    assert post(client, cast.mara, proposed, "explode").status_code == 404


@pytest.mark.parametrize("action", ["reject"])
@pytest.mark.parametrize("htmx", [False, True])
def test_a_reason_is_asked_for(
    client: Client, cast: make.Cast, proposed: Release, action: str, htmx: bool
) -> None:
    answer = post(client, cast.mara, proposed, action, htmx, reason="  ")
    assert answer.status_code == 422
    assert "Give a reason; it is kept with the release." in text_of(answer)
    assert ("<html" in text_of(answer)) is not htmx
    assert answer.get("HX-Retarget") == ("#form-reject" if htmx else None)
    assert state_of(proposed) == State.PROPOSED
    post(client, cast.mara, proposed, action, reason="The totals are wrong.")
    assert state_of(proposed) == State.REJECTED


def test_neither_proposer_nor_publisher_decides(client: Client, cast: make.Cast, proposed: Release) -> None:
    make.grant(cast.ines, "approver")
    answer = post(client, cast.ines, proposed, "approve")
    assert answer.status_code == 403
    assert "You proposed this release; another approver decides." in text_of(answer)
    Release.objects.filter(pk=proposed.pk).update(proposer=cast.sven)
    answer = post(client, cast.ines, proposed, "reject", reason="x")
    assert answer.status_code == 403
    assert "You published this version; another approver decides." in text_of(answer)
    assert state_of(proposed) == State.PROPOSED


@pytest.mark.parametrize("name", ["ravi", "sven", "lena", "ada", "nora"])
def test_others_see_it_and_decide_nothing(
    client: Client, cast: make.Cast, proposed: Release, name: str
) -> None:
    user = getattr(cast, name)
    for action in ("approve", "withdraw"):
        assert post(client, user, proposed, action).status_code == 403
    assert post(client, user, proposed, "reject", htmx=True, reason="x").status_code == 403
    page = text_of(client.get(f"/releases/{proposed.pk}/"))
    assert "Deciding needs the role approver for Production." in page
    assert "<dialog" not in page
    assert state_of(proposed) == State.PROPOSED


def test_a_release_of_a_hidden_skill_is_not_there(client: Client, cast: make.Cast, proposed: Release) -> None:
    proposed.skill.visibility = "team"
    proposed.skill.save()
    answer = post(client, cast.sven, proposed, "approve")
    assert answer.status_code == 404
    assert "refund-check" not in text_of(answer)
    assert client.get(f"/releases/{proposed.pk}/").status_code == 404
    assert client.post(f"/releases/{uuid4()}/approve/").status_code == 404


def test_a_second_click_is_told_so(client: Client, cast: make.Cast, proposed: Release) -> None:
    post(client, cast.mara, proposed, "approve")
    answer = post(client, cast.otto, proposed, "approve", htmx=True)
    assert answer.status_code == 409
    assert answer["HX-Retarget"] == "#release"
    assert "This release is approved already; start it." in text_of(answer)
    assert "Nothing was changed" in text_of(answer)
    answer = post(client, cast.otto, proposed, "reject")
    assert answer.status_code == 422
    answer = post(client, cast.otto, proposed, "halt", reason="x")
    assert answer.status_code == 409


def test_high_risk_in_production_takes_two_the_name_and_the_password(client: Client, cast: make.Cast) -> None:
    version = make.version(cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    answer = post(client, cast.mara, release, "approve", htmx=True, note="Read twice.", confirm="refund")
    assert answer.status_code == 422
    assert "Type refund-check to confirm a high-risk release to Production." in text_of(answer)
    assert "Read twice.</textarea>" in text_of(answer)
    right = {"confirm": "refund-check", "password": make.PASSWORD}
    assert post(client, cast.mara, release, "approve", confirm="refund-check").status_code == 422
    assert post(client, cast.mara, release, "approve", **right).status_code == 302
    assert state_of(release) == State.PROPOSED
    page = text_of(client.get(f"/releases/{release.pk}/"))
    assert "You have approved it; another approver has to as well." in page
    assert "Confirmed a second time." in page
    assert post(client, cast.mara, release, "approve", **right).status_code == 409
    assert post(client, cast.otto, release, "approve", **right).status_code == 302
    assert state_of(release) == State.APPROVED


def test_a_canary_is_moved_and_halted(client: Client, cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.CANARY, percent=10)
    assert post(client, cast.mara, release, "advance").status_code == 422
    assert post(client, cast.mara, release, "advance", percent="101").status_code == 422
    assert post(client, cast.mara, release, "advance", percent="50").status_code == 302
    assert Release.objects.get(pk=release.pk).percent == 50
    assert post(client, cast.mara, release, "halt").status_code == 422
    assert post(client, cast.ines, release, "halt", reason="Errors.").status_code == 302
    assert state_of(release) == State.HALTED


def test_rolling_back_restores_the_version_before(client: Client, cast: make.Cast) -> None:
    first = make.release(make.version(cast=cast), "production", cast=cast)
    second = make.release(make.version(number="1.1.0", cast=cast), "production", cast=cast)
    client.force_login(cast.mara)
    assert "Roll back to 1.0.0" in text_of(client.get(f"/releases/{second.pk}/"))
    assert post(client, cast.mara, second, "rollback").status_code == 422
    assert post(client, cast.mara, second, "rollback", reason="Wrong totals.").status_code == 302
    assert (state_of(first), state_of(second)) == (State.LIVE, State.ROLLED_BACK)


def test_void_approvals_are_given_anew(client: Client, cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.APPROVED)
    client.force_login(cast.mara)
    assert "Approve 1.0.0" not in text_of(client.get(f"/releases/{release.pk}/"))
    production = make.environment("production")
    production.approvals_low = 2
    production.save()
    page = text_of(client.get(f"/releases/{release.pk}/"))
    assert "Approve 1.0.0 for Production" in page
    assert "Its approvals are void" in page
    assert post(client, cast.mara, release, "approve").status_code == 302
    assert state_of(release) == State.PROPOSED


def test_a_shut_gate_keeps_it_from_starting(client: Client, cast: make.Cast) -> None:
    version = make.version(cast=cast, stability="experimental")
    release = make.release(version, "production", cast=cast, state=State.APPROVED)
    client.force_login(cast.mara)
    page = text_of(client.get(f"/releases/{release.pk}/"))
    assert "A gate is shut: The version is experimental; stable is asked for here." in page
    answer = post(client, cast.mara, release, "start", htmx=True)
    assert answer.status_code == 409
    assert state_of(release) == State.APPROVED


def test_ines_withdraws_what_she_proposed(client: Client, cast: make.Cast, proposed: Release) -> None:
    assert post(client, cast.ines, proposed, "withdraw").status_code == 302
    assert state_of(proposed) == State.WITHDRAWN


def test_what_changes_is_shown_against_the_live_version(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast, files={"references/old.md": b"# Old\n"}), "production", cast=cast)
    version = make.version(
        number="1.1.0", cast=cast, permissions=("network",), files={"references/new.md": b"# New\n"}
    )
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    client.force_login(cast.mara)
    page = text_of(client.get(f"/releases/{release.pk}/"))
    assert '<span class="soft">1.0.0</span> → 1.1.0' in page
    assert '<span class="badge" data-tone="warn">+ <code>network</code></span>' in page
    assert "/versions/1.1.0/files/references/new.md" in page
    assert "/versions/1.0.0/files/references/old.md" in page


def test_the_lines_of_a_changed_file_are_shown_on_demand(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast, files={"references/a.md": b"one\ntwo\n"}), "production", cast=cast)
    version = make.version(number="1.1.0", cast=cast, files={"references/a.md": b"one\n<three>\n"})
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    client.force_login(cast.mara)
    address = f"/releases/{release.pk}/?diff=references/a.md"
    part = text_of(client.get(address, headers=HTMX))
    assert '<td class="del">two</td>' in part
    assert '<td class="add">&lt;three&gt;</td>' in part
    assert "<html" not in part
    assert '<td class="del">two</td>' in text_of(client.get(address))
    assert "diff-h" not in text_of(client.get(f"/releases/{release.pk}/?diff=../../etc/passwd"))


def test_the_page_takes_few_queries(
    client: Client, cast: make.Cast, proposed: Release, django_assert_max_num_queries: object
) -> None:
    for n in range(2, 8):
        version = make.version(number=f"1.{n}.0", cast=cast)
        approvals.propose(
            version=version, environment=make.environment("production"), actor=Actor(cast.ines), now=make.NOW
        )
    client.force_login(cast.mara)
    with django_assert_max_num_queries(23):  # type: ignore[operator]
        client.get(f"/releases/{proposed.pk}/")


@pytest.mark.parametrize(
    ("text", "code"),
    [("Checked \u202etxt.exe", "U+202E"), ("Fine.\x1b[2K", "U+001B"), ("a\u2067b", "U+2067")],
)
@pytest.mark.parametrize(("action", "field"), [("approve", "note"), ("reject", "reason")])
def test_a_text_reads_as_it_was_typed(
    client: Client, cast: make.Cast, proposed: Release, action: str, field: str, text: str, code: str
) -> None:
    client.force_login(cast.mara)
    address = f"/releases/{proposed.pk}/{action}/"
    answer: Any = client.post(address, {field: text})
    assert answer.status_code == 422
    assert f"It holds a hidden control character ({code}); leave it out." in text_of(answer)
    assert state_of(proposed) == State.PROPOSED
    assert client.post(address, {field: "Zeile 1\r\n\tZeile 2 \u200fשלום"}).status_code == 302
