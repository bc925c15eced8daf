"""OTLP through the real server: chunked bodies, the limit before Django, and what stays open."""

from __future__ import annotations

import gzip
import http.client
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import pytest
from google.rpc.status_pb2 import Status

from tests.governance.otlp_payloads import binary_spans, json_spans, span
from tests.served.instance import Instance

pytestmark = pytest.mark.slow
PROTOBUF = "application/x-protobuf"


@pytest.fixture(scope="module")
def token(served: Instance) -> str:
    """Of an agent that reports."""
    return served.token("agent", "otlp-bot", "--environment", "production", "--scopes", "traces:write")


def send(served: Instance, token: str, body: Any, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """The answer; a body that is a list goes out chunked."""
    place = urlsplit(served.url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=30)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    chunked = not isinstance(body, bytes)
    told = {"Authorization": f"Bearer {token}", **named}
    if chunked:
        told["Transfer-Encoding"] = "chunked"
    connection.request("POST", "/v1/traces", body, told, encode_chunked=chunked)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), content


def pieces(content: bytes, size: int = 100) -> Iterable[bytes]:
    """The bytes in pieces."""
    return [content[at : at + size] for at in range(0, len(content), size)]


def stored(served: Instance, *span_ids: str) -> int:
    """How many calls there are of these spans."""
    program = f"from governance.models import Call; print(Call.objects.filter(call_id__regex='({'|'.join(span_ids)})$').count())"
    return int(served.manage("shell", "--verbosity", "0", "--command", program))


def test_chunked_bodies_in_both_encodings_and_gzip(served: Instance, token: str) -> None:
    ids = [letter * 16 for letter in "abcd"]
    binary = [binary_spans(span(span_id=one)) for one in ids[:2]]
    text = [json.dumps(json_spans(span(span_id=one))).encode() for one in ids[2:]]
    for body, headers in (
        (pieces(binary[0]), {"Content_Type": PROTOBUF}),
        (pieces(gzip.compress(binary[1])), {"Content_Type": PROTOBUF, "Content_Encoding": "gzip"}),
        (pieces(text[0]), {"Content_Type": "application/json"}),
        (pieces(gzip.compress(text[1])), {"Content_Type": "application/json", "Content_Encoding": "gzip"}),
    ):
        status, told, content = send(served, token, body, **headers)
        assert (status, content) == (200, b"" if headers["Content_Type"] == PROTOBUF else b"{}"), headers
        assert told["content-type"] == headers["Content_Type"]
        assert "set-cookie" not in told
    assert stored(served, *ids) == 4


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_over_the_limit(served: Instance, token: str, is_chunked: bool) -> None:
    body = bytes(5 * 2**20 + 1)
    status, told, content = send(
        served, token, pieces(body, 2**16) if is_chunked else body, Content_Type=PROTOBUF
    )
    assert (status, told["content-type"]) == (413, PROTOBUF)
    answer = Status.FromString(content)
    assert (answer.code, answer.message) == (8, "The body is over the limit of 5242880 bytes.")


def test_a_body_that_was_cut_off_is_not_taken(served: Instance, token: str) -> None:
    body = gzip.compress(binary_spans(span(span_id="e" * 16)))[:-4]
    status, _, content = send(served, token, body, Content_Type=PROTOBUF, Content_Encoding="gzip")
    assert (status, Status.FromString(content).code) == (400, 3)
    assert stored(served, "e" * 16) == 0
