"""Who calls the API in tests. Every answer is held against the API's document as it comes in."""

from __future__ import annotations

import json
import re
from functools import cache
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator

PROBLEM = "application/problem+json"
API = "/api/v1/"


class Caller:
    """Sends requests with a token; paths are relative to /api/v1/."""

    def __init__(self, secret: str = "") -> None:
        self.client = Client(raise_request_exception=False)
        self.secret = secret

    def send(self, method: str, path: str, **more: Any) -> HttpResponse:
        """The answer to a request; no answer is a 500, and each is one that the document tells of."""
        headers = {**({"Authorization": f"Bearer {self.secret}"} if self.secret else {})}
        headers |= more.pop("headers", {})
        answer = self.client.generic(method, API + path, headers=headers, **more)
        assert answer.status_code != 500, (method, path, answer.content[:300])
        hold_against_document(method, path, answer)
        return answer

    def get(self, path: str, **headers: str) -> HttpResponse:
        """A GET; `If_None_Match=…` is a header."""
        return self.send("GET", path, headers=named(headers))

    def head(self, path: str, **headers: str) -> HttpResponse:
        """A HEAD."""
        return self.send("HEAD", path, headers=named(headers))

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """A POST of JSON; text and bytes are sent as they are."""
        data = body if isinstance(body, str | bytes) else json.dumps({} if body is None else body)
        return self.send("POST", path, data=data, content_type="application/json", headers=named(headers))

    def form(self, path: str, fields: dict[str, Any], **headers: str) -> HttpResponse:
        """A POST of a multipart form."""
        more = {"Authorization": f"Bearer {self.secret}", **named(headers)}
        answer = self.client.post(API + path, fields, headers=more)
        assert answer.status_code != 500, (path, answer.content[:300])
        hold_against_document("POST", path, answer)
        return answer

    def publish(self, content: bytes, name: str = "SKILL.md", **fields: Any) -> HttpResponse:
        """Publish a file for Payments."""
        file = SimpleUploadedFile(name, content)
        return self.form("publish", {"team": "payments", "file": file, **fields})


def named(headers: dict[str, str]) -> dict[str, str]:
    """Header names, written as arguments."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


def zipped(files: dict[str, bytes]) -> bytes:
    """A zip of the files."""
    buffer = BytesIO()
    with ZipFile(buffer, "w") as out:
        for path, content in files.items():
            out.writestr(path, content)
    return buffer.getvalue()


def codes(answer: HttpResponse) -> list[str]:
    """The codes of the findings in all results of a publication."""
    return [finding["code"] for result in answer.json()["results"] for finding in result["findings"]]


def assert_problem(answer: HttpResponse, status: int, code: str) -> dict[str, Any]:
    """It is this problem, with every member of RFC 9457 that we give; answers its body."""
    assert answer.status_code == status, (answer.status_code, answer.content[:300])
    assert answer["Content-Type"] == PROBLEM
    body: dict[str, Any] = answer.json()
    assert body.keys() >= {"type", "title", "status", "detail", "code"}
    assert (body["status"], body["code"]) == (status, code), body
    assert body["title"]
    assert body["detail"]
    return body


@cache
def document() -> dict[str, Any]:
    """The API's document."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return json.loads(json.dumps(made))


def hold_against_document(method: str, path: str, answer: HttpResponse) -> None:
    """Fail where the answer is none that the document tells of for this address."""
    match = resolve(API + path.partition("?")[0].replace("%", "_"))
    if match.url_name in {"api-unknown", "api-schema"} or answer.status_code in {400, 405, 406, 413, 415}:
        return
    route = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", match.route)
    operation = document()["paths"][route].get("get" if method == "HEAD" else method.lower())
    told = operation["responses"]
    assert str(answer.status_code) in told, f"{method} {route} does not tell of {answer.status_code}"
    kind = answer.get("Content-Type", "").partition(";")[0]
    if method == "HEAD" or not answer.content:
        return
    content = told[str(answer.status_code)].get("content", {})
    if "application/octet-stream" in content:
        return
    assert kind in content, f"{method} {route} does not tell of {kind}"
    if kind.endswith("json"):
        errors = sorted(validator(content[kind]["schema"]["$ref"]).iter_errors(answer.json()), key=str)
        assert not errors, f"{method} {route}: {errors[0].message} at {list(errors[0].path)}"


@cache
def validator(reference: str) -> Draft202012Validator:
    """What validates against a named shape of the document."""
    return Draft202012Validator({"$ref": reference, "components": document()["components"]})
