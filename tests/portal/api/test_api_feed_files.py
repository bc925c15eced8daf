"""Resources and bundle.zip of the feed."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from io import BytesIO
from zipfile import ZipFile

import pytest

from catalog.models import Version
from portal.downloads import attachment
from tests import make
from tests.portal.api.callers import Caller, assert_problem

pytestmark = pytest.mark.django_db

BASE = "feed/skills/refund-check/"


def digest(content: bytes) -> str:
    """The value of Repr-Digest (RFC 9530)."""
    return f"sha-256=:{b64encode(sha256(content).digest()).decode()}:"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("references/rules.md", b"# Rules\n"),
        ("rules.md", b"# Rules\n"),
        ("./references/rules.md", b"# Rules\n"),
        ("table.csv", b"a,b\n"),
        ("references/notes.md", b"# Notes\n"),
        ("assets/notes.md", b"# Other notes\n"),
        ("scripts/check.py", b"#!/usr/bin/env python3\nprint('checked')\n"),
    ],
)
def test_by_path_or_bare_name(desk: Caller, refunds: Version, path: str, content: bytes) -> None:
    answer = desk.get(f"{BASE}resources/{path}")
    assert (answer.status_code, answer.content) == (200, content)
    assert answer["ETag"] == f'"{sha256(content).hexdigest()}"'
    assert answer["Repr-Digest"] == digest(content)
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"].startswith("attachment;")
    assert answer["X-Quartermaster-Assignment"] == "stable"


def test_a_bare_name_in_both_folders_is_ambiguous(desk: Caller, refunds: Version) -> None:
    assert_problem(desk.get(f"{BASE}resources/notes.md"), 409, "resource-ambiguous")


@pytest.mark.parametrize("path", ["none.md", "check.py", "references", "references/", "SKILL.md/", "a%00"])
def test_an_unknown_path(desk: Caller, refunds: Version, path: str) -> None:
    answer = desk.get(f"{BASE}resources/{path}")
    assert answer.status_code == (400 if "%00" in path else 404)
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path",
    [
        *("../SKILL.md", "..", "references/../../x", "%2e%2e/SKILL.md", "%2e%2e%2fSKILL.md"),
        *("..%5cSKILL.md", "..%5C..%5Cetc%5Cpasswd", "references%5c..%5c..%5cx", "%2fetc%2fpasswd"),
        *("/etc/passwd", "%5c%5cserver%5cshare", "C:%5cWindows%5cwin.ini", "c:/x", "file:///etc/passwd"),
        *("%252e%252e/SKILL.md", "%252e%252e%252fSKILL.md", "%25252e%25252e%25252fx", "a/%2E%2E/b"),
    ],
)
def test_a_path_that_leaves_the_bundle(desk: Caller, refunds: Version, path: str) -> None:
    assert_problem(desk.get(f"{BASE}resources/{path}"), 400, "path-traversal")


def test_not_modified(desk: Caller, refunds: Version) -> None:
    for path in ("resources/rules.md", "bundle.zip"):
        etag = desk.get(BASE + path)["ETag"]
        for sent in (etag, f'"x", W/{etag}', "*"):
            answer = desk.get(BASE + path, If_None_Match=sent)
            assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", etag)
        assert desk.get(BASE + path, If_None_Match='"x"').status_code == 200


def test_bundle_zip_is_flat_and_the_same_each_time(desk: Caller, refunds: Version) -> None:
    answer = desk.get(f"{BASE}bundle.zip", Accept="application/zip")
    assert answer["Content-Type"] == "application/zip"
    assert answer["ETag"] == f'"{sha256(answer.content).hexdigest()}"'
    assert answer["Repr-Digest"] == digest(answer.content)
    assert 'filename="refund-check-1.0.0.zip"' in answer["Content-Disposition"]
    assert desk.get(f"{BASE}bundle.zip").content == answer.content
    head = desk.head(f"{BASE}bundle.zip")
    assert (head["ETag"], head.content) == (answer["ETag"], b"")
    with ZipFile(BytesIO(answer.content)) as archive:
        assert archive.namelist() == [
            *("SKILL.md", "assets/notes.md", "assets/table.csv"),
            *("references/notes.md", "references/rules.md", "scripts/check.py"),
        ]
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
    assert modes["scripts/check.py"] == 0o755
    assert modes["SKILL.md"] == 0o644


def test_bundle_zip_of_a_tool_has_a_skill_md(desk: Caller, cast: make.Cast) -> None:
    files = {"manifest.yaml": make.manifest("web.search"), "run.py": b"pass\n"}
    make.release(make.version("web.search", cast=cast, files=files), "production", cast=cast)
    answer = desk.get("feed/skills/web.search/bundle.zip")
    with ZipFile(BytesIO(answer.content)) as archive:
        assert archive.namelist() == ["SKILL.md", "manifest.yaml", "run.py"]


def test_a_page_among_the_files_runs_in_no_browser(desk: Caller, cast: make.Cast) -> None:
    files = {"assets/page.html": b"<script>alert(1)</script>"}
    make.release(make.version(cast=cast, files=files), "production", cast=cast)
    answer = desk.get(f"{BASE}resources/page.html")
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"].startswith("attachment;")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ('a"b.md', "a_b.md"),
        ("a\r\nSet-Cookie: x=y", "a__Set-Cookie__x_y"),
        ("отчёт.md", "_____.md"),
        ("a;filename=b", "a_filename_b"),
        ("a\x00b", "a_b"),
    ],
)
def test_no_file_name_breaks_out_of_its_header(name: str, plain: str) -> None:
    answer = attachment(b"x", name, "text/plain", "00" * 32)
    value = answer["Content-Disposition"]
    assert value.startswith(f"attachment; filename=\"{plain}\"; filename*=UTF-8''")
    assert not set("\r\n\x00") & set(value)
