"""Publishing by REST: both forms, every status, and that wrong fields are told."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from catalog.models import Blob, JournalEntry, Skill, Version
from tests import make
from tests.portal.api.callers import Caller, assert_problem, codes, zipped
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db

METADATA = {"name": "refund-check", "description": make.DESCRIPTION}


def body(**fields: Any) -> dict[str, Any]:
    """The JSON form of refund-check."""
    return {"team": "payments", "metadata": METADATA, "instructions": make.BODY, **fields}


def test_a_single_skill_md_is_published(ines: Caller) -> None:
    answer = ines.publish(make.skill_md(version="1.2.0"), risk_level="low", tags="money, refunds")
    assert answer.status_code == 201
    (result,) = answer.json()["results"]
    assert list(result) == [
        *("name", "version", "status", "bundle_sha256", "risk_level", "findings", "runtimes"),
    ]
    assert (result["name"], result["version"], result["status"]) == ("refund-check", "1.2.0", "published")
    assert result["runtimes"].keys() == {"spec", "raf", "awaken", "maf"}
    assert result["runtimes"]["spec"] == {"verdict": "loads", "notes": []}
    version = Version.objects.get()
    assert version.bundle_sha256 == result["bundle_sha256"]
    assert version.tags == ["money", "refunds"]
    assert version.provenance == {"form": "upload", "via": "api", "filename": "SKILL.md"}
    assert version.publisher.username == "ines"


def test_the_same_again_changes_nothing(ines: Caller) -> None:
    ines.publish(make.skill_md(version="1.0.0"))
    entries = JournalEntry.objects.count()
    answer = ines.publish(make.skill_md(version="1.0.0"))
    assert answer.status_code == 200
    assert answer.json()["results"][0]["status"] == "unchanged"
    assert JournalEntry.objects.count() == entries


def test_other_bytes_or_another_declaration_under_a_version_are_a_conflict(ines: Caller) -> None:
    ines.publish(make.skill_md(version="1.0.0"))
    for answer in (
        ines.publish(make.skill_md(version="1.0.0", body="# Other\n")),
        ines.publish(make.skill_md(version="1.0.0"), tags="money"),
    ):
        assert answer.status_code == 409
        assert answer.json()["results"][0]["status"] == "conflict"
        assert "version-exists" in codes(answer)
    assert Version.objects.count() == 1


def test_a_bad_bundle_is_refused_with_its_findings(ines: Caller) -> None:
    answer = ines.publish(b"---\nname: Refund Check\n---\n")
    assert answer.status_code == 422
    (result,) = answer.json()["results"]
    assert result["status"] == "rejected"
    assert "description-missing" in codes(answer)
    for finding in result["findings"]:
        assert list(finding) == ["code", "severity", "message", "hint", "path", "line"]
    assert {runtime["verdict"] for runtime in result["runtimes"].values()} == {"fails"}
    assert not Skill.objects.exists()


def test_an_archive_of_which_a_part_is_refused_is_207(ines: Caller) -> None:
    content = zipped({"good/SKILL.md": make.skill_md("good"), "bad/SKILL.md": b"---\nname: bad\n---\n"})
    answer = ines.publish(content, "skills.zip")
    assert answer.status_code == 207
    results = {one["name"]: one["status"] for one in answer.json()["results"]}
    assert results == {"good": "published", "bad": "rejected"}


def test_an_archive_with_something_new_is_201(ines: Caller) -> None:
    ines.publish(zipped({"a/SKILL.md": make.skill_md("a-skill")}), "skills.zip")
    both = {"a/SKILL.md": make.skill_md("a-skill"), "b/SKILL.md": make.skill_md("b-skill")}
    answer = ines.publish(zipped(both), "skills.zip")
    assert answer.status_code == 201
    assert [one["status"] for one in answer.json()["results"]] == ["unchanged", "published"]


def test_an_archive_that_cannot_be_read_is_one_refusal(ines: Caller) -> None:
    answer = ines.publish(b"PK\3\4 and then nothing", "skills.zip")
    assert answer.status_code == 422
    (result,) = answer.json()["results"]
    assert (result["status"], result["name"], result["version"]) == ("rejected", "", "")
    assert [one["severity"] for one in result["findings"]] == ["error"]


def test_a_dry_run_stores_nothing(ines: Caller) -> None:
    for answer in (
        ines.publish(make.skill_md(version="1.0.0"), dry_run="true"),
        ines.post("publish", body(dry_run=True)),
    ):
        assert answer.status_code == 200
        assert answer.json()["results"][0]["status"] == "checked"
    assert not Skill.objects.exists()
    assert not Version.objects.exists()
    assert not Blob.objects.exists()


def test_a_manifest_alone_is_a_tool_skill(ines: Caller) -> None:
    files = {"manifest.yaml": make.manifest(), "run.py": b"print('done')\n"}
    answer = ines.publish(zipped(files), "refund.zip")
    assert answer.status_code == 201, answer.content
    (result,) = answer.json()["results"]
    assert (result["name"], result["version"], result["risk_level"]) == ("refund.issue", "1.0.0", "medium")
    assert Skill.objects.get().folder == "refund-issue"


def test_a_single_manifest(ines: Caller) -> None:
    answer = ines.publish(make.manifest().replace(b"run: run.py\n", b""), "manifest.yaml")
    assert answer.status_code == 201, answer.content
    assert list(Version.objects.get().files.values_list("path", flat=True)) == ["manifest.yaml"]


def test_a_number_over_64_bits_in_a_schema_stays_what_it_is(
    ines: Caller, desk: Caller, cast: make.Cast
) -> None:
    huge = 10**30
    content = make.manifest().replace(
        b"currency: {type: string, enum: [EUR, USD], default: EUR",
        b"cents: {type: integer, default: %d" % huge,
    )
    answer = ines.publish(zipped({"manifest.yaml": content, "run.py": b"pass\n"}), "refund.zip")
    assert answer.status_code == 201, answer.content
    make.release(Version.objects.get(), "production", cast=cast)
    (skill,) = desk.get("feed").json()["skills"]
    assert skill["input_schema"]["properties"]["cents"]["default"] == huge
    read = ines.get("skills/refund.issue/versions/1.0.0").json()
    assert read["input_schema"]["properties"]["cents"]["default"] == huge


@pytest.mark.parametrize(
    ("name", "status"),
    [
        *(("a\r\nSet-Cookie: y.md", 422), ("..", 422), ("../../x.md", 201), ("", 422), ("SKILL.md/", 422)),
        *(('a".md', 201), ("a\x00.md", 201), ("C:\\x\\SKILL.md", 201), ("\u202emd.exe", 422)),
        ("x" * 5000 + ".md", 400),
    ],
)
def test_odd_file_names(ines: Caller, name: str, status: int) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="%s"'
    file = head % b"file" + b'; filename="' + name.encode() + b'"\r\n\r\n' + make.skill_md()
    body = head % b"team" + b"\r\n\r\npayments\r\n" + file + b"\r\n--x--\r\n"
    answer = ines.send("POST", "publish", data=body, content_type="multipart/form-data; boundary=x")
    assert answer.status_code == status, answer.content
    for version in Version.objects.all():
        assert version.provenance["filename"].isprintable()
        assert "/" not in version.provenance["filename"]


def test_the_json_form_with_resources(ines: Caller) -> None:
    resources = {"references/rules.md": "# Rules\n", "assets/pixel.bin": {"base64": "AAEC"}}
    answer = ines.post("publish", body(version="2.1.0", resources=resources, tags=["money"]))
    assert answer.status_code == 201, answer.content
    version = Version.objects.get()
    assert version.version == "2.1.0"
    assert sorted(version.files.values_list("path", flat=True)) == [
        *("SKILL.md", "assets/pixel.bin", "references/rules.md"),
    ]
    assert version.has_resources
    assert ines.post("publish", body(version="2.1.0", resources=resources, tags=["money"])).status_code == 200


def test_without_a_version_the_next_one_is_taken(ines: Caller) -> None:
    first = ines.publish(make.skill_md())
    again = ines.publish(make.skill_md())
    other = ines.publish(make.skill_md(body="# Other words\n"))
    numbers = [answer.json()["results"][0]["version"] for answer in (first, again, other)]
    assert numbers[:2] == ["1.0.0", "1.0.0"]
    assert numbers[2] > "1.0.0"
    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 201)


def test_the_version_in_the_bundle_wins_and_that_is_said(ines: Caller) -> None:
    answer = ines.publish(make.skill_md(version="1.5.0"), version="2.0.0")
    assert answer.json()["results"][0]["version"] == "1.5.0"
    assert "version-from-bundle" in codes(answer)


def test_into_a_set(ines: Caller) -> None:
    make.skill_set("front-office")
    assert ines.publish(make.skill_md(), set="front-office").status_code == 201
    assert Skill.objects.get().sets.get().slug == "front-office"
    assert_problem(ines.publish(make.skill_md("other"), set="no-such-set"), 422, "set-unknown")


WRONG: tuple[Any, ...] = (5, True, [1], {"a": 1}, ["\x00"], "a\x00b", 1.5, "x" * 30_000, [["a"]])


@pytest.mark.parametrize(
    "field",
    [
        *("team", "version", "set", "risk_level", "permissions", "tags", "stability", "notes", "dry_run"),
        *("metadata", "instructions", "resources"),
    ],
)
def test_a_field_of_another_type_is_refused(ines: Caller, field: str) -> None:
    for value in WRONG:
        if field == "dry_run" and value is True:
            continue
        if field in {"instructions", "notes"} and isinstance(value, str) and "\x00" not in value:
            continue
        answer = ines.post("publish", body(**{field: value}))
        assert 400 <= answer.status_code < 500, (field, value, answer.content[:200])
    assert not Version.objects.exists()


def test_every_wrong_field_is_told_at_once(ines: Caller) -> None:
    wrong = {"risk_level": "lwo", "permissions": ["fly"], "stability": 5, "metadata": [], "dry_run": "maybe"}
    told = assert_problem(ines.post("publish", body(**wrong)), 422, "field-invalid")
    assert {error["field"] for error in told["errors"]} == set(wrong)


@pytest.mark.parametrize("value", ["[" * 100_000, "[1]", "[", '["a", 5]', "x" * 65, "a,b\x01"])
def test_a_list_in_a_form_that_is_none_is_refused(ines: Caller, value: str) -> None:
    assert_problem(ines.publish(make.skill_md(), tags=value), 422, "field-invalid")


def test_a_file_where_a_field_should_be(ines: Caller) -> None:
    for field in ("team", "version", "set", "tags", "permissions", "risk_level", "notes", "dry_run"):
        file = SimpleUploadedFile("a.txt", b"x")
        assert_problem(ines.publish(make.skill_md(), **{field: file}), 422, "field-invalid")
    told = ines.form("publish", {"team": "payments", "file": "no file but text"})
    assert_problem(told, 422, "file-missing")
    two = [SimpleUploadedFile("SKILL.md", make.skill_md()), SimpleUploadedFile("b.md", make.skill_md("b"))]
    assert_problem(ines.form("publish", {"team": "payments", "file": two}), 422, "file-ambiguous")


def test_who_may_not_publish(cast: make.Cast) -> None:
    for name in ("sven", "mara", "lena", "ravi", "ada", "nora"):
        for dry_run in ("false", "true"):
            answer = caller(cast, name).publish(make.skill_md(), dry_run=dry_run)
            assert_problem(answer, 403, "not-allowed")
    assert_problem(caller(cast, "ines", ("read",)).publish(make.skill_md()), 403, "scope-missing")
    assert_problem(caller(cast, "ines").publish(make.skill_md(), team="nobody"), 422, "team-unknown")
    assert not Skill.objects.exists()


def test_the_name_of_another_teams_skill(cast: make.Cast, ines: Caller) -> None:
    make.version("order-lookup", "3.4.5", team=cast.support, publisher=cast.sven)
    answer = ines.publish(make.skill_md("order-lookup"))
    assert answer.status_code == 422
    (result,) = answer.json()["results"]
    assert "name-collision" in codes(answer)
    # Nothing is told of the versions of a skill that is not one's own.
    assert result["version"] == "1.0.0"


def test_a_team_only_skill_does_not_show_in_a_refusal(cast: make.Cast, ines: Caller) -> None:
    hidden = make.skill("secret.plan", team=cast.support, publisher=cast.sven, files=MANIFEST)
    Skill.objects.filter(pk=hidden.pk).update(visibility=Skill.Visibility.TEAM)
    for name in ("secret.plan", "secret-plan"):
        answer = ines.publish(make.skill_md(name.replace(".", "-")), dry_run="true")
        text = answer.content.decode()
        assert "name-collision" in codes(answer)
        assert "secret.plan" not in text
        assert "team" not in text
        assert "is not free" in text


MANIFEST = {"manifest.yaml": make.manifest("secret.plan"), "run.py": b"print('done')\n"}


def test_a_dependency_does_not_tell_of_a_team_only_skill(cast: make.Cast, ines: Caller) -> None:
    hidden = make.skill("secret-plan", team=cast.support, publisher=cast.sven)
    needs = make.manifest(more="dependencies: {secret-plan: 1.0.0}\n")
    content = zipped({"manifest.yaml": needs, "run.py": b"print('done')\n"})
    assert "dependency-missing" not in codes(ines.publish(content, "a.zip", dry_run="true"))
    Skill.objects.filter(pk=hidden.pk).update(visibility=Skill.Visibility.TEAM)
    assert "dependency-missing" in codes(ines.publish(content, "a.zip", dry_run="true"))
