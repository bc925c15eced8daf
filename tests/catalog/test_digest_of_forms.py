"""One tree has one digest, in whatever form it comes, through the real ways in."""

from __future__ import annotations

import base64
import json
import tarfile
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from catalog.bundles.digest import bundle_digest
from catalog.bundles.files import File
from catalog.models import Version
from tests import make

pytestmark = pytest.mark.django_db

Files = dict[str, bytes]

FILES: Files = {
    "SKILL.md": make.skill_md(version="1.0.0"),
    "LICENSE": b"Apache-2.0\n",
    "assets/logo.png": b"\x89PNG\r\n\x1a\n\x00\xff\xfe binary",
    "assets/empty.txt": b"",
    "references/a.md": b"Line ends stay:\r\nas they are.\n",
    "references/a/b.md": b"A path that sorts by bytes, not by parts.\n",
    "references/a-b.md": b"Before or after the slash.\n",
    "references/\u4f60\u597d.md": "你好\n".encode(),
    "references/Zebra.md": b"Capitals first.\n",
    "scripts/run.sh": b"#!/bin/sh\necho done\n",
    "scripts/plain.txt": b"no interpreter\n",
}
DIGEST = bundle_digest([File(path, content) for path, content in FILES.items()])


def zipped(
    files: Files, *, backwards: bool = False, folder: str = "", kind: int = ZIP_DEFLATED,
    when: tuple[int, int, int, int, int, int] = (1980, 1, 1, 0, 0, 0), mode: int = 0o644, folders: bool = False,
) -> bytes:  # fmt: skip
    """A zip of the files."""
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        if folders and folder:
            archive.writestr(ZipInfo(folder, when), b"")
        for path, content in sorted(files.items(), reverse=backwards):
            info = ZipInfo(f"{folder}{path}", when)
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = kind
            archive.writestr(info, content)
    return out.getvalue()


def tarred(
    files: Files, *, folder: str = "", mode: int = 0o644, backwards: bool = False, form: int = 1
) -> bytes:
    """A tar.gz of the files."""
    out = BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=form) as archive:
        for path, content in sorted(files.items(), reverse=backwards):
            info = tarfile.TarInfo(f"{folder}{path}")
            info.size, info.mode, info.mtime, info.uname = len(content), mode, 1_700_000_000, "ines"
            archive.addfile(info, BytesIO(content))
    return out.getvalue()


Form = Callable[[Files], tuple[str, bytes]]
FORMS: dict[str, Form] = {
    "zip": lambda files: ("a.zip", zipped(files)),
    "zip backwards": lambda files: ("a.zip", zipped(files, backwards=True)),
    "zip stored": lambda files: ("a.zip", zipped(files, kind=ZIP_STORED)),
    "zip of another day": lambda files: ("a.zip", zipped(files, when=(2031, 5, 17, 13, 14, 16))),
    "zip executable": lambda files: ("a.zip", zipped(files, mode=0o755)),
    "zip without modes": lambda files: ("a.zip", zipped(files, mode=0)),
    "zip in a folder": lambda files: ("a.zip", zipped(files, folder="refund-check/", folders=True)),
    "tar.gz": lambda files: ("a.tar.gz", tarred(files)),
    "tar.gz backwards": lambda files: ("a.tar.gz", tarred(files, backwards=True)),
    "tar.gz executable": lambda files: ("a.tar.gz", tarred(files, mode=0o777)),
    "tar.gz in a folder": lambda files: ("a.tgz", tarred(files, folder="refund-check/")),
    "tar.gz of dots": lambda files: ("a.tar.gz", tarred(files, folder="./")),
    "tar.gz with pax headers": lambda files: ("a.tar.gz", tarred(files, form=tarfile.PAX_FORMAT)),
}


@pytest.fixture
def caller(client: Client) -> Callable[..., dict[str, Any]]:
    """Publishes by REST for Payments and answers the one result."""
    cast = make.cast()
    _, secret = make.token(user=cast.ines, scopes=("publish",))

    def call(body: Any, status: int, **options: Any) -> dict[str, Any]:
        answer = client.post(
            "/api/v1/publish", body, headers={"Authorization": f"Bearer {secret}"}, **options
        )
        assert answer.status_code == status, answer.content
        [result] = answer.json()["results"]
        assert isinstance(result, dict)
        return result

    return call


