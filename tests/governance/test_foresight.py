"""What a change of policy would do, told before it is made."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from catalog.models import Release, State
from governance import foresight
from governance.foresight import Foresight, Touch, foresee
from tests import make

pytestmark = pytest.mark.django_db
MOST_QUERIES = 7


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


def see(**terms: Any) -> Foresight:
    return foresee(make.environment("production"), terms)


def told(touch: Touch) -> list[tuple[str, str]]:
    return [(one.release.skill.name, one.why) for one in touch.first]


def release(cast: make.Cast, name: str, state: str = State.LIVE, **declared: Any) -> Release:
    return make.release(make.version(name, cast=cast, **declared), "production", cast=cast, state=state)


def test_a_change_that_touches_nothing_is_quiet(cast: make.Cast) -> None:
    release(cast, "refund-check")
    release(cast, "order-find", State.PROPOSED)
    assert see(title="Shops", soak_minutes=5, permissions=[]).is_quiet
    assert see().is_quiet


def test_served_versions_that_are_allowed_no_longer(cast: make.Cast) -> None:
    release(cast, "refund-check", permissions=("network",))
    release(cast, "order-find", State.CANARY, risk_level="medium")
    release(cast, "till-close")
    seen = see(permissions=["shell"], highest_risk="low")
    assert told(seen.unavailable) == [
        ("order-find", "The risk is medium; up to low is allowed here."),
        ("refund-check", "Not allowed here: network."),
    ]
    assert seen.available.count == 0
    assert not seen.is_quiet


def test_served_versions_that_are_allowed_again(cast: make.Cast) -> None:
    release(cast, "refund-check", permissions=("network",))
    production = make.environment("production")
    production.permissions = []
    production.save()
    seen = see(permissions=["network"])
    assert told(seen.available) == [("refund-check", "Not allowed here: network.")]
    assert seen.unavailable.count == 0


def test_proposals_that_are_held_or_need_more(cast: make.Cast) -> None:
    release(cast, "refund-check", State.PROPOSED, permissions=("network",))
    release(cast, "order-find", State.APPROVED, risk_level="medium")
    release(cast, "till-close", State.CANARY)
    seen = see(permissions=[], approvals_medium=2, approvals_low=2)
    assert told(seen.held) == [("refund-check", "Not allowed here: network.")]
    assert told(seen.short) == [("refund-check", "1 → 2"), ("order-find", "1 → 2")]


def test_approvals_that_become_void(cast: make.Cast) -> None:
    release(cast, "refund-check", State.APPROVED, risk_level="high")
    release(cast, "order-find", State.CANARY)
    release(cast, "till-close", State.LIVE)
    release(cast, "cash-count", State.REJECTED)
    seen = see(needs_idempotency=False)
    assert told(seen.void) == [
        ("refund-check", "Mara Lindqvist, Otto Kraus"),
        ("order-find", "Mara Lindqvist"),
    ]
    assert seen.approvals == 3
    assert seen.short.count == seen.held.count == 0


def test_what_was_void_before_is_not_told(cast: make.Cast) -> None:
    release(cast, "refund-check", State.APPROVED)
    production = make.environment("production")
    production.needs_idempotency = False
    production.save()
    assert see(outside_approval=True).approvals == 0


def test_queries_are_bounded_and_the_first_are_told(
    cast: make.Cast, django_assert_max_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(24):
        version = make.version(f"skill-{n:02}", cast=cast, permissions=("network",))
        make.release(version, "production", cast=cast, state=State.PROPOSED if n < 22 else State.LIVE)
    production = make.environment("production")
    with django_assert_max_num_queries(MOST_QUERIES):
        seen = foresee(production, {"permissions": []})
    assert (seen.held.count, len(seen.held.first), seen.unavailable.count) == (22, 20, 2)
    assert seen.is_whole
    monkeypatch.setattr(foresight, "MOST_READ", 5)
    seen = foresee(production, {"permissions": []})
    assert (seen.held.count, seen.is_whole) == (5, False)
    assert not foresee(production, {}).is_quiet
