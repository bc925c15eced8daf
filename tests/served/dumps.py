"""Everything that an instance has written: its database, its files, its broker and its log."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import urlsplit

import environ
import psycopg
import redis

from tests.served.instance import Instance

SESSIONS = "from django.contrib.sessions.models import Session\nfor one in Session.objects.all(): print(one.get_decoded())"


def dump(served: Instance, folder: Path) -> dict[str, bytes]:
    """What lies where, by a name for people; `folder` is the one in which the instance was started."""
    parts = {"sessions": served.manage("shell", "--verbosity", "0", "-c", SESSIONS).encode()}
    parts |= {f"file {path.relative_to(folder)}": path.read_bytes() for path in _files(folder)}
    parts |= {f"name of {path.relative_to(folder)}": os.fsencode(path) for path in _files(folder)}
    parts |= _tables(served, folder)
    if url := served.environ.get("REDIS_URL"):
        parts["redis"] = _redis(url)
    return parts


def _files(folder: Path) -> list[Path]:
    """All files; static ones come from the repository."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and "static" not in path.relative_to(folder).parts
    ]


def _tables(served: Instance, folder: Path) -> dict[str, bytes]:
    url = served.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        [file] = [path for path in _files(folder) if path.read_bytes()[:15] == b"SQLite format 3"]
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            return {"tables": "\n".join(database.iterdump()).encode("utf-8", "surrogatepass")}
    given = environ.Env.db_url_config(url)
    keys = {"NAME": "dbname", "HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password"}
    found: dict[str, bytes] = {}
    with psycopg.connect(**{key: given[name] for name, key in keys.items() if given.get(name)}) as server:
        names = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (name,) in names:
            with server.cursor().copy(f'COPY "{name}" TO STDOUT') as rows:  # type: ignore[call-overload]  # a name of ours
                found[f"table {name}"] = b"".join(bytes(row) for row in rows)
    return found


def _redis(url: str) -> bytes:
    """All keys, and the values of each as its type has them."""
    client = redis.Redis.from_url(f"redis://{urlsplit(url).netloc}{urlsplit(url).path}")
    readers = {
        b"string": client.get,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"hash": client.hgetall,
        b"set": client.smembers,
        b"zset": lambda key: client.zrange(key, 0, -1),
    }
    told = []
    for key in client.scan_iter():
        # Queues come and go meanwhile.
        reader = readers.get(client.type(key), lambda _: b"")
        told.append(key + b" " + repr(reader(key)).encode())
    return b"\n".join(told)
