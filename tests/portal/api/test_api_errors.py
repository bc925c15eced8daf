"""Every refusal under /api/v1 is application/problem+json, and no defect tells of itself."""

from __future__ import annotations

import io
import logging

import pytest

from portal.api import skills
from portal.logs import Masked
from tests import make
from tests.portal.api.callers import API, Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db

UNKNOWN = (
    "nope",
    "feed/",
    "feed/nope",
    "skills/a/b",
    "releases/not-a-uuid",
    "schema/x",
    "../x",
    "%2e%2e/x",
)


@pytest.mark.parametrize("path", UNKNOWN)
def test_an_unknown_address(ines: Caller, path: str) -> None:
    for who in (ines, Caller()):
        for method in ("GET", "POST", "DELETE", "PATCH"):
            assert_problem(who.send(method, path), 404, "not-found")


def test_the_foot_of_the_api_without_a_slash(ines: Caller) -> None:
    for path in ("/api/v1", "/api/v2/feed", "/api/"):
        answer = ines.client.get(path, headers={"Authorization": f"Bearer {ines.secret}"})
        assert answer.status_code in {301, 404}
        if answer.status_code == 404:
            assert_problem(answer, 404, "not-found")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "BREW"])
def test_a_method_that_is_none(ines: Caller, method: str) -> None:
    for path in ("publish", "skills", "releases", "traces", "audit-log"):
        answer = ines.send(method, path)
        assert_problem(answer, 405, "method-not-allowed")
        assert method not in answer["Allow"]
    assert ines.send("POST", "skills")["Allow"] == "GET, HEAD"


def test_accept(ines: Caller) -> None:
    assert_problem(ines.get("skills", Accept="text/html"), 406, "not-acceptable")
    for accept in ("*/*", "application/json", "application/*", "text/html, application/json;q=0.1", ""):
        assert ines.get("skills", Accept=accept).status_code == 200
    assert ines.get("skills?format=xml").status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "application/x-www-form-urlencoded", "a"])
def test_a_media_type_that_is_none(ines: Caller, kind: str) -> None:
    for path in ("publish", "releases"):
        answer = ines.send("POST", path, data="a=b", content_type=kind)
        assert_problem(answer, 415, "unsupported-media-type")


@pytest.mark.parametrize("body", ["{", "", "nope", "[1", '{"a": 1} x', b"\xff", "[" * 500, "NaN", '"\ud800"'])
def test_a_body_that_is_no_json(ines: Caller, body: str | bytes) -> None:
    sent = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    answer = ines.post("releases", sent)
    if body:
        assert_problem(answer, 400, "body-invalid")
    else:
        assert_problem(answer, 422, "field-invalid")
    assert_problem(ines.post("releases", '{"skill": "a\\u0000"}'), 400, "body-invalid")
    assert_problem(ines.post("releases", '{"note": ' + "[" * 90 + "]" * 90 + "}"), 400, "body-invalid")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=", b"x"),
        ("multipart/form-data; boundary=\xe4", b"x"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\n"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data; name=file; filename="),
        ("Multipart/Form-Data; boundary=x", b""),
        (
            "multipart/form-data; boundary=x",
            (
                b'--x\r\nContent-Disposition: form-data; name="team"\r\n'
                b"Content-Transfer-Encoding: base64\r\n\r\n!!!\r\n--x--\r\n"
            ),
        ),
        (
            "multipart/form-data; boundary=x",
            b"".join(
                b'--x\r\nContent-Disposition: form-data; name="f%d"\r\n\r\n\r\n' % n for n in range(1100)
            )
            + b"--x--\r\n",
        ),
    ],
)
def test_a_form_that_is_malformed(ines: Caller, kind: str, body: bytes) -> None:
    answer = ines.send("POST", "publish", data=body, content_type=kind)
    assert 400 <= answer.status_code < 500
    assert answer["Content-Type"] == "application/problem+json"


def test_who_asks(cast: make.Cast) -> None:
    answer = Caller().get("skills")
    assert_problem(answer, 401, "not-authenticated")
    assert answer["WWW-Authenticate"] == 'Bearer realm="quartermaster"'
    for header in ("Bearer", "Bearer ", "Basic eDp5", "bearer", "qm_x", "\xff"):
        sent = Caller().send("GET", "skills", headers={"Authorization": header})
        assert sent.status_code == 401, header
    for secret in ("qm_unknown", "qm_" + "x" * 5000, "\xff\xfe", "a b c"):
        assert_problem(Caller(secret).get("skills"), 401, "token-invalid")
    assert_problem(caller(cast, "ines", ("publish",)).get("skills"), 403, "scope-missing")


def test_a_session_is_no_token(cast: make.Cast) -> None:
    who = Caller()
    who.client.force_login(cast.ada)
    assert_problem(who.get("skills"), 401, "not-authenticated")
    assert_problem(who.post("releases", {}), 401, "not-authenticated")


@pytest.mark.parametrize(
    "path",
    [
        *(
            "skills?q=%00",
            "skills/%00",
            "skills?cursor=%00",
            "skills/a%00b/versions/1.0.0",
            "audit-log?actor=%00",
        ),
        *("releases?skill=%00", "traces?q=%00", "traces/%00"),
    ],
)
def test_a_nul_in_an_address(ines: Caller, path: str) -> None:
    assert_problem(ines.get(path), 400, "request-invalid")


def test_long_and_broken_queries(ines: Caller, desk: Caller) -> None:
    long = "x" * 60_000
    for path in (f"skills?q={long}", f"skills?tag={long}", "skills?q=%ff%fe%c3", "skills?" + "a=b&" * 500):
        assert ines.get(path).status_code == 200
    assert ines.get(f"skills/{long}").status_code == 404
    assert ines.get("skills?" + "a=b&" * 2000).status_code in {200, 400}
    for path in (f"feed?key={long}", f"feed?fields={long}", "feed?key=%ff", "feed?key=a&key=b"):
        assert desk.get(path).status_code == 200


def test_a_defect_tells_nothing_and_is_logged_masked(ines: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no room for ina.berg@example.com")

    monkeypatch.setattr(skills, "_with_parts", fail)
    written = io.StringIO()
    handlers = [
        one for one in logging.getLogger().handlers if any(isinstance(f, Masked) for f in one.filters)
    ]
    assert handlers
    for handler in handlers:
        assert isinstance(handler, logging.StreamHandler)
        monkeypatch.setattr(handler, "stream", written)
    answer = ines.client.get(API + "skills", headers={"Authorization": f"Bearer {ines.secret}"})
    body = assert_problem(answer, 500, "server-error")
    assert "room" not in str(body)
    assert "RuntimeError: no room for [EMAIL·" in written.getvalue()
    assert "ina.berg" not in written.getvalue()


def test_the_rate_limit_of_a_token(ines: Caller, cast: make.Cast, settings: object) -> None:
    settings.RATE_LIMIT = 3  # type: ignore[attr-defined]
    answers = [ines.get("skills") for _ in range(8)]
    told = assert_problem(answers[-1], 429, "rate-limit")
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60
    assert told["detail"]
    assert answers[0].status_code == 200
    # Another token has a limit of its own, and who has none learns nothing.
    assert caller(cast, "ravi").get("skills").status_code == 200
    assert Caller().get("skills").status_code == 401
