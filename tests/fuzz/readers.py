"""The readers of hostile bytes, each as a function of bytes, and what each starts from."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from catalog.bundles.archives import read_upload
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.manifest import read_manifest
from catalog.bundles.reading import read_bundle
from catalog.bundles.runtimes import judge
from catalog.bundles.schemas import check_schema, check_value
from catalog.bundles.skillmd import read_skill_md
from governance.otlp import Batch, TooLarge, Unreadable, inflate, read_logs, read_traces
from tests.clients import recordings
from tests.governance.otlp_payloads import (
    binary_records,
    binary_spans,
    json_records,
    json_spans,
    record,
    span,
)

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "catalog" / "samples" / "skills"
HOSTILE = ROOT.parent / "shared" / "hostile" / "bundles"
LIMITS = Limits()
# Twice what MAX_TRACE_BYTES is where nobody says more.
MOST_INFLATED = 10 * 1024 * 1024
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def read_archive(data: bytes) -> None:
    """An upload under each name that it may have, and every bundle in it."""
    for name in ("bundle.zip", "bundle.tar.gz"):
        for tree in read_upload(data, filename=name, limits=LIMITS).trees[:3]:
            judge(read_bundle(tree, limits=LIMITS))


def read_frontmatter(data: bytes) -> None:
    """A SKILL.md, and the same bytes as the frontmatter of one."""
    read_skill_md(File("SKILL.md", data))
    framed = File("SKILL.md", b"---\n" + data + b"\n---\nBody\n")
    read_skill_md(framed)
    judge(read_bundle(Tree("demo", (framed,)), limits=LIMITS))


def read_manifest_file(data: bytes) -> None:
    """A manifest beside a suite that holds the same bytes."""
    file = File("manifest.yaml", data)
    tree = Tree("demo", (file, File("run.py", b"#!/usr/bin/env python3\n"), File("tests/cases.json", data)))
    read_manifest(file, tree, limits=LIMITS)
    read_bundle(tree, limits=LIMITS)


def read_schema(data: bytes) -> None:
    """A schema, and a value judged by it; bytes that are no JSON are told nothing."""
    try:
        schema = json.loads(data)
    except (ValueError, RecursionError):
        return
    findings = check_schema(schema, path="manifest.yaml", field="input_schema")
    if isinstance(schema, dict) and not any(finding.severity == "error" for finding in findings):
        check_value(schema, schema)


def read_spans(data: bytes) -> None:
    """An OTLP request with spans: as protobuf, as JSON, and what it is when it came in gzip."""
    _read_telemetry(data, lambda payload: read_traces(payload, now=NOW))


def read_records(data: bytes) -> None:
    """The same with log records."""
    _read_telemetry(
        data, lambda payload: read_logs(payload, now=NOW, digest=lambda told: sha256(told).hexdigest())
    )


def _read_telemetry(data: bytes, read: Callable[[object], Batch]) -> None:
    bodies = [data]
    with suppress(Unreadable, TooLarge):
        bodies.append(inflate(data, most=MOST_INFLATED))
    for body in bodies:
        with suppress(Unreadable, TooLarge):
            read(body)
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            continue
        with suppress(Unreadable, TooLarge):
            read(payload)


READERS: Mapping[str, Callable[[bytes], None]] = {
    "archive": read_archive,
    "frontmatter": read_frontmatter,
    "manifest": read_manifest_file,
    "schema": read_schema,
    "spans": read_spans,
    "records": read_records,
}


def seeds(reader: str) -> list[bytes]:
    """Inputs that the reader knows how to read, from the samples and, where it is there, the hostile set."""
    if reader == "archive":
        return _archives()
    if reader == "frontmatter":
        return [path.read_bytes() for path in sorted(SAMPLES.rglob("SKILL.md"))]
    manifests = [path.read_bytes() for path in sorted(SAMPLES.rglob("manifest.yaml"))]
    if reader == "manifest":
        return manifests
    if reader == "spans":
        return _telemetry("/v1/traces", binary_spans(span(), span("chat", {})), json_spans(span()))
    if reader == "records":
        return _telemetry("/v1/logs", binary_records(record()), json_records(record()))
    return [json.dumps(schema).encode() for schema in SCHEMAS]


def _telemetry(path: str, binary: bytes, parsed: object) -> list[bytes]:
    """What real senders sent there, and a request in each encoding, as it is and in gzip."""
    recorded = [one.body for one in map(recordings.read, recordings.names()) if one.path == path]
    made = [binary, json.dumps(parsed).encode()]
    return [*recorded, *made, *(gzip.compress(body) for body in made)]


def _archives() -> list[bytes]:
    made = []
    for folder in sorted(path.parent for path in SAMPLES.rglob("SKILL.md"))[:6]:
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        packed, tarred = io.BytesIO(), io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        with tarfile.open(fileobj=tarred, mode="w:gz") as tar:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
        made += [packed.getvalue(), tarred.getvalue()]
    hostile = sorted(HOSTILE.glob("*")) if HOSTILE.is_dir() else []
    return made + [path.read_bytes() for path in hostile if path.stat().st_size < 20_000]


SCHEMAS = [
    {"type": "object", "properties": {"q": {"type": "string", "pattern": "^(a|b)+$", "default": "a"}}},
    {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {"type": ["integer", "null"]}},
    },
    {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"enum": [1, "x", None]}},
        "additionalProperties": False,
    },
    {"type": "object", "allOf": [{"properties": {"a": {"items": {"$ref": "#"}}}}], "minProperties": 2},
    {"type": "object", "patternProperties": {"^x-": {"oneOf": [{"const": 1}, {"format": "date"}]}}},
]
