"""docs/traces.md's commands, in their order, by an author of an agent with a shell and the SDK."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from governance.otlp import inflation, room, values
from governance.otlp.acts import ARGUMENTS, KIND_OF_TOOL, MODEL_OPERATIONS, TOOL_NAMES
from governance.otlp.calls import GIVEN, INTENTS, MODELS, RESULTS, SESSIONS
from governance.store import MOST_SPANS
from portal.protocols.statuses import CODES
from tests.requirements import find_program
from tests.served.instance import ROOT, Instance

TEXT = (ROOT / "docs" / "traces.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """The blocks of a language, in their order."""
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.slow
def test_every_command_reports_what_it_says(served: Instance, tmp_path: Path) -> None:
    find_program("curl")
    token, rest, variables, curl, claude = blocks("sh")
    [program] = blocks("python")
    (tmp_path / "report.py").write_text(program)
    # The environment of Claude Code is that of any SDK that sends log records.
    script = "\necho ----\n".join(
        (f"set -eu\n{token}", rest, curl, f"{variables}{claude}{sys.executable} report.py")
    )
    script = script.replace("http://127.0.0.1:8000", served.url)
    script = script.replace(".venv/bin/python manage.py", f"{sys.executable} {ROOT / 'manage.py'}")
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path, env=served.environ, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    _, by_rest, by_curl, by_sdk = (part.strip() for part in done.stdout.split("----\n"))
    assert json.loads(by_rest) == {"accepted": 1, "duplicates": 0, "rejected": []}
    assert by_curl == "{}"
    assert (by_sdk, done.stderr) == ("", "")
    told = served.manage(
        "shell", "--verbosity", "0", "--command",
        "from governance.models import Call\n"
        "for call in Call.objects.filter(agent__name='trace-desk').order_by('pk'):\n"
        "    print(call.source, call.kind, call.skill_text, call.version_text, call.session_id, call.duration_ms > 800)",
    )  # fmt: skip
    assert told.splitlines() == [
        "rest called refund-check 1.0.0  True",
        "otlp loaded refund-check   True",
        "otlp called refund-check 1.0.0 session-1 False",
    ]


@pytest.mark.parametrize(
    "name",
    [
        *ARGUMENTS,
        *KIND_OF_TOOL,
        *sorted(MODEL_OPERATIONS),
        *TOOL_NAMES,
        *INTENTS,
        *MODELS,
        *RESULTS[:3],
        *SESSIONS,
        *GIVEN,
    ],
)
def test_a_name_that_is_read_is_told(name: str) -> None:
    assert f"`{name}`" in TEXT


def test_the_limits_are_those_that_hold() -> None:
    part = TEXT.split("## Limits", 1)[1].split("\n## ", 1)[0]
    for number in (
        *(room.MOST_RECORDS, room.MOST_VALUES, values.LONGEST_TEXT, values.MOST_ATTRIBUTES),
        *(values.MOST_EVENTS, values.MOST_LINKS, values.DEPTH, inflation.MOST_MEMBERS),
    ):
        assert re.search(rf"\b{number:,}\b", part), number
    assert f"at most {MOST_SPANS} of a trace" in TEXT


def test_every_refusal_is_told() -> None:
    part = TEXT.split("## Answers", 1)[1]
    assert {int(one) for one in re.findall(r"^\| (\d{3}) \|", part, re.MULTILINE)} == CODES.keys() - {500}
