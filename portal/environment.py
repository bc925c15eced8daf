"""Settings from the environment, each checked when the process starts.

A value comes from the variable NAME, from the file that NAME_FILE names (for secrets), or from
`.env` beside manage.py. A value that cannot be used stops the start with one sentence.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

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
