"""What a bundle says of itself; the feed and a version answer it alike."""

from __future__ import annotations

from portal.api.shapes.words import (
    BOOLEAN,
    INTEGER,
    JSON,
    SHA256,
    TEXT,
    TEXTS,
    Shape,
    listed,
    maybe,
    one_of,
    record,
)

RISK = one_of("low", "medium", "high")
STABILITY = one_of("experimental", "stable", "deprecated")
FILE = record(path=TEXT, size=INTEGER, sha256=SHA256, executable=BOOLEAN)

CARD: dict[str, Shape] = {
    "license": maybe(TEXT),
    "compatibility": maybe(TEXT),
    "metadata": JSON,
    "allowed_tools": maybe(TEXTS),
    "when_to_use": maybe(TEXT),
    "context": one_of("inline", "fork"),
    "paths": TEXTS,
    "arguments": TEXTS,
    "argument_hint": maybe(TEXT),
    "user_invocable": BOOLEAN,
    "model_invocable": BOOLEAN,
    "model": maybe(TEXT),
    "extra": JSON,
    "kind": one_of("skill", "tool"),
    "run": maybe(TEXT),
    "model_hint": maybe(TEXT),
    "context_fields": TEXTS,
    "input_schema": JSON,
    "output_schema": JSON,
    "dependencies": {"type": "object", "additionalProperties": TEXT},
    "idempotency": record(declared=maybe(BOOLEAN), fields=TEXTS),
    "cache": record(ttl_ms=maybe(INTEGER)),
    "timeout_ms": maybe(INTEGER),
    "errors": listed(JSON),
    "retry": JSON,
    "alternatives": TEXTS,
    "runtime": JSON,
    "author": maybe(TEXT),
}
