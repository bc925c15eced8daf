"""Settings from the environment, each checked when the process starts.

A value comes from the variable NAME, from the file that NAME_FILE names (for secrets), or from
`.env` beside manage.py. A value that cannot be used stops the start with one sentence.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

env = environ.FileAwareEnv()


def read_number(name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
    """The whole number in NAME, from `least` to `most`; raises ImproperlyConfigured otherwise."""
    text = str(env.str(name, default=str(default)))
    # Python refuses to read thousands of digits.
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
    if number < least or (most is not None and number > most):
        wanted = f"from {least} to {most}" if most is not None else f"of {least} or more"
        raise ImproperlyConfigured(f"{name} is {text!r}; give a whole number {wanted}.")
    return number


def read_switch(name: str, default: bool) -> bool:
    """The switch in NAME (1/0, true/false, yes/no, on/off); raises ImproperlyConfigured otherwise."""
    text = env.str(name, default=str(default)).strip().lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off", ""}:
        return False
    raise ImproperlyConfigured(f"{name} is {text!r}; give true or false.")


def read_secret(name: str, *, var_dir: Path) -> str:
    """The secret in NAME, else one made on the first start and kept in `var_dir`/NAME."""
    value = str(env.str(name, default=""))
    if value:
        return value
    kept = var_dir / name.lower()
    try:
        return kept.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        pass
    var_dir.mkdir(parents=True, exist_ok=True)
    fresh = var_dir / f"{name.lower()}.{secrets.token_hex(4)}"
    fresh.touch(mode=0o600)
    fresh.write_text(secrets.token_urlsafe(48) + "\n", encoding="ascii")
    try:
        # A link, unlike a rename, never replaces the secret that another process has just made.
        kept.hardlink_to(fresh)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return kept.read_text(encoding="ascii").strip()


def read_former(name: str) -> list[str]:
    """The secrets of before in NAME (or its file), set apart by commas or new lines; none by default."""
    lines = env.str(name, default="").replace(",", "\n").splitlines()
    return [line.strip() for line in lines if line.strip()]


def read_database(*, var_dir: Path) -> dict[str, Any]:
    """Django's settings of DATABASE_URL: `postgres://…` or `sqlite:///…`; SQLite in `var_dir` by default.

    Raises ImproperlyConfigured for any other database.
    """
    url = env.str("DATABASE_URL", default="") or f"sqlite:///{var_dir / 'quartermaster.sqlite3'}"
    database: dict[str, Any] = environ.Env.db_url_config(url)
    engine = database["ENGINE"]
    if engine == "django.db.backends.sqlite3":
        return database | {"OPTIONS": SQLITE_OPTIONS}
    if engine == "django.db.backends.postgresql":
        options = database.get("OPTIONS", {}) | {"pool": {"min_size": 1, "max_size": 8, "timeout": 20}}
        return database | {"OPTIONS": options, "CONN_HEALTH_CHECKS": True}
    raise ImproperlyConfigured(
        "DATABASE_URL names another database; give a postgres:// or sqlite:// address."
    )


# IMMEDIATE takes the write lock at BEGIN: a deferred transaction that reads first fails on its
# first write as soon as another one has written.
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
}


def read_storage(*, var_dir: Path) -> dict[str, Any]:
    """The storage of blobs in STORAGE_URL: `file:///folder`; `var_dir`/blobs by default.

    Raises ImproperlyConfigured for a scheme that is not supported.
    """
    url = env.str("STORAGE_URL", default="") or f"file://{var_dir.absolute() / 'blobs'}"
    if not url.startswith("file:///"):
        raise ImproperlyConfigured("STORAGE_URL is not supported; give file:///folder.")
    return {"BACKEND": "catalog.blobs.BlobStorage", "OPTIONS": {"location": url.removeprefix("file://")}}


def read_portal_url(hosts: Sequence[str], *, https: bool) -> str:
    """The address in PORTAL_URL under which people reach the portal, without a slash at its end.

    By default the first name of ALLOWED_HOSTS, on port 8000 without HTTPS. Raises ImproperlyConfigured.
    """
    text = str(env.str("PORTAL_URL", default="")).strip()
    if not text:
        named = (host.lstrip(".") for host in hosts if host not in {"", "*"})
        host = next(named, "localhost")
        return f"https://{host}" if https else f"http://{host}:8000"
    try:
        parts = urlsplit(text)
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if not fits or parts.query or parts.fragment or parts.username or not text.isprintable() or " " in text:
        raise ImproperlyConfigured(
            "PORTAL_URL is no address of a site; give https://host or http://host:port."
        )
    return text.rstrip("/")


@dataclass(frozen=True, slots=True)
class Mail:
    """How mail is sent; without a host it is not. `tls` is from the first byte, `starttls` after a greeting."""

    sender: str
    host: str = ""
    port: int = 25
    user: str = ""
    password: str = field(default="", repr=False)
    starttls: bool = False
    tls: bool = False


MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}


def read_mail(portal_url: str) -> Mail:
    """The server in EMAIL_URL and the sender in EMAIL_FROM, by default quartermaster@ the portal's host.

    Raises ImproperlyConfigured.
    """
    sender = str(env.str("EMAIL_FROM", default="")) or f"quartermaster@{urlsplit(portal_url).hostname}"
    if env.str("EMAIL_FROM", default="") and not _is_address(sender):
        raise ImproperlyConfigured("EMAIL_FROM is no e-mail address; give name@host.")
    url = str(env.str("EMAIL_URL", default="")).strip()
    if not url:
        return Mail(sender)
    # smtps:// means STARTTLS to some and TLS from the first byte to others: it has to be said.
    scheme = url.partition("://")[0]
    try:
        found = environ.Env.email_url_config(url) if scheme in MAIL_PORTS else {}
    except (ImproperlyConfigured, ValueError):
        found = {}
    if not found.get("EMAIL_HOST"):
        wanted = "smtp://, smtp+tls:// (STARTTLS) or smtp+ssl://, then user:password@host:port"
        raise ImproperlyConfigured(f"EMAIL_URL is no address of a mail server; give {wanted}.")
    return Mail(
        sender,
        found["EMAIL_HOST"],
        found["EMAIL_PORT"] or MAIL_PORTS[scheme],
        found["EMAIL_HOST_USER"] or "",
        found["EMAIL_HOST_PASSWORD"] or "",
        starttls=scheme == "smtp+tls",
        tls=scheme == "smtp+ssl",
    )


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True
