"""Settings: what fails at the start, and what an installation with a public name gets."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from portal import wsgi
from portal.environment import read_number

ROOT = Path(__file__).resolve().parents[2]
MIB = 1024 * 1024


def told(*names: str, **environ: str) -> dict[str, object]:
    """These settings as a process has them that starts with these variables."""
    code = f"import json; from portal import settings; print(json.dumps({{n: getattr(settings, n) for n in {names!r}}}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == settings.VERSION


@pytest.mark.parametrize("text", ["4", "256", "x", "-1", "", " 64", "9" * 5000])
def test_a_number_that_cannot_be_stops_the_start(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_VERSION_CHARS", text)
    with pytest.raises(ImproperlyConfigured, match="give a whole number from 5 to 255"):
        read_number("MAX_VERSION_CHARS", 64, least=5, most=255)


def test_a_number_without_a_bound_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_FILES", "0")
    with pytest.raises(ImproperlyConfigured, match="MAX_FILES is '0'; give a whole number of 1 or more"):
        read_number("MAX_FILES", 1000, least=1)


def test_hsts_speaks_for_this_host_alone_unless_told(tmp_path: Path) -> None:
    names = (
        "SECURE_HSTS_SECONDS",
        "SECURE_HSTS_INCLUDE_SUBDOMAINS",
        "SECURE_HSTS_PRELOAD",
        "SECURE_SSL_REDIRECT",
    )
    public = {"ALLOWED_HOSTS": "skills.example", "VAR_DIR": str(tmp_path)}
    year = 365 * 24 * 60 * 60
    assert list(told(*names, **public).values()) == [year, False, False, True]
    asked = {**public, "HSTS_INCLUDE_SUBDOMAINS": "1", "HSTS_PRELOAD": "1"}
    assert list(told(*names, **asked).values()) == [year, True, True, True]


@pytest.mark.parametrize("path", ["healthz", "readyz"])
def test_probes_are_not_sent_to_https(path: str) -> None:
    assert any(re.search(pattern, path) for pattern in settings.SECURE_REDIRECT_EXEMPT)


def test_languages_are_offered_that_have_texts() -> None:
    assert [code for code, _ in settings.LANGUAGES] == ["en"]


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/publish/", settings.MAX_BODY_BYTES),
        ("/publish/check/", settings.MAX_BODY_BYTES),
        ("/api/v1/publish", settings.MAX_BODY_BYTES),
        ("/api/v1/traces", 5 * MIB),
        ("/api/v1/feed/skills/a/check", MIB),
        ("/sign-in/", MIB),
        ("/skills/publish/", MIB),
        ("/", MIB),
    ],
)
def test_bodies_are_bounded_by_their_address(path: str, limit: int) -> None:
    assert wsgi.find_limit(path) == limit
