"""Every refusal of the addresses of OTLP: its status, its code and its words, in both encodings."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import override_settings
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as bounds
from hypothesis import strategies as st
from pytest_django import Settings

from catalog.models import Token
from catalog.tokens import USER_SCOPES
from governance import traces
from governance.models import Call
from portal.api import authentication, throttling
from tests import make
from tests.governance.otlp_payloads import (
    ANY_ATTRIBUTES,
    LOAD,
    binary_records,
    binary_spans,
    json_spans,
    record,
    span,
)
from tests.portal.protocols.sender import JSON, LOGS, PROTOBUF, TRACES, Sender, status_of

pytestmark = pytest.mark.django_db
KINDS = pytest.mark.parametrize("kind", [PROTOBUF, JSON])
PATHS = pytest.mark.parametrize("path", [TRACES, LOGS])
BODIES = {PROTOBUF: binary_spans(), JSON: b"{}"}


@KINDS
@PATHS
def test_nobody(kind: str, path: str) -> None:
    answer = Sender().send(BODIES[kind], path, kind=kind)
    assert status_of(answer) == (401, 16, "This address needs a token: Authorization: Bearer qm_…")
    assert answer["WWW-Authenticate"] == 'Bearer realm="quartermaster"'


@KINDS
def test_an_unknown_an_expired_and_a_revoked_token(desk: Sender, kind: str) -> None:
    told = (401, 16, "The token is unknown, expired or revoked; ask for a new one.")
    assert status_of(Sender("qm_unknown").send(BODIES[kind], kind=kind)) == told
    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert status_of(desk.send(BODIES[kind], kind=kind)) == told
    Token.objects.update(expires_at=timezone.now() + timedelta(days=1), revoked_at=timezone.now())
    assert status_of(desk.send(BODIES[kind], kind=kind)) == told


@KINDS
@PATHS
def test_a_token_without_the_scope_and_one_of_a_user(cast: make.Cast, kind: str, path: str) -> None:
    told = (403, 7, "The token lacks the scope traces:write.")
    feed = make.token(agent=make.agent(team=cast.payments), scopes=("feed",))[1]
    user = make.token(user=cast.ada, scopes=USER_SCOPES)[1]
    for secret in (feed, user):
        assert status_of(Sender(secret).send(BODIES[kind], path, kind=kind)) == told
    # No user is given the scope; if one had it all the same:
    secret = make.token(user=cast.lena, scopes=USER_SCOPES)[1]
    Token.objects.filter(user=cast.lena).update(scopes=["traces:write"])
    told = (403, 7, "Calls are reported with the token of an agent.")
    assert status_of(Sender(secret).send(BODIES[kind], path, kind=kind)) == told


@PATHS
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_another_method(desk: Sender, path: str, method: str) -> None:
    answer = desk.send(BODIES[PROTOBUF], path, method=method)
    assert status_of(answer) == (405, 12, f'Method "{method}" not allowed.')
    assert answer["Allow"] == "POST"


@PATHS
def test_another_type(desk: Sender, path: str) -> None:
    for kind, told in (("text/plain", "text/plain"), ("application/protobuf", "application/protobuf")):
        message = f"Send application/x-protobuf or application/json; this is {told}."
        assert status_of(desk.send(b"x", path, kind=kind)) == (415, 3, message)


@KINDS
def test_another_coding(desk: Sender, kind: str) -> None:
    for coding in ("zstd", "gzip, gzip", "deflate"):
        told = status_of(desk.send(BODIES[kind], kind=kind, Content_Encoding=coding))
        assert told == (415, 3, f"Send the body as it is or with gzip; this is {coding}.")


@pytest.mark.parametrize(
    ("path", "body", "kind", "message"),
    [
        (TRACES, b"\xff\xff", PROTOBUF, "The body is not an ExportTraceServiceRequest in protobuf."),
        (LOGS, b"\xff\xff", PROTOBUF, "The body is not an ExportLogsServiceRequest in protobuf."),
        (TRACES, b"[]", JSON, "The body is not an OTLP request in JSON: what holds them is no object."),
        (LOGS, b'{"resourceLogs": 5}', JSON, "The body is not an OTLP request in JSON: resourceLogs is no list."),
        (TRACES, b"{", JSON, "The body is not JSON: unexpected end of data: line 1 column 2 (char 1)."),
    ],
)  # fmt: skip
def test_a_body_that_is_none(desk: Sender, path: str, body: bytes, kind: str, message: str) -> None:
    assert status_of(desk.send(body, path, kind=kind)) == (400, 3, message)


@KINDS
def test_gzip_that_is_none(desk: Sender, kind: str) -> None:
    whole = gzip.compress(b"{}" if kind == JSON else binary_spans(span()))
    for body, message in (
        (b"{}", "The body is not gzip, though Content-Encoding says so."),
        (whole[:-1], "The gzip body ends before its end; it was cut off."),
    ):
        assert status_of(desk.send(body, kind=kind, Content_Encoding="gzip")) == (400, 3, message)


@KINDS
def test_what_is_too_large(desk: Sender, kind: str, settings: Settings) -> None:
    settings.MAX_TRACE_BYTES = 1000
    too_long = (413, 8, "The body is over the limit of 1000 bytes.")
    assert status_of(desk.send(b"x" * 1001, kind=kind)) == too_long
    bomb = gzip.compress(bytes(900_000))
    told = (413, 8, "The body inflates to over 2000 bytes; send fewer records at a time.")
    assert status_of(desk.send(bomb, kind=kind, Content_Encoding="gzip")) == told


@KINDS
def test_more_requests_than_the_token_has(
    desk: Sender, kind: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMIT = 2
    # 60 seconds before the next minute.
    monkeypatch.setattr(throttling.time, "time", lambda: 1_800_000_000.0 if kind == JSON else 1_900_000_020.0)
    answers = [desk.send(BODIES[kind], path, kind=kind) for path in (TRACES, LOGS, TRACES)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    wait = 60 if kind == JSON else round(60 - 1_900_000_020.0 % 60)
    assert status_of(answers[2])[:2] == (429, 8)
    assert answers[2]["Retry-After"] == str(wait)
    assert [answer["RateLimit"].split(";")[1] for answer in answers] == ["r=1", "r=0", "r=0"]


@KINDS
def test_a_store_that_takes_nothing_now(desk: Sender, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(traces, "store", fail)
    payload: Any = binary_spans(span()) if kind == PROTOBUF else json_spans(span())
    answer = desk.send(payload)
    assert status_of(answer) == (503, 14, "The store is busy; send the batch again in 5 seconds.")
    assert answer["Retry-After"] == "5"
    monkeypatch.undo()
    assert desk.send(payload).status_code == 200
    assert Call.objects.count() == 1


@KINDS
def test_a_database_that_is_away_is_busy(desk: Sender, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(authentication, "read_token", fail)
    answer = desk.send(BODIES[kind], kind=kind)
    assert status_of(answer) == (503, 14, "The store is busy; send the batch again in 5 seconds.")
    assert answer["Retry-After"] == "5"


@KINDS
def test_a_fault_of_ours_tells_nothing_of_itself(
    desk: Sender, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("ina@example.com")

    monkeypatch.setattr(traces, "store", fail)
    payload: Any = binary_spans(span()) if kind == PROTOBUF else json_spans(span())
    headers = {"Authorization": f"Bearer {desk.secret}"}
    answer = desk.client.post(TRACES, payload, kind, headers=headers)
    assert status_of(answer) == (500, 13, "Something failed on our side; it was logged.")


def changed(valid: bytes) -> st.SearchStrategy[bytes]:
    """A valid body with some bytes of it replaced, left out or added."""
    at = st.integers(0, len(valid))
    return st.tuples(at, at, st.binary(max_size=8)).map(
        lambda one: valid[: one[0]] + one[2] + valid[one[1] :]
    )


ANY_BODY = st.one_of(
    st.binary(max_size=200),
    ANY_ATTRIBUTES.map(lambda told: binary_spans(span(attributes={**LOAD, **told}), span("x", told, span_id="ab" * 8))),
    ANY_ATTRIBUTES.map(lambda told: binary_records(record(attributes={**told, "skill.name": "a"}))),
    changed(binary_spans(span(), span("chat", {"a": [1, {"b": None}]}), resource={"service.name": "desk"})),
    changed(b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":'
            b'"eee19b7ec3c1b174","name":"x","startTimeUnixNano":"1796040000000000000","attributes":[{"key":"skill.name"'
            b',"value":{"stringValue":"a"}},{"key":"b","value":{"arrayValue":{"values":[{"intValue":1}]}}}]}]}]}]}'),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["resourceSpans", "scopeSpans", "spans", "resourceLogs", "scopeLogs", "logRecords", "attributes",
                 "key", "value", "traceId", "spanId", "arrayValue", "values", "kvlistValue", "status", "events"]
            ),
            inner, max_size=4,
        ),
        max_leaves=20,
    ).map(lambda data: json.dumps(data).encode()),
)  # fmt: skip


@pytest.mark.slow
@bounds(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=ANY_BODY,
    kind=st.sampled_from([PROTOBUF, JSON]),
    path=st.sampled_from([TRACES, LOGS]),
    coding=st.sampled_from(["", "", "gzip"]),
    pack=st.booleans(),
)
def test_whatever_is_sent_is_answered(
    desk: Sender, body: bytes, kind: str, path: str, coding: str, pack: bool
) -> None:
    sent = gzip.compress(body) if coding and pack else body
    with override_settings(RATE_LIMIT=0):
        answer = desk.send(sent, path, kind=kind, **({"Content_Encoding": coding} if coding else {}))
    assert answer.status_code in {200, 400}
    if answer.status_code == 400:
        assert status_of(answer)[1] == 3
        assert status_of(answer)[2].endswith(".")
