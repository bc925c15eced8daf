"""The shared sets of hostile and of real uploads over REST, where they lie beside the checkout.

Each case goes to an empty catalog, save for what it says comes first.
"""

from __future__ import annotations

import json
import re
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.db import connection
from django.http import HttpResponse
from pytest_django import Settings

from catalog.models import Blob, Skill, Version
from tests.portal.api.callers import Caller, codes, zipped
from tests.portal.api.watched import watched
from tests.requirements import shared

HOSTILE_SET, REAL_SET = shared("hostile"), shared("real-skills")
HOSTILE, REAL = HOSTILE_SET.folder, REAL_SET.folder
SECONDS = 2

pytestmark = pytest.mark.django_db


CASES = {case["id"]: case for case in HOSTILE_SET.lines("expected.jsonl")}
SKILLS = REAL_SET.lines("index.jsonl")
WARNINGS: dict[str, set[str]] = {}
for one in CASES.values():
    if one["expect"] == "accept-with-warning":
        WARNINGS.setdefault(one["family"], set()).add(one["code"])


@pytest.fixture(autouse=True)
def own_folder(settings: Settings, tmp_path: Path) -> None:
    """Large parts of a form wait in the test's folder too."""
    (tmp_path / "tmp").mkdir()
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "tmp"


def upload(ines: Caller, case: dict[str, Any]) -> HttpResponse:
    """Upload a case as its publisher would."""
    file = HOSTILE / case["file"]
    return ines.publish(file.read_bytes(), file.name, version="1.0.0")


def assert_sound(folder: Path) -> None:
    """The store and the record add up, and no part of an upload was left behind."""
    out = StringIO()
    call_command("verify", stdout=out, stderr=out)
    assert not list((folder / "tmp").iterdir())
    stored = {path.name for path in folder.glob("blobs/**/*") if path.is_file()}
    assert stored == set(Blob.objects.values_list("pk", flat=True))


@HOSTILE_SET.needed
@pytest.mark.parametrize("name", list(CASES))
def test_a_hostile_upload(ines: Caller, name: str, tmp_path: Path) -> None:
    case = CASES[name]
    for before in case["after"]:
        assert upload(ines, CASES[before]).status_code == 201, before
    kept = set(Version.objects.values_list("bundle_sha256", flat=True))
    with watched() as watch:
        answer = upload(ines, case)
    assert watch.seconds < SECONDS
    assert watch.outside(tmp_path) == []
    if connection.vendor == "sqlite":
        assert watch.connections == []
    found, wanted = set(codes(answer)), {case["code"], *case["also"]}
    results = answer.json()["results"]
    errors = [f for one in results for f in one["findings"] if f["severity"] == "error"]
    if case["expect"] == "reject":
        assert answer.status_code in {409, 422}, found
        assert found & wanted, found
        assert errors
        assert set(Version.objects.values_list("bundle_sha256", flat=True)) == kept
    else:
        assert answer.status_code in {200, 201}, errors
        assert not errors
        if case["expect"] == "accept":
            assert not found & WARNINGS.get(case["family"], set())
        assert not wanted - {""} or found & wanted, found
    if check := CHECKS.get(name):
        check(ines, answer)
    assert_sound(tmp_path)


def skill(ines: Caller) -> dict[str, Any]:
    """The only skill, with its latest version."""
    read = ines.get(f"skills/{Skill.objects.get().folder}").json()
    found: dict[str, Any] = ines.get(f"skills/{read['folder']}/versions/{read['latest_version']}").json()
    return {**read, **found}


def has(**fields: Any) -> Any:
    """A check that the stored skill has these fields."""

    def check(ines: Caller, _: HttpResponse) -> None:
        read = skill(ines)
        assert {name: read[name] for name in fields} == fields

    return check


def has_files(*paths: str) -> Any:
    """A check of the tree that was stored."""

    def check(ines: Caller, _: HttpResponse) -> None:
        assert sorted(file["path"] for file in skill(ines)["files"]) == sorted(paths)

    return check


def has_file_like(pattern: str) -> Any:
    """A check that a stored path fits, is listed and is downloaded under its own name."""

    def check(ines: Caller, _: HttpResponse) -> None:
        read = skill(ines)
        (path,) = (file["path"] for file in read["files"] if re.search(pattern, file["path"]))
        base = f"skills/{read['folder']}/versions/{read['version']}"
        answer = ines.send("GET", f"{base}/bundle.zip")
        with ZipFile(BytesIO(answer.content)) as archive:
            assert path in archive.namelist()

    return check


