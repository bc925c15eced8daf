"""Personal data and secrets, sent by every path: the database, the files, the broker and the log hold none of them."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.served import sow_pages, sow_record, sow_reports
from tests.served.dumps import dump
from tests.served.instance import serve_instance
from tests.served.planted import found_in, mark, plants
from tests.served.sower import Sower

pytestmark = pytest.mark.slow
# Until the worker has told of what was done, and what is counted meanwhile is written.
SETTLED = 6.0


@dataclass(frozen=True)
class Sown:
    """What was sent, and all that the instance holds afterwards."""

    sower: Sower
    parts: dict[str, bytes]


@pytest.fixture(scope="module")
def sown(tmp_path_factory: pytest.TempPathFactory) -> Sown:
    """An instance at its most talkative, after everything was sent; looked at while it runs and once it has stopped."""
    folder = tmp_path_factory.mktemp("leaks")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("LOG_LEVEL", "DEBUG")
        sower, parts = _sow(folder)
    log = (folder / "log").read_bytes()
    return Sown(sower, {**parts, "log at the end": log})


def test_nothing_that_was_planted_is_written(sown: Sown) -> None:
    assert len(plants()) >= 25
    assert len(sown.sower.sent) >= 100
    leaks = [f"{part}: {find}" for part, content in sown.parts.items() for find in found_in(content)]
    assert not leaks, "\n".join(leaks)


def test_what_was_kept_arrived_masked(sown: Sown) -> None:
    tables = b"\n".join(content for part, content in sown.parts.items() if part.startswith("table"))
    lost = [what for n, what in sown.sower.kept.items() if not _masked_at(tables, mark(n).encode())]
    assert not lost, lost
    for kind in (b"EMAIL", b"PHONE", b"ID_CN", b"CARD", b"IBAN", b"IP", b"KEY", b"JWT", b"TOKEN", b"SECRET"):
        assert b"[" + kind in tables, kind


def test_neither_tokens_nor_passwords_are_written(sown: Sown) -> None:
    assert len(sown.sower.secrets) >= 8
    for part, content in sown.parts.items():
        assert not [one for one in sown.sower.secrets if one.encode() in content], part


def test_the_log_is_talkative_and_holds_no_address(sown: Sown) -> None:
    log = sown.parts["log at the end"]
    assert b" DEBUG " in log
    faults = [line for line in log.splitlines() if b" ERROR " in line or b" CRITICAL " in line]
    assert [line for line in faults if b" django.security.DisallowedHost " not in line] == []
    assert b"/skills/" not in log


@pytest.mark.parametrize("plant", plants(), ids=lambda plant: plant.name)
def test_a_leak_is_found_in_every_spelling(plant, sown: Sown) -> None:  # type: ignore[no-untyped-def]
    some = sown.parts["log at the end"][:1000]
    text = plant.at(7)
    for spelled in (
        text,
        json.dumps(text),
        json.dumps(json.dumps(text)),
        quote(text, safe=""),
        *(base64.b64encode(b"x" * offset + text.encode()).decode() for offset in range(3)),
    ):
        found = found_in(some + spelled.encode() + some)
        assert any(one.startswith(f"{plant.name}:") for one in found), spelled


def _sow(folder: Path) -> tuple[Sower, dict[str, bytes]]:
    """Start an instance in the folder, send everything, and read what it holds while it runs."""
    with serve_instance(folder) as served:
        sower = Sower(served)
        sow_reports.report_calls(sower)
        sow_reports.report_spans(sower)
        sow_record.sow(sower)
        sow_pages.sow(sower)
        time.sleep(SETTLED)
        return sower, dump(served, folder)


def _masked_at(content: bytes, sign: bytes) -> bool:
    """Whether the mark is there with a mask close behind it."""
    place = content.find(sign)
    return place >= 0 and b"[EMAIL" in content[place : place + 200]
