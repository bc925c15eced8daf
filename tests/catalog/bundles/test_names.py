from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.bundles.names import (
    check_manifest_name,
    check_skill_name,
    folder_name,
    is_manifest_name,
    is_skill_name,
    proposed_slug,
    read_version,
)

SKILL_RULE = "Use a-z, 0-9 and single hyphens between them, at most 64 characters"
MANIFEST_RULE = "Use one to four segments joined by dots, each of a-z, 0-9, - and _ and begun with a letter"


@pytest.mark.parametrize("name", ["demo", "new", "1e3", "a" * 64, "a-b-2"])
def test_skill_names(name: str) -> None:
    assert check_skill_name(name, path="SKILL.md") == ()


@pytest.mark.parametrize(
    ("name", "shown", "proposal"),
    [
        ("Demo Skill", "Demo Skill", "demo-skill"),
        ("-demo", "-demo", "demo"),
        ("demo-", "demo-", "demo"),
        ("demo--skill", "demo--skill", "demo-skill"),
        ("demo_skill", "demo_skill", "demo-skill"),
        ("demo.skill", "demo.skill", "demo-skill"),
        ("../demo", "../demo", "demo"),
        ("p\u0430ypal-tools", "p\u0430ypal-tools", "paypal-tools"),
        ("\uff50\uff44\uff46", "\uff50\uff44\uff46", "pdf"),
        ("demo\n", "demo\\n", "demo"),
        ("de\u200bmo", "de\\u200bmo", "demo"),
        ("<b>demo</b>", "<b>demo</b>", "demo"),
        ("a" * 65, "a" * 65, "a" * 64),
        ("Stra\u00dfe", "Stra\u00dfe", "strasse"),
        ("Чай", "Чай", "chay"),
    ],
)
def test_bad_skill_names_come_with_a_proposal(name: str, shown: str, proposal: str) -> None:
    (finding,) = check_skill_name(name, path="SKILL.md", line=2)
    assert (finding.code, finding.severity, finding.path, finding.line) == (
        "name-invalid",
        "error",
        "SKILL.md",
        2,
    )
    assert finding.message == f'"{shown}" is not a skill name.'
    assert finding.hint == f"{SKILL_RULE}, for example {proposal}."


@pytest.mark.parametrize("name", ["数据分析", "", "demo-\u0661"[5:]])
def test_where_nothing_can_be_kept_nothing_is_proposed(name: str) -> None:
    (finding,) = check_skill_name(name, path="SKILL.md")
    assert finding.hint == f"{SKILL_RULE}."


@pytest.mark.parametrize("name", ["con", "lpt1", "nul"])
def test_device_names_cannot_be_folders(name: str) -> None:
    (finding,) = check_skill_name(name, path="SKILL.md")
    assert finding.message == f'"{name}" is a device name on Windows.'


@pytest.mark.parametrize("name", ["web", "web.search", "web.search_and_summarize", "a.b.c.d", "a-b.c_d"])
def test_manifest_names(name: str) -> None:
    assert check_manifest_name(name, path="manifest.yaml") == ()


@pytest.mark.parametrize(
    ("name", "proposal"),
    [
        ("demo..skill", "demo.skill"),
        ("demo@skill", "demo-skill"),
        ("demo.", "demo"),
        (".demo", "demo"),
        ("a.b.c.d.e", "a.b.c.d"),
        ("1st.place", "st.place"),
    ],
)
def test_bad_manifest_names_come_with_a_proposal(name: str, proposal: str) -> None:
    (finding,) = check_manifest_name(name, path="manifest.yaml")
    assert (finding.code, finding.message) == ("name-invalid", f'"{name}" is not a skill name.')
    assert finding.hint == f"{MANIFEST_RULE}, for example {proposal}."


def test_the_folder_name_reads_dots_and_underscores_as_hyphens() -> None:
    assert folder_name("web.search_and_summarize") == "web-search-and-summarize"


@given(st.text(max_size=200))
def test_a_proposal_is_a_good_name_or_nothing(text: str) -> None:
    proposal = proposed_slug(text)
    assert proposal == "" or is_skill_name(proposal)
    for finding in check_manifest_name(text, path="m"):
        proposed = finding.hint.partition(", for example ")[2].rstrip(".")
        assert proposed == "" or is_manifest_name(proposed)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.2.3", "1.2.3"),
        ("1.0.0-rc.1", "1.0.0-rc.1"),
        ("99999999999999999999.0.0", "99999999999999999999.0.0"),
        ("2", "2.0.0"),
        ("1.10", "1.10.0"),
        ("1.2.3+build.5", "1.2.3"),
        ("v1.2.3", None),
        ("1.2.3\n", None),
        ("01.2.3", None),
        ("1.0.0-01", None),
        ("\u0661.0.0", None),
        ("latest", None),
        ("9" * 64, None),
        ("1.0.0-" + "a" * 60, None),
    ],
)
def test_versions(text: str, version: str | None) -> None:
    assert read_version(text)[0] == version


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("1.10", "version-not-semver", "The version 1.10 is no semantic version; it is read as 1.10.0."),
        (
            "v1",
            "version-not-semver",
            'The version "v1" is no semantic version, so the publisher is asked for one.',
        ),
        ("1" * 65, "version-not-semver", "The version has 65 characters, more than the 64 allowed."),
        (
            "1.0.0+b",
            "version-build-metadata",
            "The build metadata +b makes no other version: this one is 1.0.0.",
        ),
    ],
)
def test_findings_about_versions(text: str, code: str, message: str) -> None:
    (finding,) = read_version(text, path="SKILL.md", line=3)[1]
    assert (finding.code, finding.message, finding.line) == (code, message, 3)
    assert finding.severity != "error"


@given(st.text(max_size=80))
def test_a_version_that_is_read_is_ascii_and_short(text: str) -> None:
    version, findings = read_version(text)
    assert version is None or (version.isascii() and len(version) <= 64 and version.count(".") >= 2)
    assert version == text or findings
