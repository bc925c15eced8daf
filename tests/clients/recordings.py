"""What real senders sent, kept in `recorded/` for tests of the receiver: `python -m tests.clients.recordings` makes them.

Each file tells the program and version that made it, and holds the headers and the body (Base64 of the bytes after
chunks were put together, still in gzip where Content-Encoding says so). All data in them are made up.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from tests.clients import programs
from tests.clients.recorder import Received, record

FOLDER = Path(__file__).parent / "recorded"
GZIP = {"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}
FRAMEWORK = {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}
# Headers of this machine and this run alone.
LEFT_OUT = {"host", "authorization"}


@dataclass(frozen=True)
class Recording:
    """One request of a real sender."""

    made_by: str
    path: str
    headers: dict[str, str]
    body: bytes


def read(name: str) -> Recording:
    """The recording of that name."""
    told = json.loads((FOLDER / f"{name}.json").read_text())
    body = base64.b64decode("".join(told.pop("body")))
    return Recording(body=body, **told)


def names() -> list[str]:
    """The names of all recordings."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def make() -> None:
    """Run each sender against the small server, and write what it sent."""
    for name, path, module, more in (
        ("python_spans", "/v1/traces", programs.SPANS, {}),
        ("python_spans_gzip", "/v1/traces", programs.SPANS, GZIP),
        ("python_events", "/v1/logs", programs.EVENTS, {}),
        ("framework_spans", "/v1/traces", programs.FRAMEWORK, FRAMEWORK | {"ENABLE_SENSITIVE_DATA": "true"}),
        ("framework_messages", "/v1/logs", programs.FRAMEWORK, FRAMEWORK | {"ENABLE_SENSITIVE_DATA": "true"}),
        ("framework_spans_hidden", "/v1/traces", programs.FRAMEWORK, FRAMEWORK),
    ):
        with record() as recorder:
            programs.run_python(module, programs.settings(recorder.url, "qm_made_up", **more))
        _write(name, recorder.at(path), made_by=_made_by(module))
    for name, more in (("javascript_spans", {}), ("javascript_spans_gzip", GZIP)):
        with record() as recorder:
            told = programs.settings(recorder.url, "qm_made_up", **more)
            programs.run_javascript("spans.mjs", told)
        _write(name, recorder.at("/v1/traces"), made_by=_made_by("js"))


def _made_by(module: str) -> str:
    if module == "js":
        packages = json.loads((programs.JS / "package-lock.json").read_text())["packages"]
        names = ("@opentelemetry/exporter-trace-otlp-http", "@opentelemetry/sdk-trace-node")
        told = [f"{name} {packages[f'node_modules/{name}']['version']}" for name in names]
        return f"{' with '.join(told)}, run by tests/clients/js/spans.mjs"
    names = ("opentelemetry-exporter-otlp-proto-http", "opentelemetry-sdk")
    if module == programs.FRAMEWORK:
        names = ("agent-framework-core", *names)
    told = [f"{name} {version(name)}" for name in names]
    return f"{' with '.join(told)}, run by {module.replace('.', '/')}.py"


def _write(name: str, received: list[Received], *, made_by: str) -> None:
    [one] = received
    body = base64.b64encode(one.body).decode()
    told = {
        "made_by": made_by,
        "path": one.path,
        "headers": {key: value for key, value in one.headers.items() if key not in LEFT_OUT},
        "body": [body[at : at + 100] for at in range(0, len(body), 100)],
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    make()
