"""What agents report as rows: masked, cut to the columns, ready to be written many at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.db import models

from governance.bulk import Row
from governance.calls import Reported
from governance.masking import Masked, Masker, SubjectTag
from governance.masks import IDS, settled_id
from governance.models import Call, CallDetail, ContextSpan
from governance.models import SubjectTag as TagRow
from governance.models.traces import Outcome
from governance.otlp import Span
from governance.storable import storable

# What one span of context may hold; more is cut to a word that says so.
LONGEST_ATTRIBUTES = 32 * 1024
CUT = '{"cut":"The attributes of this span were longer than 32 KiB."}'

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def _columns(model: type[models.Model], *, without: Sequence[str] = ()) -> tuple[str, ...]:
    return tuple(field.column for field in model._meta.concrete_fields if field.column not in without)


def _lengths(model: type[models.Model]) -> dict[str, int]:
    return {field.name: field.max_length for field in model._meta.concrete_fields if field.max_length}


CALL_COLUMNS = _columns(Call)
DETAIL_COLUMNS = _columns(CallDetail)
SPAN_COLUMNS = _columns(ContextSpan)
TAG_COLUMNS = _columns(TagRow, without=("id",))
# What is one of our own words, or a code of three letters, says nothing of anybody, whatever an instance's rules match.
_OURS = frozenset({"kind", "outcome", "failed_stage", "currency"})
_OK, _ERROR = Outcome.OK.value, Outcome.ERROR.value
_CALL_LENGTHS, _SPAN_LENGTHS = _lengths(Call), _lengths(ContextSpan)


@dataclass(frozen=True, slots=True)
class MaskedCall:
    """A call whose ids and payloads are masked; `row` and `detail` hold the columns that the agent decides."""

    row: Mapping[str, Any]
    detail: Mapping[str, str | None]
    tags: frozenset[SubjectTag]

    @property
    def name(self) -> str:
        """What makes it one call of its agent in its environment."""
        return str(self.row["call_id"])

    def call_row(self, pk: int, more: Mapping[str, Any]) -> Row:
        """The row of `Call`."""
        values = {**self.row, **more, "id": pk}
        return tuple([values[column] for column in CALL_COLUMNS])

    def detail_row(self, pk: int) -> Row:
        """The row of `CallDetail`."""
        values = {**self.detail, "call_id": pk}
        return tuple([values[column] for column in DETAIL_COLUMNS])

    def tag_rows(self, pk: int, key_id: str) -> list[Row]:
        """The rows of `SubjectTag`."""
        return [(pk, None, tag.hash, key_id, tag.kind) for tag in self.tags]


@dataclass(frozen=True, slots=True)
class MaskedSpan:
    """A span of context, masked."""

    row: Mapping[str, Any]
    tags: frozenset[SubjectTag]

    @property
    def name(self) -> tuple[str, str]:
        """What makes it one span of its agent in its environment: trace and span."""
        return self.row["trace_id"], self.row["span_id"]

    def span_row(self, pk: int, more: Mapping[str, Any]) -> Row:
        """The row of `ContextSpan`."""
        values = {**self.row, **more, "id": pk}
        return tuple([values[column] for column in SPAN_COLUMNS])

    def tag_rows(self, pk: int, key_id: str) -> list[Row]:
        """The rows of `SubjectTag`."""
        return [(None, pk, tag.hash, key_id, tag.kind) for tag in self.tags]


def mask_calls(calls: Sequence[Reported], masker: Masker) -> list[MaskedCall]:
    """Both halves of each call, masked: the ids too, for nobody knows what an agent takes for an id."""
    texts = [
        {name: value for name, value in one.row.items() if type(value) is str and name not in _OURS}
        for one in calls
    ]
    payloads = [{"row": row, "detail": one.detail} for row, one in zip(texts, calls, strict=True)]
    found = masker.mask_each(payloads)
    return [_call(one, told, masker) for one, told in zip(calls, found, strict=True)]


def _call(one: Reported, found: Masked, masker: Masker) -> MaskedCall:
    payloads = found.value["detail"]
    detail = {
        "user_intent": _clean(payloads["user_intent"]),
        "candidates": json_text(payloads["candidates"]),
        "selection_reason": _clean(payloads["selection_reason"]),
        "parameters": json_text(payloads["parameters"]),
        "output": json_text(payloads["output"]),
        "spans": json_text(payloads["spans"]),
    }
    row = _settled(one.row, found.value["row"], masker, _CALL_LENGTHS)
    return MaskedCall({**one.row, **row}, detail, found.tags)


def mask_spans(spans: Sequence[Span], masker: Masker) -> list[MaskedSpan]:
    """The spans of context, masked."""
    texts = [
        {name: getattr(one, name) for name in ("trace_id", "span_id", "parent_id", "name")} for one in spans
    ]
    payloads = [{"row": row, "attributes": one.attributes} for row, one in zip(texts, spans, strict=True)]
    found = masker.mask_each(payloads)
    return [_span(one, row, told, masker) for one, row, told in zip(spans, texts, found, strict=True)]


def _span(one: Span, texts: Mapping[str, str], found: Masked, masker: Masker) -> MaskedSpan:
    attributes = json_text(found.value["attributes"]) or "{}"
    row = {
        **_settled(texts, found.value["row"], masker, _SPAN_LENGTHS),
        "outcome": _ERROR if one.failed else _OK,
        "started_at": one.started_at,
        "duration_ms": one.duration_ms,
        "attributes": attributes if len(attributes) <= LONGEST_ATTRIBUTES else CUT,
    }
    return MaskedSpan(row, found.tags)


def json_text(value: object) -> str | None:
    """The value as the text of a JSON column, without what no database takes; None for null."""
    if value is None:
        return None
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        # Lone surrogates and integers over 64 bits; JSON inside a text is read too, and may hold both.
        return json.dumps(storable(value), ensure_ascii=False)
    if "\\u0000" in text:
        return json.dumps(storable(value), ensure_ascii=False)
    return text


def _clean(text: str) -> str:
    """The text without what no database takes."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def _settled(
    texts: Mapping[str, Any], found: Mapping[str, str], masker: Masker, lengths: Mapping[str, int]
) -> dict[str, str]:
    """The masked texts as long as their columns, for a mask may be longer than what it stands for."""
    return {
        name: settled_id(masker, texts[name], text)
        if name in IDS and text != texts[name]
        else _clean(text)[: lengths.get(name)]
        for name, text in found.items()
    }
