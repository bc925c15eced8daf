"""OpenTelemetry payloads as plain values, and which of their spans and log records are calls of skills.

Pure: bytes in, dataclasses out (OTLP 1.x, protobuf and JSON).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """A span that concerns no skill, typed and not yet masked. Ids are hex digits."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    failed: bool
    started_at: datetime
    duration_ms: int
    attributes: Mapping[str, Any]
