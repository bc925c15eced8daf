"""What a payload holds once it is decoded, the same for both encodings, and what is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


class Unreadable(Exception):
    """The payload is not what it says it is; the text says where."""


class TooLarge(Exception):
    """The payload holds, or inflates to, more than is taken; the text says how much is."""


class Odd(Exception):
    """One span or log record cannot be read; the others can."""


@dataclass(frozen=True, slots=True)
class Span:
    """A span that concerns no skill, typed and not yet masked.

    `span_id` and `parent_id` have the form of `record_id`, as the ids of calls do, so that either can be
    found from the other.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    failed: bool
    started_at: datetime
    duration_ms: int
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Refused:
    """A span or log record that was not taken: its id as the sender knows it, and why."""

    label: str
    message: str


@dataclass(frozen=True, slots=True)
class Batch:
    """A payload sorted: raw calls in the contract's shape, context, and what cannot be read.

    `labels` are the ids of `calls` as the sender knows them. `left` counts log records that are not about skills.
    """

    calls: tuple[dict[str, Any], ...] = ()
    labels: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    refused: tuple[Refused, ...] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose spans they are: the attributes of the resource, and the name and version of the scope."""

    resource: dict[str, Any]
    scope: str


@dataclass(slots=True)
class Event:
    """Something that happened in a span; `at` in nanoseconds since 1970."""

    name: str
    at: int
    attributes: dict[str, Any]


@dataclass(slots=True)
class Sent:
    """A span as it was sent. Ids are lower-case hex digits, times nanoseconds since 1970, 0 where none is given."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: int
    start: int
    end: int
    failed: bool
    status: str
    attributes: dict[str, Any]
    events: list[Event]
    links: list[str]
    origin: Origin


@dataclass(slots=True)
class SentLog:
    """A log record as it was sent; `name` is that of its event, "" for a plain line."""

    trace_id: str
    span_id: str
    at: int
    name: str
    body: Any
    attributes: dict[str, Any]
    origin: Origin


def record_id(trace_id: str, span_id: str) -> str:
    """The id of a span here. Senders may use a span's id again in another trace, so both are needed."""
    return f"{trace_id}-{span_id}" if span_id else ""


def check_ids(trace_id: str, span_id: str) -> None:
    """Raise Odd for ids that are not those of a span (W3C Trace Context: 16 and 8 bytes, not all zero)."""
    if len(trace_id) != 32 or not trace_id.strip("0"):
        raise Odd(_told("trace id", trace_id, 32))
    if len(span_id) != 16 or not span_id.strip("0"):
        raise Odd(_told("span id", span_id, 16))


def _told(what: str, text: str, digits: int) -> str:
    if len(text) == digits:
        return f"its {what} is all zeros"
    return f"its {what} has {len(text)} hex digits; {digits} are needed"
