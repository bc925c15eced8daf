"""The gates: each is open or shut for a reason that it tells."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import Environment, Version
from governance.gates import check_gates
from governance.policy import Policy, Subject, gates_of, needs_of
from tests import cast as crew
from tests import make

POLICY = Policy(
    permissions=("network", "send"),
    highest_risk="medium",
    lowest_stability="stable",
    approvals=(0, 1, 2),
    second_confirmation=True,
    needs_idempotency=True,
    needs_evaluation=False,
)
SUBJECT = Subject(
    risk="low", permissions=("network",), stability="stable", prerelease=False, side_effects_unprotected=False
)


def having(base: Any, **fields: Any) -> Any:
    """A copy with these fields."""
    return type(base)(**{**{name: getattr(base, name) for name in base.__slots__}, **fields})


@pytest.mark.parametrize(
    ("gate", "policy", "subject", "passed", "detail"),
    [
        ("permissions", {}, {}, True, "Asks for network; allowed here."),
        ("permissions", {}, {"permissions": ()}, True, "Asks for no permission; allowed here."),
        ("permissions", {}, {"permissions": ("shell", "network", "secrets")}, False, "Not allowed here: secrets, shell."),
        ("permissions", {"permissions": ()}, {}, False, "Not allowed here: network."),
        ("risk", {}, {"risk": "medium"}, True, "The risk is medium; up to medium is allowed here."),
        ("risk", {}, {"risk": "high"}, False, "The risk is high; up to medium is allowed here."),
        ("risk", {"highest_risk": "low"}, {"risk": "low"}, True, "The risk is low; up to low is allowed here."),
        ("stability", {}, {}, True, "The version is stable; stable is asked for here."),
        ("stability", {}, {"stability": "experimental"}, False, "The version is experimental; stable is asked for here."),
        ("stability", {}, {"stability": "deprecated"}, False, "The version is deprecated; stable is asked for here."),
        ("stability", {}, {"prerelease": True}, False, "The version is stable, a pre-release; stable is asked for here."),
        ("stability", {"lowest_stability": "experimental"}, {"stability": "experimental", "prerelease": True}, True,
         "The version is experimental, a pre-release; at least experimental is asked for here."),
        ("stability", {"lowest_stability": "deprecated"}, {"stability": "deprecated"}, True,
         "The version is deprecated; at least deprecated is asked for here."),
        ("idempotency", {}, {}, True, "No side effect that a retry would repeat."),
        ("idempotency", {}, {"side_effects_unprotected": True}, False,
         "It writes or sends and does not say whether a retry repeats that."),
        ("idempotency", {"needs_idempotency": False}, {"side_effects_unprotected": True}, True,
         "It writes or sends and does not say whether a retry repeats that."),
        ("evaluation", {}, {}, True, "No evaluation is asked for here."),
        ("evaluation", {"needs_evaluation": True}, {}, False,
         "An evaluation is asked for here, and none was reported."),
    ],
)  # fmt: skip
def test_each_gate(
    gate: str, policy: dict[str, Any], subject: dict[str, Any], passed: bool, detail: str
) -> None:
    found = {one.name: one for one in gates_of(having(POLICY, **policy), having(SUBJECT, **subject))}
    assert (found[gate].passed, found[gate].detail) == (passed, detail)


@pytest.mark.parametrize(
    ("risk", "approvals", "confirmation"), [("low", 0, False), ("medium", 1, False), ("high", 2, True)]
)
def test_needs(risk: str, approvals: int, confirmation: bool) -> None:
    needs = needs_of(POLICY, having(SUBJECT, risk=risk))
    assert (needs.approvals, needs.confirmation) == (approvals, confirmation)
    assert not needs_of(having(POLICY, second_confirmation=False), having(SUBJECT, risk=risk)).confirmation


@pytest.mark.parametrize("name", Policy.__slots__)
def test_every_part_of_a_policy_is_in_its_digest(name: str) -> None:
    value = getattr(POLICY, name)
    other = not value if isinstance(value, bool) else ("shell",) if name == "permissions" else "low"
    other = (3, 3, 3) if name == "approvals" else "experimental" if name == "lowest_stability" else other
    assert having(POLICY, **{name: other}).sha256 != POLICY.sha256


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("idempotent", "permission", "passed"),
    [
        ("", "network", True),
        ("", "send", False),
        ("", "filesystem.write", False),
        ("idempotent: false\n", "send", True),
        ("idempotent: {key: [order_id]}\n", "send", True),
    ],
)
def test_a_manifest_that_is_silent_about_retries(idempotent: str, permission: str, passed: bool) -> None:
    team = make.cast().payments
    text = make.manifest().decode().replace("idempotent: {key: [order_id]}\n", idempotent)
    text = text.replace("permissions: [network]", f"permissions: [{permission}]")
    files = {"manifest.yaml": text.encode(), "run.py": b"#!/usr/bin/env python3\n"}
    row = make.publication(make.bundle(files, folder="refund-issue"), team=team).row
    assert row is not None
    gates = {gate.name: gate for gate in check_gates(row, make.environment("production"))}
    assert gates["idempotency"].passed == passed


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("live", "mark", "passed", "detail"),
    [
        ("", "", False, "b-two 1.2.0 or newer is needed; none is live."),
        ("1.1.0", "", False, "b-two 1.2.0 or newer is needed; 1.1.0 is live."),
        ("1.2.0", "", True, "Every skill that it depends on is live here."),
        ("1.10.0", "", True, "Every skill that it depends on is live here."),
        ("2.0.0", "", False, "b-two 1.2.0 or newer is needed; 2.0.0 is live."),
        ("1.2.0", "yanked_at", False, "b-two 1.2.0 or newer is needed; none is live."),
        ("1.2.0", "revoked_at", False, "b-two 1.2.0 or newer is needed; none is live."),
    ],
)
def test_dependencies_must_be_live(live: str, mark: str, passed: bool, detail: str) -> None:
    cast = make.cast()
    if live:
        needed = make.publication(crew.tool("b.two", version=live), team=cast.payments).row
        assert needed is not None
        make.release(needed, "production", cast=cast)
        if mark:
            Version.objects.filter(pk=needed.pk).update(**{mark: make.NOW})
    row = make.publication(crew.tool("a.one", needs={"b.two": "1.2.0"}), team=cast.payments).row
    assert row is not None
    gate = check_gates(row, make.environment("production"))[-1]
    assert (gate.name, gate.passed, gate.detail) == ("dependencies", passed, detail)


@pytest.mark.django_db
def test_the_effective_risk_is_what_counts() -> None:
    version = make.version(cast=make.cast())
    Version.objects.update(suggested_risk="high")
    Environment.objects.update(highest_risk="medium")
    version.refresh_from_db()
    gates = {gate.name: gate for gate in check_gates(version, make.environment("staging"))}
    assert gates["risk"].detail == "The risk is high; up to medium is allowed here."
