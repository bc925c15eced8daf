"""The inbox: what waits for whom."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from catalog.access import powers_of
from catalog.models import Delegation, Environment, Release, Skill, State, Transition, User, Version
from catalog.visibility import releases_to_decide, releases_to_start
from governance import approvals, rollouts
from governance.clearing import review
from portal import waiting
from tests import cast as crew
from tests import make
from tests.portal.answers import HTMX, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


def inbox(client: Client, user: User) -> str:
    """The text of the user's inbox."""
    client.force_login(user)
    return text_of(client.get("/inbox/"))


def test_nothing_waits(client: Client, cast: make.Cast) -> None:
    assert "Nothing waits for you" in inbox(client, cast.mara)
    assert "Nothing waits for you" in inbox(client, cast.nora)
    assert client.post("/inbox/").status_code == 405


def test_a_proposal_waits_for_approvers_and_stands_with_its_proposer(client: Client, cast: make.Cast) -> None:
    version = make.version(cast=cast, stability="experimental")
    make.release(version, "production", cast=cast, state=State.PROPOSED, note="Rounds to cents.")
    text = inbox(client, cast.mara)
    assert "Waiting for your decision" in text
    assert "Rounds to cents." in text
    assert "1 shut" in text
    assert "0 of 1" in text
    assert "Proposed by you" in inbox(client, cast.ines)
    for other in (cast.lena, cast.sven, cast.ravi, cast.ada):
        assert "Nothing waits for you" in inbox(client, other)


def test_who_proposed_does_not_decide(client: Client, cast: make.Cast) -> None:
    make.grant(cast.ines, "approver")
    make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    text = inbox(client, cast.ines)
    assert "Waiting for your decision" not in text
    assert "Proposed by you" in text


def test_an_approved_release_waits_to_be_started(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=State.APPROVED)
    assert "Approved, can be started by you" in inbox(client, cast.otto)
    assert "Approved, can be started by you" not in inbox(client, cast.ines)


def test_what_a_gate_keeps_from_starting_waits_for_nobody(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=State.APPROVED)
    assert 'id="inbox-count">1<' in inbox(client, cast.otto)
    Environment.objects.filter(name="production").update(needs_evaluation=True)
    text = inbox(client, cast.otto)
    assert "Approved, can be started by you" not in text
    assert "Approved, but a gate is shut" in text
    assert 'id="inbox-count" hidden>' in text


