"""OpenTelemetry payloads as plain values, and which of their spans and log records are calls of skills.

Pure: bytes in, dataclasses out (OTLP 1.x, protobuf and JSON).
"""

from __future__ import annotations

from datetime import datetime

from governance.otlp import json_form, protobuf
from governance.otlp.activations import Digest
from governance.otlp.inflation import inflate
from governance.otlp.records import Batch, Refused, Span, TooLarge, Unreadable
from governance.otlp.sorting import sort_records, sort_spans

__all__ = ["Batch", "Refused", "Span", "TooLarge", "Unreadable", "inflate", "read_logs", "read_traces"]


def read_traces(payload: object, *, now: datetime) -> Batch:
    """Sort an ExportTraceServiceRequest: bytes are protobuf, all else was parsed from JSON.

    Raises Unreadable, and TooLarge for more spans than are taken at a time.
    """
    found = protobuf.read_spans(payload) if isinstance(payload, bytes) else json_form.read_spans(payload)
    return sort_spans(found, now=now)


def read_logs(payload: object, *, now: datetime, digest: Digest) -> Batch:
    """The same of an ExportLogsServiceRequest. `digest` makes ids of records: under a key, for what it
    is given may hold what is masked elsewhere.
    """
    found = protobuf.read_records(payload) if isinstance(payload, bytes) else json_form.read_records(payload)
    return sort_records(found, now=now, digest=digest)