def tells_no_secret(ines: Caller, answer: HttpResponse) -> None:
    """No long word of the upload that looks random is in the reply."""
    case = next(one for one in CASES.values() if HOSTILE / one["file"] == HOSTILE / sent_of(answer))
    with ZipFile(HOSTILE / case["file"]) as archive:
        text = b"\n".join(archive.read(name) for name in archive.namelist()).decode()
    words = {word for word in re.findall(r"[A-Za-z0-9+/=_-]{16,}", text) if re.search(r"\d", word)}
    assert words
    assert not [word for word in words if word in answer.content.decode()]
    assert not Version.objects.exists()


def sent_of(answer: HttpResponse) -> str:
    """The path of the case that was sent."""
    return f"bundles/{answer.wsgi_request.FILES['file'].name}"


def runs_nowhere(ines: Caller, _: HttpResponse) -> None:
    """Every file is an attachment in a sandbox."""
    read = skill(ines)
    for file in read["files"]:
        answer = ines.send("GET", f"skills/{read['folder']}/versions/{read['version']}/files/{file['path']}")
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Disposition"].startswith("attachment")
        assert "sandbox" in answer["Content-Security-Policy"]


def latest(version: str) -> Any:
    """A check of which version is the latest."""

    def check(ines: Caller, _: HttpResponse) -> None:
        assert ines.get(f"skills/{Skill.objects.get().folder}").json()["latest_version"] == version

    return check


def one_version(_: Caller, answer: HttpResponse) -> None:
    """There is one version, as it was."""
    assert Version.objects.count() == 1
    assert answer.json()["results"][0]["version"] == "1.0.0"


def description_ends(text: str) -> Any:
    """A check of the end of the description."""

    def check(ines: Caller, _: HttpResponse) -> None:
        assert skill(ines)["description"].endswith(text)

    return check


def shows_norway(ines: Caller, _: HttpResponse) -> None:
    """`NO` and `on` are texts."""
    read = json.dumps(skill(ines))
    assert '"NO"' in read
    assert '"on"' in read


CHECKS: dict[str, Any] = {
    "zip-backslash-separator": has_files("SKILL.md", "docs/a.md"),
    "tar-dot-slash": has_files("SKILL.md", "docs/a.md"),
    "zip-quote-in-name": has_file_like("['\"]"),
    "zip-template-in-name": has_file_like(r"\{\{7\*7\}\}"),
    "zip-utf8-name-no-flag": has_file_like("über.md$"),
    "layout-svg-script": runs_nowhere,
    "layout-html-file": runs_nowhere,
    "md-bom": has(name="demo-skill"),
    "md-dashes-in-description": description_ends("tables"),
    "yaml-case-variant-key": has(name="demo-skill"),
    "yaml-unquoted-hash": has(description="Handles C"),
    "yaml-norway": shows_norway,
    "yaml-name-exponent": has(name="1e3"),
    "yaml-block-scalar": has(description="Formats tables."),
    "manifest-semver-10": latest("1.10.0"),
    "manifest-semver-pre": latest("1.10.0"),
    "manifest-same-version-other-bytes": one_version,
    "manifest-same-version-same-bytes": one_version,
    "manifest-perm-map-false": has(permissions=[]),
    **dict.fromkeys(
        ("secret-aws", "secret-pem", "secret-github", "secret-slack", "secret-dotenv", "secret-in-skill-md"),
        tells_no_secret,
    ),
}


@REAL_SET.needed
@pytest.mark.parametrize("entry", SKILLS, ids=lambda entry: str(entry["path"]))
def test_a_real_skill(ines: Caller, entry: dict[str, Any], tmp_path: Path) -> None:
    folder = REAL / entry["path"]
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = {f"{folder.name}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in paths}
    content = zipped(files)
    with watched() as watch:
        answer = ines.publish(content, f"{folder.name}.zip")
    assert watch.seconds < SECONDS
    assert watch.outside(tmp_path) == []
    found = set(codes(answer))
    if entry["expect"] == "reject":
        assert answer.status_code == 422
        assert found & set(entry["reject_codes"]), found
    else:
        assert answer.status_code == 201, found
        read = skill(ines)
        assert len(read["files"]) == len(files)
        for file in read["files"][:3]:
            path = f"skills/{read['folder']}/versions/{read['version']}/files/{file['path']}"
            assert ines.send("GET", path).content == files[f"{folder.name}/{file['path']}"]
    assert_sound(tmp_path)
