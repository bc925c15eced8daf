"""Notices are neither lost nor doubled: two workers at once, messages that come twice, kill -9 at any step."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from django.db import transaction

from catalog import journal
from catalog.journal import Actor
from catalog.models import JournalEntry, State
from governance import notices
from governance.models import Notice, NoticeCursor
from tests import make
from tests.cast import ROOT, shared_database, together

__all__ = ["shared_database"]

pytestmark = pytest.mark.django_db(transaction=True)
NOW = make.NOW
# Kills itself at the named place of `spread`, as kill -9 would.
WORKER = """
import os, signal, sys
import django; django.setup()
from datetime import UTC, datetime
from governance import notices
from governance.models import Notice, NoticeCursor

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

notices.BATCH = 3
at = sys.argv[1]
if at == "before":
    notices.make_notices = die
elif at == "made":
    NoticeCursor.save = die
elif at == "moved":
    save = NoticeCursor.save
    def move(*args, **kwargs):
        save(*args, **kwargs)
        die()
    NoticeCursor.save = move
elif at == "committed":
    batch, done = notices._spread_batch, []
    def once(now):
        if done:
            die()
        done.append(1)
        return batch(now)
    notices._spread_batch = once
notices.spread(now=datetime(2026, 11, 30, 9, 0, tzinfo=UTC))
"""


@pytest.fixture
def proposals(shared_database: str) -> str:
    """Five proposals that Mara and Otto are told of."""
    cast = make.cast()
    for name in ("one", "two", "three", "four", "five"):
        version = make.version(f"skill-{name}", cast=cast)
        make.release(version, "production", cast=cast, state=State.PROPOSED)
    return shared_database


def all_told() -> bool:
    """Each proposal is told to both approvers, once."""
    found = list(Notice.objects.values_list("entry", "user__username"))
    entries = JournalEntry.objects.filter(verb="release.propose").values_list("n", flat=True)
    return sorted(found) == sorted((n, name) for n in entries for name in ("mara", "otto"))


@pytest.mark.parametrize("place", ["before", "made", "moved", "committed"])
def test_a_worker_that_is_killed_loses_and_doubles_nothing(proposals: str, place: str) -> None:
    environ = os.environ | {"DATABASE_URL": proposals, "DJANGO_SETTINGS_MODULE": "portal.settings"}
    done = subprocess.run([sys.executable, "-c", WORKER, place], cwd=ROOT, env=environ, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert NoticeCursor.objects.get().n == (3 if place == "committed" else 0)
    notices.spread(now=NOW)
    assert all_told()
    assert NoticeCursor.objects.get().n == JournalEntry.objects.count()


def test_four_workers_at_once(proposals: str) -> None:
    done = together([lambda: notices.spread(now=NOW)] * 4)
    assert all(isinstance(one, notices.Spread) for one in done), done
    assert sum(one.entries for one in done) == JournalEntry.objects.count()
    assert all_told()


def test_entries_that_come_while_others_are_read(proposals: str) -> None:
    def write() -> None:
        for n in range(20):
            with transaction.atomic():
                journal.append(actor=Actor.system("test"), verb="set.add", target=f"set {n}", now=NOW)

    def read() -> int:
        return sum(notices.spread(now=NOW).entries for _ in range(10))

    done = together([write, write, read, read])
    assert not [one for one in done if isinstance(one, Exception)], done
    rest = notices.spread(now=NOW).entries
    assert done[2] + done[3] + rest == JournalEntry.objects.count()
    assert all_told()


def test_two_that_begin_without_a_cursor(proposals: str) -> None:
    NoticeCursor.objects.all().delete()
    done = together([notices.make_cursor] * 4)
    assert not [one for one in done if isinstance(one, Exception)], done
    assert NoticeCursor.objects.get().n == JournalEntry.objects.count()
