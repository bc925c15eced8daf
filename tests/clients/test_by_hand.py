"""The shortest example of docs/traces.md: a span in JSON, compressed and in chunks, sent by curl."""

from __future__ import annotations

import gzip
import json
import subprocess
import time
from typing import Any

import pytest

from governance.models import Call
from tests.clients.arrivals import everything
from tests.clients.conftest import Scene
from tests.clients.senders.told import EMAIL
from tests.requirements import find_program

pytestmark = pytest.mark.slow

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


def span(skill: str) -> dict[str, Any]:
    """One span of a skill, as OTLP has it in JSON."""
    now = time.time_ns()
    attributes = {"gen_ai.skill.name": skill, "gen_ai.skill.version": "1.0.0", "enduser.email": EMAIL}
    return {
        "traceId": TRACE_ID,
        "spanId": "b7ad6b7169203331",
        "name": f"skill {skill}",
        "startTimeUnixNano": str(now - 250_000_000),
        "endTimeUnixNano": str(now),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }


def send(receiver: str, token: str, body: bytes, *more: str) -> tuple[int, str]:
    """The status and the body that curl is answered; what it reads from a pipe it sends in chunks."""
    done = subprocess.run(
        [
            find_program("curl"),
            *("--silent", "--show-error", "--max-time", "60", "--write-out", "\n%{http_code}"),
            *("--header", f"Authorization: Bearer {token}"),
            *("--header", "Content-Type: application/json"),
            *("--header", "Transfer-Encoding: chunked", *more),
            *("--data-binary", "@-", f"{receiver}/v1/traces"),
        ],
        input=body,
        capture_output=True,
        check=True,
        timeout=90,
    )
    answer, _, status = done.stdout.decode().rpartition("\n")
    return int(status), answer


def test_a_span_by_curl_in_chunks_with_and_without_gzip_is_one_call(scene: Scene, receiver: str) -> None:
    payload = {"resourceSpans": [{"scopeSpans": [{"spans": [span("refund-check")]}]}]}
    body = json.dumps(payload).encode()
    packed = gzip.compress(body)
    assert send(receiver, scene.token, packed, "--header", "Content-Encoding: gzip") == (200, "{}")
    # The same span again is a duplicate, in whatever encoding it comes.
    assert send(receiver, scene.token, body) == (200, "{}")

    [call] = Call.objects.all()
    assert (call.trace_id, call.kind, call.duration_ms) == (TRACE_ID, "called", 250)
    assert (call.version_id, call.release_id) == (scene.release.version_id, scene.release.pk)
    assert EMAIL not in everything()

    status, answer = send(receiver, scene.token, b"\x1f\x8b no gzip", "--header", "Content-Encoding: gzip")
    assert status == 400
    assert "not gzip" in json.loads(answer)["message"]
    assert Call.objects.count() == 1
