"""What the page of a release says: the gray release, the reach, approvals, the way back, and who can help."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from catalog.canaries import Guard, Plan
from catalog.journal import Actor
from catalog.models import Delegation, Environment, Release, State, User
from governance import approvals, rollouts
from tests import make
from tests.portal.answers import HTMX, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


def page(client: Client, user: User, release: Release) -> str:
    """The release as the user sees it."""
    client.force_login(user)
    return text_of(client.get(f"/releases/{release.pk}/"))


def gray(cast: make.Cast, plan: Plan, number: str = "1.1.0") -> Release:
    """A canary in production under the plan."""
    now = timezone.now()
    release = approvals.propose(
        version=make.version(number=number, cast=cast),
        environment=make.environment("production"),
        actor=Actor(cast.ines),
        plan=plan,
        now=now,
    )
    make.approve(release, cast.mara, now=now)
    return rollouts.start(release=release, actor=Actor(cast.mara), now=now)


def test_a_gray_release_shows_its_arms_its_callers_and_its_next_step(client: Client, cast: make.Cast) -> None:
    make.agent(team=cast.payments)
    make.release(make.version(cast=cast), "production", cast=cast)
    plan = Plan(
        percent=5,
        steps=(5, 25, 100),
        soak_minutes=120,
        agents=("front-desk",),
        teams=("payments",),
        tags=("shop",),
    )
    release = gray(cast, plan)
    text = page(client, cast.mara, release)
    assert '<rect width="95" height="10" data-arm="stable"/>' in text
    assert 'x="95" width="5" height="10" data-arm="candidate"/>' in text
    assert '<span class="ver">1.0.0</span> stable' in text
    for name in ("agent front-desk", "team payments", "tag shop"):
        assert f'<span class="tag">{name}</span>' in text
    assert 'aria-current="step">5 %</span>' in text
    assert '<dt>Next step</dt> <dd> 25 %, <time datetime="' in text
    assert 'type="range" min="0" max="100" step="1" value="25"' in text
    assert 'type="number" name="percent" min="0" max="100" value="25"' in text
    assert "Every caller gets it again when the canary is halted." in text


def test_a_canary_that_does_not_move_on_says_why(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    release = gray(cast, Plan(percent=5, steps=(5, 100), soak_minutes=60))
    production = make.environment("production")
    production.needs_evaluation = True
    production.save()
    text = page(client, cast.mara, release)
    assert "Held." in text
    assert "An evaluation is asked for here, and none was reported." in text
    rollouts.move_due(now=timezone.now() + timedelta(hours=2))
    assert "Held by its schedule." in page(client, cast.mara, release)


def test_a_guarded_canary_waits_for_a_person(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    guard = Guard(max_error_rate=0.02, max_p95_ms=900, min_calls=50)
    release = gray(cast, Plan(percent=5, steps=(5, 100), guard=guard))
    text = page(client, cast.mara, release)
    assert "100 %, by a person: a guard is set" in text
    assert "errors up to 2 %" in text
    assert "P95 up to 900 ms" in text
    assert "at least 50 calls" in text


def test_the_share_keeps_what_is_wrong_in_its_place(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    release = gray(cast, Plan(percent=5))
    client.force_login(cast.mara)
    answer = client.post(f"/releases/{release.pk}/advance/", {"percent": "0"}, headers=HTMX)
    assert answer.status_code == 422
    assert answer["HX-Retarget"] == "#form-advance"
    assert 'id="percent-advance-error"' in text_of(answer)
    answer = client.post(f"/releases/{release.pk}/advance/", {"percent": ""})
    assert answer.status_code == 422
    assert "Give the share of callers, 1 to 100." in text_of(answer)
    assert Release.objects.get(pk=release.pk).percent == 5


def test_named_callers_alone_may_be_left(client: Client, cast: make.Cast) -> None:
    make.agent(team=cast.payments)
    make.release(make.version(cast=cast), "production", cast=cast)
    release = gray(cast, Plan(percent=5, agents=("front-desk",)))
    client.force_login(cast.mara)
    assert client.post(f"/releases/{release.pk}/advance/", {"percent": "0"}).status_code == 302
    assert Release.objects.get(pk=release.pk).percent == 0


def test_a_halted_canary_is_resumed_at_its_share(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    release = make.release(
        make.version(number="1.1.0", cast=cast), "production", cast=cast, state=State.HALTED, percent=30
    )
    assert "Resume the canary" in page(client, cast.mara, release)
    assert client.post(f"/releases/{release.pk}/resume/", {"percent": ""}).status_code == 302
    release.refresh_from_db()
    assert (release.state, release.percent) == (State.CANARY, 30)
    assert "Resumed." in page(client, cast.mara, release)
    assert client.post(f"/releases/{release.pk}/resume/", {"percent": "30"}).status_code == 409


def test_a_withdrawn_version_is_not_offered_again(client: Client, cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.HALTED)
    release.version.yanked_at = timezone.now()
    release.version.save()
    text = page(client, cast.mara, release)
    assert "Version 1.0.0 is yanked." in text
    assert 'id="dialog-resume"' not in text
    assert client.post(f"/releases/{release.pk}/resume/").status_code == 409


def test_what_changes_in_reach_is_told_in_words(client: Client, cast: make.Cast) -> None:
    Environment.objects.update(permissions=["network", "subprocess"])
    base = make.version("order-find", cast=cast)
    make.release(base, "production", cast=cast)
    make.release(
        make.version(cast=cast, permissions=("subprocess",), risk_level="medium"), "production", cast=cast
    )
    files = {
        "manifest.yaml": make.manifest(
            "refund-check", version="2.0.0", more="dependencies: {order-find: 1.0.0}\n"
        ).replace(b"risk_level: medium", b"risk_level: high"),
        "run.py": b"x = 1\n",
    }
    release = make.release(
        make.version(number="2.0.0", cast=cast, files=files),
        "production",
        cast=cast,
        state=State.PROPOSED,
    )
    text = page(client, cast.mara, release)
    assert "It gains the permission network." in text
    assert "It gives up the permission subprocess." in text
    assert "Its risk rises from medium to high." in text
    assert "It depends on order-find 1.0.0 or newer." in text
    assert "changes of the schemas break no caller." in text or "Callers may break at" in text


def lend(giver: User, taker: User) -> Delegation:
    """The giver's rights, lent for a day."""
    now = timezone.now()
    return Delegation.objects.create(
        giver=giver,
        taker=taker,
        starts_at=now - timedelta(hours=1),
        ends_at=now + timedelta(days=1),
        created_at=now,
    )


