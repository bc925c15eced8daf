"""Log records that tell of a skill, in both encodings."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest

from governance.calls import read_call
from governance.otlp import Batch, Unreadable, read_logs
from tests.governance.otlp_payloads import SPAN, START, TRACE, binary_records, json_records, record

NOW = datetime(2026, 12, 1, tzinfo=UTC)
CLAUDE = {
    "session.id": "s-1",
    "user.email": "ina@example.com",
    "event.name": "skill_activated",
    "skill.name": "refund-check",
    "skill.source": "userSettings",
}


def digest(told: bytes) -> str:
    """Enough for tests; the portal does it under a key."""
    return sha256(told).hexdigest()


def both(*records: dict[str, Any], **more: Any) -> Batch:
    """What is read of the records in either encoding, which must be one and the same."""
    binary = read_logs(binary_records(*records, **more), now=NOW, digest=digest)
    assert read_logs(json_records(*records, **more), now=NOW, digest=digest) == binary
    return binary


def test_a_skill_that_was_activated_is_a_call_that_loaded_it() -> None:
    sent = record("", CLAUDE, body="claude_code.skill_activated", trace_id=TRACE, span_id=SPAN)
    [call] = both(sent, resource={"service.name": "claude-code"}, scope="events").calls
    assert read_call(call, now=NOW).row["kind"] == "loaded"
    call_id = call["call_id"]
    assert (call_id[:4], len(call_id)) == ("log-", 44)
    assert call == {
        "call_id": call_id,
        "trace_id": TRACE,
        "parent_id": f"{TRACE}-{SPAN}",
        "session_id": "s-1",
        "skill": "refund-check",
        "version": "",
        "kind": "loaded",
        "outcome": "ok",
        "started_at": "2026-11-30T12:00:00+00:00",
        "duration_ms": 0,
        "spans": [
            {
                "span_id": call_id,
                "name": "skill_activated",
                "start_ms": 0,
                "duration_ms": 0,
                "attributes": {
                    "user.email": "ina@example.com",
                    "event.name": "skill_activated",
                    "skill.source": "userSettings",
                    "resource": {"service.name": "claude-code"},
                    "otel.scope": "events",
                },
            }
        ],
    }


@pytest.mark.parametrize(
    "sent",
    [
        record("skill_activated"),
        record("claude_code.skill_activated"),
        record("", {"event.name": "skill_activated", "skill.name": "refund-check"}),
        record("", body="skill_activated"),
        record("", body="claude_code.skill_activated"),
    ],
)
def test_how_an_event_says_its_name(sent: dict[str, Any]) -> None:
    [call] = both(sent).calls
    assert (call["skill"], call["trace_id"], call["parent_id"]) == ("refund-check", "", "")


@pytest.mark.parametrize(
    "sent",
    [
        record("user_prompt", {"prompt": "ina@example.com"}),
        record("", {"skill.name": "refund-check"}, body="A skill was activated"),
        record("", {"skill.name": "refund-check"}, body={"skill_activated": True}),
        record("", {}),
    ],
)
def test_all_other_records_are_let_go(sent: dict[str, Any]) -> None:
    assert both(sent) == Batch(left=1)


def test_an_event_without_a_skill_is_refused_by_itself() -> None:
    batch = both(record(attributes={}), record(), record(attributes={"skill.name": ""}, span_id=SPAN))
    assert len(batch.calls) == 1
    message = "its skill_activated event has no attribute gen_ai.skill.name or skill.name"
    assert [(one.label, one.message) for one in batch.refused] == [("number 1", message), (SPAN, message)]


def test_a_record_that_is_sent_again_has_the_same_id_and_no_other_has() -> None:
    one = record(attributes=CLAUDE)
    shuffled = record(attributes=dict(reversed(CLAUDE.items())))
    others = [
        record(attributes={**CLAUDE, "session.id": "s-2"}),
        record(attributes=CLAUDE, time_unix_nano=START + 1),
        record("claude_code.skill_activated", CLAUDE),
        record(attributes=CLAUDE, trace_id=TRACE),
        record(attributes=CLAUDE, trace_id=TRACE, span_id=SPAN),
    ]
    ids = [call["call_id"] for call in both(one, shuffled, *others).calls]
    assert ids[0] == ids[1]
    assert len({*ids}) == 6


def test_without_its_time_that_of_its_observation_holds() -> None:
    [call] = both(record(time_unix_nano=0, observed_time_unix_nano=START)).calls
    assert call["started_at"] == "2026-11-30T12:00:00+00:00"


def test_what_is_no_request() -> None:
    with pytest.raises(Unreadable, match=r"^The body is not an ExportLogsServiceRequest in protobuf\.$"):
        read_logs(b"\xff\xff", now=NOW, digest=digest)
    with pytest.raises(
        Unreadable, match=r"^The body is not an OTLP request in JSON: logRecords is no list\.$"
    ):
        read_logs({"resourceLogs": [{"scopeLogs": [{"logRecords": 5}]}]}, now=NOW, digest=digest)
    [refused] = read_logs(
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [5]}]}]}, now=NOW, digest=digest
    ).refused
    assert refused.message == "it is no object"
