"""The append-only audit log. Each entry's hash covers the entry before it (spec 3.4).

Removing the last entries breaks no link; the head (`read_head`) can be kept outside the database
and given to `check_chain` to show that too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from re import fullmatch
from typing import Any

from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from catalog.models import JournalEntry, JournalHead, User

JSON = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, and from where: `origin` is an address or a command.

    `is_system` is for a command or a job, which may what its code does. Without it and without a
    user it is somebody signed out, who may nothing.
    """

    user: User | None = None
    origin: str = ""
    is_system: bool = False

    @classmethod
    def system(cls, origin: str) -> Actor:
        """The installation itself: somebody at its command line, or a job."""
        return cls(origin=origin, is_system=True)

    @property
    def name(self) -> str:
        """What the journal calls the actor."""
        if self.user is not None:
            return self.user.username
        return "system" if self.is_system else "nobody"


@dataclass(frozen=True, slots=True)
class Chain:
    """What a check of the journal found: how many entries, and the first that does not fit."""

    entries: int
    broken_at: int | None = None

    @property
    def intact(self) -> bool:
        """Whether every entry is as it was written."""
        return self.broken_at is None


def append(
    *, actor: Actor, verb: str, target: str, now: datetime, before: JSON = None, after: JSON = None
) -> JournalEntry:
    """Write one entry, in the transaction of the change that it tells of.

    Raises TransactionManagementError outside a transaction.
    """
    head = lock_head()
    entry = JournalEntry(
        n=head.n + 1,
        at=now,
        actor=actor.name[:200],
        verb=verb,
        target=target[:300],
        before=_plain(before),
        after=_plain(after),
        origin=actor.origin[:100],
        previous=head.hash,
    )
    entry.hash = _hash(entry)
    entry.save(force_insert=True)
    JournalHead.objects.filter(pk=1).update(n=entry.n, hash=entry.hash)
    _call_at_commit()
    return entry


def call_after(call: Callable[[], None]) -> None:
    """Have `call` called after each commit that wrote entries: in the writer's thread, so it must not wait.

    What it misses, for the process may end right there, is still in the journal.
    """
    _called_after.append(call)


_called_after: list[Callable[[], None]] = []


def _call_at_commit() -> None:
    """Once for each transaction; what was rolled back to a savepoint takes its call along."""
    if all(waiting[1] is not _call_them for waiting in connection.run_on_commit):
        transaction.on_commit(_call_them, robust=True)


def _call_them() -> None:
    for call in _called_after:
        call()


def lock_head() -> JournalHead:
    """The head, locked until the transaction ends: whoever holds it is alone in writing the journal.

    It is the last lock that a change takes (`docs/architecture.md`, Locks).
    """
    # SQLite has no row locks, and Django asks for a transaction only where there are some.
    if not connection.in_atomic_block:
        raise TransactionManagementError("The journal is written in the transaction of the change alone.")
    return JournalHead.objects.select_for_update(no_key=True).get(pk=1)


class BadAnchor(ValueError):
    """It is not a number, a colon and a hash."""


def read_anchor(text: str) -> tuple[int, str]:
    """A head as it is shown, n:hash, in its parts. Raises BadAnchor."""
    n, _, head = text.strip().partition(":")
    if not (n.isascii() and n.isdigit() and len(n) <= 18 and fullmatch("[0-9a-f]{64}", head)):
        raise BadAnchor(text)
    return int(n), head


def read_head() -> tuple[int, str]:
    """Number and hash of the last entry, to be kept outside the database."""
    head = JournalHead.objects.get(pk=1)
    return head.n, head.hash


def check_chain(*, anchor: tuple[int, str] | None = None) -> Chain:
    """Re-hash the journal from its start; `anchor` is an earlier `read_head` that must still hold.

    Writers wait only for the entries that came while the rest was read.
    """
    walk = _Walk(anchor)
    if not walk.go_on():
        return Chain(entries=walk.n, broken_at=walk.n)
    with transaction.atomic():
        head = JournalHead.objects.select_for_update(no_key=True).filter(pk=1).first()
        if not walk.go_on():
            return Chain(entries=walk.n, broken_at=walk.n)
    told = (head.n, head.hash) if head else None
    if told != (walk.n, walk.hash) or (anchor and anchor[0] > walk.n):
        return Chain(entries=walk.n, broken_at=walk.n + 1)
    return Chain(entries=walk.n)


class _Walk:
    """A walk along the journal: number and hash of the entry that it has come to."""

    def __init__(self, anchor: tuple[int, str] | None) -> None:
        self.anchor = anchor
        self.n, self.hash = 0, ""

    def go_on(self) -> bool:
        """Walk to the end; False at the first entry that does not fit, whose number is then `n`."""
        ahead = JournalEntry.objects.filter(n__gt=self.n).order_by("n")
        for entry in ahead.iterator(chunk_size=2000):
            self.n += 1
            if not self._fits(entry):
                return False
            self.hash = entry.hash
        return True

    def _fits(self, entry: JournalEntry) -> bool:
        anchored = self.anchor is None or self.anchor[0] != self.n or self.anchor[1] == entry.hash
        chained = entry.n == self.n and entry.previous == self.hash and entry.hash == _hash(entry)
        return anchored and chained


def _plain(value: JSON) -> Any:
    """The value as it comes back from the database: what is hashed must be what is read."""
    return None if value is None else json.loads(json.dumps(value, default=str), parse_float=_number)


def _number(text: str) -> float | int:
    """A whole number as such: PostgreSQL gives 1e20 back without its exponent."""
    number = float(text)
    return int(number) if number.is_integer() else number


def _hash(entry: JournalEntry) -> str:
    told = [
        entry.n,
        entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        entry.actor,
        entry.verb,
        entry.target,
        entry.before,
        entry.after,
        entry.origin,
        entry.previous,
    ]
    return sha256(json.dumps(told, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