def test_approvals_say_on_whose_right_and_which_are_void(client: Client, cast: make.Cast) -> None:
    version = make.version(cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    lend(cast.mara, cast.nora)
    approvals.approve(release=release, actor=Actor(cast.nora), confirm="refund-check", now=timezone.now())
    text = page(client, cast.otto, release)
    assert 'Nora Quist <span class="soft">for Mara Lindqvist</span>' in text
    assert "1 of 2 approvals." in text
    text = page(client, cast.mara, release)
    assert "Nora Quist has approved it with your right; another approver has to as well." in text
    production = make.environment("production")
    production.highest_risk = "high"
    production.approvals_high = 3
    production.save()
    text = page(client, cast.otto, release)
    assert "0 of 3 approvals." in text
    assert "The policy of Production or the risk of the version has changed since." in text
    make.approve(release, cast.otto, now=timezone.now())
    text = page(client, cast.otto, release)
    assert "1 of 3 approvals." in text
    assert "Void" in text


def test_a_gate_that_shuts_voids_and_says_which(client: Client, cast: make.Cast) -> None:
    base = make.version("order-find", cast=cast)
    live = make.release(base, "production", cast=cast)
    files = {
        "manifest.yaml": make.manifest(more="dependencies: {order-find: 1.0.0}\n"),
        "run.py": b"x = 1\n",
    }
    release = make.release(
        make.version("refund.issue", cast=cast, files=files), "production", cast=cast, state=State.APPROVED
    )
    rollouts.roll_back(release=live, actor=Actor(cast.mara), reason="Wrong.", now=timezone.now())
    text = page(client, cast.mara, release)
    assert "Shut since, and open then: Dependencies." in text


def test_who_cannot_decide_reads_who_can(client: Client, cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    make.grant(cast.ines, "approver")
    text = page(client, cast.ines, release)
    assert "You proposed this release; another approver decides." in text
    assert "Can decide: Mara Lindqvist, Otto Kraus." in text


def test_what_a_rollback_returns_to(client: Client, cast: make.Cast) -> None:
    first = make.version(cast=cast)
    only = make.release(first, "production", cast=cast)
    assert "No version was live before in Production: agents lose the skill." in page(client, cast.mara, only)
    second = make.release(make.version(number="1.1.0", cast=cast), "production", cast=cast)
    text = page(client, cast.mara, second)
    assert "It is put back where its gates are open and its approvals hold then." in text
    first.yanked_at = timezone.now()
    first.save()
    text = page(client, cast.mara, second)
    assert "1.0.0 was taken back since and is not put back: agents lose the skill." in text


def test_queries_do_not_grow_with_what_happened(
    client: Client, cast: make.Cast, django_assert_max_num_queries: Any
) -> None:
    make.agent(team=cast.payments)
    make.release(make.version(cast=cast), "production", cast=cast)
    release = gray(cast, Plan(percent=5, steps=(5, 100), agents=("front-desk",)))
    keeper = make.user("vera")
    make.grant(keeper, "approver", may_override=True)
    for n in range(6):
        rollouts.halt(release=release, actor=Actor(cast.mara), reason=f"Try {n}.", now=timezone.now())
        rollouts.resume(release=release, actor=Actor(cast.mara), now=timezone.now())
    client.force_login(cast.mara)
    with django_assert_max_num_queries(27):
        answer = client.get(f"/releases/{release.pk}/")
    assert text_of(answer).count("Resumed.") == 6


def test_a_canary_without_steps_offers_the_share_that_it_has(client: Client, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    release = make.release(
        make.version(number="1.1.0", cast=cast), "production", cast=cast, state=State.CANARY, percent=40
    )
    client.force_login(cast.mara)
    text = text_of(client.get(f"/releases/{release.pk}/"))
    assert 'name="percent" min="1" max="100" value="40"' in text


def test_it_links_to_its_environment_and_its_team(client: Client, cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast)
    client.force_login(cast.nora)
    text = text_of(client.get(f"/releases/{release.pk}/"))
    assert 'href="/environments/production/"' in text
    assert 'href="/teams/payments/">Payments</a>' in text
    text = text_of(client.get("/skills/refund-check/"))
    assert 'href="/environments/production/"' in text
    assert 'href="/teams/payments/">Payments</a>' in text