def test_half_an_approval_is_told_from_none(client: Client, cast: make.Cast) -> None:
    version = make.version(cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    client.force_login(cast.mara)
    client.post(f"/releases/{release.pk}/approve/", {"confirm": "refund-check", "password": make.PASSWORD})
    assert "You approved, others have to follow" in inbox(client, cast.mara)
    assert "1 of 2" in inbox(client, cast.otto)


def test_what_is_live_and_what_is_missing_is_shown(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    make.release(make.version(number="1.1.0", cast=cast), "production", cast=cast, state=State.PROPOSED)
    needy = make.version(
        "refund.issue",
        cast=cast,
        files={
            "manifest.yaml": make.manifest(more="dependencies: {order-find: 1.0.0}\n"),
            "run.py": b"x = 1\n",
        },
    )
    make.release(needy, "production", cast=cast, state=State.PROPOSED)
    text = inbox(client, cast.mara)
    assert "1.0.0 → 1.1.0" in text
    assert "order-find 1.0.0 or newer is needed; none is live." in text


def needy(name: str, needs: str, *, cast: make.Cast) -> Version:
    files = {
        "manifest.yaml": make.manifest(name, more=f"dependencies: {{{needs}: 1.0.0}}\n"),
        "run.py": b"x = 1\n",
    }
    return make.version(name, cast=cast, files=files)


def test_a_dependency_that_is_unavailable_itself_shuts_the_gate_as_on_the_page(
    client: Client, cast: make.Cast
) -> None:
    base = make.version("order-find", cast=cast)
    live = make.release(base, "production", cast=cast)
    make.release(needy("order.check", "order-find", cast=cast), "production", cast=cast)
    approved = make.release(
        needy("refund.issue", "order-check", cast=cast), "production", cast=cast, state=State.APPROVED
    )
    assert 'id="inbox-count">1<' in inbox(client, cast.otto)
    rollouts.roll_back(release=live, actor=crew.actor(cast.mara), reason="Wrong totals.", now=make.NOW)
    (gate,) = review(Release.objects.get(pk=approved.pk)).shut
    assert gate.detail == "order-check is needed, and is unavailable here itself."
    text = inbox(client, cast.otto)
    assert "Approved, but a gate is shut" in text
    assert gate.detail in text
    assert "1 shut" in text
    assert 'id="inbox-count" hidden>' in text


@pytest.mark.parametrize("state", ["yanked", "private"])
def test_a_dependency_that_is_live_but_not_for_this_team_is_missing(
    client: Client, cast: make.Cast, state: str
) -> None:
    base = make.version("order-find", team=cast.support, publisher=cast.sven)
    make.release(base, "production", cast=cast, proposer=cast.sven)
    make.release(
        needy("refund.issue", "order-find", cast=cast), "production", cast=cast, state=State.APPROVED
    )
    assert "Approved, can be started by you" in inbox(client, cast.otto)
    if state == "yanked":
        Version.objects.filter(pk=base.pk).update(yanked_at=make.NOW)
    else:
        Skill.objects.filter(pk=base.skill_id).update(visibility=Skill.Visibility.TEAM)
    text = inbox(client, cast.otto)
    assert "Approved, but a gate is shut" in text
    assert "order-find 1.0.0 or newer is needed; none is live." in text


def test_queries_do_not_grow_with_what_is_needed(
    client: Client, cast: make.Cast, django_assert_max_num_queries: Any
) -> None:
    for n in range(6):
        make.release(make.version(f"base-{'abcdef'[n]}", cast=cast), "production", cast=cast)
        version = needy(f"skill.{'abcdef'[n]}", f"base-{'abcdef'[n]}", cast=cast)
        make.release(version, "production", cast=cast, state=State.APPROVED)
    client.force_login(cast.otto)
    with django_assert_max_num_queries(26):
        answer = client.get("/inbox/", headers=HTMX)
    assert text_of(answer).count("base-") == 0
    assert 'id="inbox-count" hx-swap-oob="true">6<' in text_of(answer)


def test_queries_do_not_grow_with_the_rows(
    client: Client, cast: make.Cast, django_assert_max_num_queries: Any
) -> None:
    for n in range(8):
        version = make.version(f"skill-{'abcdefgh'[n]}", cast=cast)
        make.release(version, "production", cast=cast, state=State.PROPOSED)
    client.force_login(cast.mara)
    with django_assert_max_num_queries(22):
        answer = client.get("/inbox/", headers=HTMX)
    assert text_of(answer).count("0 of 1") == 8
    assert "<html" not in text_of(answer)


def test_what_others_decide_does_not_crowd_out_what_this_user_does(
    client: Client, cast: make.Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "MOST", 2)
    for n in range(4):
        make.release(
            make.version(f"skill-{'abcd'[n]}", cast=cast), "production", cast=cast, state=State.APPROVED
        )
    theirs = make.version("order-lookup", team=cast.support, publisher=cast.sven)
    Environment.objects.filter(name="production").update(owner_may_start=True)
    make.release(theirs, "production", cast=cast, proposer=cast.sven, state=State.APPROVED)
    assert "order-lookup" in inbox(client, cast.sven)


@pytest.mark.parametrize("owner_may_start", [True, False])
def test_the_rights_are_the_same_as_a_query(cast: make.Cast, owner_may_start: bool) -> None:
    Environment.objects.update(owner_may_start=owner_may_start)
    make.grant(cast.nora, "approver", team=cast.support)
    make.grant(cast.ravi, "publisher", environment=make.environment("staging"))
    for place in ("staging", "production"):
        make.release(make.version(f"refund-{place}", cast=cast), place, cast=cast, state=State.PROPOSED)
        version = make.version(f"order-{place}", team=cast.support, publisher=cast.sven)
        make.release(version, place, cast=cast, state=State.APPROVED, proposer=cast.sven)
    for user in (cast.ines, cast.sven, cast.mara, cast.otto, cast.lena, cast.ravi, cast.ada, cast.nora):
        powers = powers_of(user)
        every = list(Release.objects.select_related("version", "skill", "environment"))
        assert set(releases_to_decide(powers)) == {one for one in every if powers.may_decide(one)}
        assert set(releases_to_start(powers)) == {one for one in every if powers.may_start(one)}


def test_an_approval_of_something_else_counts_no_more(client: Client, cast: make.Cast) -> None:
    version = make.version(cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    client.force_login(cast.mara)
    client.post(f"/releases/{release.pk}/approve/", {"confirm": "refund-check", "password": make.PASSWORD})
    release.approvals.update(bound_to="0" * 64)
    text = inbox(client, cast.mara)
    assert "Approvals became void, decide again" in text
    assert "Waiting for your decision" not in text
    assert "1 void" in text
    assert "0 of 2" in text
    assert 'id="inbox-count">1<' in text
    assert "0 of 2" in text_of(client.get(f"/releases/{release.pk}/"))


def test_the_count_beside_the_link_comes_along(client: Client, cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    assert inbox(client, cast.mara).count('id="inbox-count"') == 1
    part = text_of(client.get("/inbox/", headers=HTMX))
    assert 'id="inbox-count" hx-swap-oob="true">1<' in part
    answer = client.post(f"/releases/{release.pk}/approve/", headers=HTMX)
    assert 'id="inbox-count" hx-swap-oob="true">1<' in text_of(answer)
    answer = client.post(f"/releases/{release.pk}/start/", {"percent": "100"}, headers=HTMX)
    assert 'id="inbox-count" hidden hx-swap-oob="true">' in text_of(answer)


def test_void_approvals_have_a_group_of_their_own(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=State.APPROVED)
    Environment.objects.filter(name="production").update(approvals_high=4)
    text = inbox(client, cast.otto)
    assert "Approvals became void, decide again" in text
    assert "1 void" in text
    assert "Waiting for your decision" not in text
    assert "Approved, can be started by you" not in text
    assert text.count('class="name" href="/releases/') == 1
    assert 'id="inbox-count">1<' in text


def test_lent_rights_say_whose_they_are(client: Client, cast: make.Cast) -> None:
    now = timezone.now()
    Delegation.objects.create(
        giver=cast.mara, taker=cast.nora, starts_at=now, ends_at=now + timedelta(days=1), created_at=now
    )
    make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    text = inbox(client, cast.nora)
    assert "Waiting for your decision" in text
    assert "for Mara Lindqvist" in text
    assert "for Mara Lindqvist" not in inbox(client, cast.otto)


def test_a_canary_that_does_not_move_on_is_listed_with_why(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    canary = make.version(number="1.1.0", cast=cast)
    make.release(canary, "production", cast=cast, state=State.CANARY)
    assert "Canaries that do not move on" not in inbox(client, cast.mara)
    Environment.objects.filter(name="production").update(needs_evaluation=True)
    for user in (cast.mara, cast.otto):
        text = inbox(client, user)
        assert "Canaries that do not move on" in text
        assert "An evaluation is asked for here, and none was reported." in text
    assert "Canaries that do not move on" not in inbox(client, cast.ines)
    assert "Proposed by you" in inbox(client, cast.ines)
    make.grant(cast.ines, "approver")
    Environment.objects.update(owner_may_start=True)
    text = inbox(client, cast.ines)
    assert text.count("1.0.0 → 1.1.0") == 1


def test_a_broken_glass_is_in_sight_for_a_fortnight(client: Client, cast: make.Cast) -> None:
    make.grant(cast.nora, "approver", may_override=True)
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    actor = crew.actor(cast.nora)
    now = timezone.now()
    rollouts.break_glass(release=release, actor=actor, reason="Tills are down.", now=now - timedelta(days=13))
    text = inbox(client, cast.mara)
    assert "Glass broken" in text
    assert "Tills are down." in text
    assert f'href="/releases/{release.pk}/"' in text
    Transition.objects.update(created_at=now - timedelta(days=15))
    assert "Glass broken" not in inbox(client, cast.mara)


def test_a_hidden_skill_stays_hidden_where_the_glass_was_broken(client: Client, cast: make.Cast) -> None:
    make.grant(cast.nora, "approver", may_override=True)
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    now = timezone.now()
    rollouts.break_glass(release=release, actor=crew.actor(cast.nora), reason="Tills are down.", now=now)
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert "Tills are down." not in inbox(client, cast.sven)
    assert "Tills are down." in inbox(client, cast.ines)


def test_what_was_decided_this_week_is_told_to_those_concerned(client: Client, cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    now = timezone.now()
    approvals.reject(release=release, actor=crew.actor(cast.mara), reason="Wrong totals.", now=now)
    for user in (cast.mara, cast.ines):
        text = inbox(client, user)
        assert "Decided this week" in text
        assert "Rejected." in text
        assert "Wrong totals." in text
    assert "Decided this week" not in inbox(client, cast.otto)
    Transition.objects.update(created_at=now - timedelta(days=8))
    assert "Decided this week" not in inbox(client, cast.mara)
