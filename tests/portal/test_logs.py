"""Lines of the log: masked, without what an exception quotes, and without the address of a request."""

from __future__ import annotations

import io
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError
from django.test import Client, RequestFactory
from django.urls import resolve

from governance.masking import Masker
from portal.logs import Masked, mask_handlers, route_of
from portal.views import accounts
from tests.portal.ports import find_port, wait_for_port

LOGGER = logging.getLogger("tests.portal.test_logs")


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What a handler with the filter of the instance writes."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.addFilter(Masked())
    LOGGER.addHandler(handler)
    yield out
    LOGGER.removeHandler(handler)


def test_a_message_and_its_arguments(written: io.StringIO) -> None:
    LOGGER.warning("%s wrote to %s, password: %s", "Mara", "ina.berg@example.com", "Ahorn-77!x")
    assert "Mara wrote to [EMAIL·" in written.getvalue()
    assert "password: [SECRET·" in written.getvalue()


def test_a_record_that_cannot_be_masked_says_where_it_is_from(
    written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RecursionError("too deep at ina.berg@example.com")

    monkeypatch.setattr(Masker, "mask_text", fail)
    try:
        raise ValueError("Ahorn-77!x")
    except ValueError:
        LOGGER.exception("Mara wrote to %s", "ina.berg@example.com")
    assert re.fullmatch(
        r"A record of tests\.portal\.test_logs \(line [0-9]+\) could not be masked and is left out: RecursionError\.\n",
        written.getvalue(),
    )


def test_a_message_that_does_not_fit_its_arguments_stops_nobody(written: io.StringIO) -> None:
    LOGGER.warning("%d calls of %s", "ina.berg@example.com")
    assert "could not be masked and is left out: TypeError." in written.getvalue()
    assert "ina.berg" not in written.getvalue()


@pytest.mark.parametrize(
    "fault",
    [
        KeyError("Ahorn-77!x"),
        ValueError("invalid literal for int() with base 10: 'Ahorn-77!x'"),
        ValueError('no such choice: "Ahorn-77!x"'),
        IntegrityError("duplicate key\nDETAIL:  Key (name)=(Ahorn-77!x) already exists."),
    ],
)
def test_what_an_exception_quotes_is_left_out(fault: Exception, written: io.StringIO) -> None:
    secret = "Ahorn-77!x"
    try:
        try:
            raise fault
        except Exception as first:
            raise RuntimeError(f"while reading '{secret}'") from first
    except RuntimeError:
        LOGGER.exception("It failed.")
    told = written.getvalue()
    assert "Ahorn" not in told
    assert (
        told.index(f"{type(fault).__name__}: ")
        < told.index("That led to:")
        < told.index("RuntimeError: while")
    )
    assert "test_logs.py" in told
    assert secret not in told


@pytest.mark.parametrize(
    "fault",
    [ImportError("No module named 'cards'"), ImproperlyConfigured("Give 'a'."), OSError(28, "No space")],
)
def test_names_of_code_and_files_are_told(fault: Exception, written: io.StringIO) -> None:
    try:
        raise fault
    except Exception:
        LOGGER.exception("It failed.")
    assert f"{type(fault).__name__}: {fault}" in written.getvalue()


def test_an_address_is_told_by_its_pattern(written: io.StringIO) -> None:
    request = RequestFactory().get("/welcome/MQ/c9x2k1-secret-of-a-link/")
    request.resolver_match = resolve(request.path)
    LOGGER.error("%s: %s", "Internal Server Error", request.path, extra={"request": request})
    assert written.getvalue() == "Internal Server Error: /welcome/<str:uid>/<str:token>/\n"
    assert route_of(RequestFactory().get("/x/")) == "An address"


@pytest.mark.django_db
def test_a_defect_behind_a_link_to_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    out = io.StringIO()
    monkeypatch.setattr(accounts, "read_link", fail)
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and any(
            isinstance(one, Masked) for one in handler.filters
        ):
            monkeypatch.setattr(handler, "stream", out)
    answer = Client(raise_request_exception=False).get("/welcome/MQ/c9x2k1-secret-of-a-link/")
    assert answer.status_code == 500
    assert "/welcome/<str:uid>/<str:token>/" in out.getvalue()
    assert "c9x2k1" not in out.getvalue()


def test_handlers_of_a_server_pass_the_masker(written: io.StringIO) -> None:
    logger = logging.getLogger("tests.portal.server")
    out = io.StringIO()
    logger.addHandler(logging.StreamHandler(out))
    mask_handlers("tests.portal.server")
    logger.error("raised: ina.berg@example.com")
    assert out.getvalue().startswith("raised: [EMAIL·")


@pytest.mark.slow
def test_what_the_web_server_says_of_a_defect_is_masked(tmp_path: Path) -> None:
    """Granian writes what an application raises to handlers of its own."""
    root, port, log = Path(__file__).resolve().parents[2], find_port(), tmp_path / "log"
    (tmp_path / "raising.py").write_text(
        "import os\n"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'portal.settings'\n"
        "from portal import logs\n"
        "logs.mask_handlers('_granian')\n"
        "def application(environ, start_response):\n"
        "    raise RuntimeError('no room for ina' + '.berg@example.com')\n"
    )
    command = [
        sys.executable,
        "-m",
        "granian",
        "--interface",
        "wsgi",
        "--port",
        str(port),
        "raising:application",
    ]
    with log.open("wb") as out:
        server = subprocess.Popen(
            command,
            cwd=tmp_path,
            env={"PYTHONPATH": f"{root}:{tmp_path}", "VAR_DIR": str(tmp_path)},
            stdout=out,
            stderr=out,
        )
    try:
        wait_for_port(port)
        import urllib.error
        import urllib.request

        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20)
    finally:
        server.terminate()
        server.wait(timeout=30)
    told = log.read_text()
    assert "no room for [EMAIL·" in told, told
    assert "ina.berg" not in told
