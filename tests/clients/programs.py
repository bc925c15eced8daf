"""The programs that send: where each is, and the environment that its docs tell to set."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.requirements import find_program, require

ROOT = Path(__file__).resolve().parents[2]
JS = Path(__file__).parent / "js"
SECONDS = 180

SPANS = "tests.clients.senders.spans"
EVENTS = "tests.clients.senders.events"
FRAMEWORK = "tests.clients.senders.framework"


def settings(url: str, token: str, **more: str) -> dict[str, str]:
    """What docs/traces.md tells to set; nothing else of OpenTelemetry is taken from this process."""
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Bearer {token}",
        **more,
    }


def run_python(module: str, told: dict[str, str]) -> dict[str, Any]:
    """Run a sender in Python to its end; what it prints, and under `log` what it complains of."""
    return _run([sys.executable, "-m", module], told)


def run_javascript(name: str, told: dict[str, str]) -> dict[str, Any]:
    """Run a sender in JavaScript to its end; ends the test where Node or the packages are missing."""
    node = find_program("node")
    if not (JS / "node_modules" / ".package-lock.json").is_file():
        require("the JavaScript senders are not installed: run `make install-js`")
    return _run([node, str(JS / name)], told)


def _run(command: list[str], told: dict[str, str]) -> dict[str, Any]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "ENABLE_"))}
    done = subprocess.run(
        command, cwd=ROOT, env=ours | told, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr[-4000:]
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed | {"log": done.stderr}
