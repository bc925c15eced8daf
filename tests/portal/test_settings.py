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
from portal.environment import Mail, read_mail, read_number, read_portal_url

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


def test_every_variable_is_documented() -> None:
    asked = r"""(?:env\.\w+|read_(?:number|switch|secret|former))\(\s*"([A-Z][A-Z_]+)"""
    named = {
        name
        for file in ("settings.py", "environment.py")
        for name in re.findall(asked, (ROOT / "portal" / file).read_text())
    }
    assert {"SECRET_KEY", "VAR_DIR", "MAX_FILES", "DEBUG", "EMAIL_URL"} <= named
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert named == documented


@pytest.mark.parametrize(
    ("hosts", "https", "url"),
    [
        (["localhost", "127.0.0.1"], False, "http://localhost:8000"),
        (["*"], False, "http://localhost:8000"),
        (["*", ".skills.example"], True, "https://skills.example"),
        ([], True, "https://localhost"),
    ],
)
def test_the_portals_own_address_follows_from_its_names(hosts: list[str], https: bool, url: str) -> None:
    assert read_portal_url(hosts, https=https) == url


def test_the_portals_own_address_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTAL_URL", " https://intern.example:8443/skills/ ")
    assert read_portal_url(["localhost"], https=False) == "https://intern.example:8443/skills"


@pytest.mark.parametrize(
    "text",
    [
        "skills.example",
        "ftp://x",
        "https://",
        "https://x?y",
        "https://x/#y",
        "https://a@x",
        "https://x y",
        "http://x:99999",
    ],
)
def test_an_address_that_is_none_stops_the_start(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTAL_URL", text)
    with pytest.raises(ImproperlyConfigured, match="PORTAL_URL is no address"):
        read_portal_url([], https=True)


@pytest.mark.parametrize(
    ("url", "mail"),
    [
        ("smtp://localhost", Mail("q@x.example", "localhost", 25)),
        ("smtp+tls://u:p%40ss@h:2525", Mail("q@x.example", "h", 2525, "u", "p@ss", starttls=True)),
        ("smtp+tls://h", Mail("q@x.example", "h", 587, starttls=True)),
        ("smtp+ssl://h", Mail("q@x.example", "h", 465, tls=True)),
        ("", Mail("q@x.example")),
    ],
)
def test_the_server_of_mails(url: str, mail: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    monkeypatch.setenv("EMAIL_FROM", "q@x.example")
    assert read_mail("https://skills.example") == mail
    assert "p@ss" not in repr(read_mail("https://skills.example"))


@pytest.mark.parametrize("url", ["smtps://h:465", "smtp://", "localhost:25", "http://h", "smtp://h:port"])
def test_a_server_of_mails_that_is_none_stops_the_start(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL is no address of a mail server"):
        read_mail("https://skills.example")


def test_the_sender_of_mails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_mail("https://skills.example:8443").sender == "quartermaster@skills.example"
    monkeypatch.setenv("EMAIL_FROM", "nobody")
    with pytest.raises(ImproperlyConfigured, match="EMAIL_FROM is no e-mail address"):
        read_mail("https://skills.example")


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