def send(
    caller: Callable[..., dict[str, Any]], name: str, content: bytes, status: int = 200, **fields: str
) -> dict[str, Any]:
    """Publish a file; as a dry run where nothing else is said."""
    file = SimpleUploadedFile(name, content)
    return caller({"file": file, "team": "payments", "dry_run": "true", **fields}, status)


def unpacked(tmp_path: Path, files: Files, name: str = "refund-check") -> Path:
    """The files in a folder, the script not executable."""
    for path, content in files.items():
        place = tmp_path / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(0o640)
    return tmp_path / name


def as_json(files: Files, encode: Callable[[bytes], Any]) -> dict[str, Any]:
    """The JSON form, its SKILL.md among the resources."""
    front = {"name": "refund-check", "description": make.DESCRIPTION}
    resources = {path: encode(content) for path, content in files.items()}
    return {
        "team": "payments",
        "dry_run": True,
        "metadata": front,
        "instructions": "",
        "resources": resources,
    }


def in_base64(content: bytes) -> dict[str, str]:
    """The content as base64."""
    return {"base64": base64.b64encode(content).decode()}


@pytest.mark.parametrize("form", FORMS)
def test_archives(caller: Callable[..., dict[str, Any]], form: str) -> None:
    result = send(caller, *FORMS[form](FILES))
    assert (result["status"], result["bundle_sha256"]) == ("checked", DIGEST), result["findings"]


@pytest.mark.parametrize("kind", [ZIP_BZIP2, ZIP_LZMA])
def test_other_compressions_are_the_same_or_refused(caller: Callable[..., dict[str, Any]], kind: int) -> None:
    file = SimpleUploadedFile("a.zip", zipped(FILES, kind=kind))
    result = caller({"file": file, "team": "payments", "dry_run": "true"}, 422)
    assert result["status"] == "rejected"
    assert result["findings"]


def test_a_folder(caller: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    out = StringIO()
    folder = unpacked(tmp_path, FILES)
    call_command("import_skills", str(folder), team="payments", dry_run=True, format="json", stdout=out)
    [result] = json.loads(out.getvalue())["results"]
    assert (result["status"], result["bundle_sha256"]) == ("checked", DIGEST)


@pytest.mark.parametrize("mixed", [True, False])
def test_json(caller: Callable[..., dict[str, Any]], mixed: bool) -> None:
    def encode(content: bytes) -> Any:
        try:
            return content.decode() if mixed else in_base64(content)
        except UnicodeDecodeError:
            return in_base64(content)

    result = caller(as_json(FILES, encode), 200, content_type="application/json")
    assert (result["status"], result["bundle_sha256"]) == ("checked", DIGEST), result["findings"]


def test_a_single_file(caller: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    only = {"SKILL.md": FILES["SKILL.md"]}
    digest = bundle_digest([File("SKILL.md", FILES["SKILL.md"])])
    assert send(caller, "SKILL.md", only["SKILL.md"])["bundle_sha256"] == digest
    assert send(caller, "a.zip", zipped(only))["bundle_sha256"] == digest
    assert send(caller, "a.tar.gz", tarred(only))["bundle_sha256"] == digest


def test_what_one_form_publishes_the_others_leave_unchanged(
    caller: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    first = send(caller, *FORMS["zip"](FILES), status=201, dry_run="")
    assert (first["status"], first["bundle_sha256"]) == ("published", DIGEST)
    for form in FORMS:
        again = send(caller, *FORMS[form](FILES), dry_run="")
        assert again["status"] == "unchanged", form
    body = as_json(FILES, in_base64) | {"dry_run": False}
    assert caller(body, 200, content_type="application/json")["status"] == "unchanged"
    out = StringIO()
    call_command("import_skills", str(unpacked(tmp_path, FILES)), team="payments", stdout=out)
    assert out.getvalue().endswith("1 unchanged.\n")
    row = Version.objects.get()
    assert row.bundle_sha256 == DIGEST
    assert dict(row.files.values_list("path", "executable")) == {
        path: content.startswith(b"#!") for path, content in FILES.items()
    }


@pytest.mark.parametrize(
    "change",
    [
        {"references/a.md": b"Line ends stay:\nas they are.\n"},
        {"references/b.md": b"one more\n"},
        {"scripts/plain.txt": b"#!no interpreter\n"},
    ],
)
def test_another_tree_has_another_digest(caller: Callable[..., dict[str, Any]], change: Files) -> None:
    assert send(caller, "a.zip", zipped({**FILES, **change}))["bundle_sha256"] != DIGEST
