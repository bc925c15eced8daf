"""The append-only audit log. Each entry's hash covers the entry before it (spec 3.4).

Removing the last entries breaks no link; the head (`read_head`) can be kept outside the database
and given to `check_chain` to show that too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from django.db import transaction

from catalog.models import JournalEntry, JournalHead, User

JSON = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, and from where: `user` is None for the system; `origin` is an address or a command."""

    user: User | None = None
    origin: str = ""

    @property
    def name(self) -> str:
        """What the journal calls the actor."""
        return self.user.username if self.user else "system"


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
    head = JournalHead.objects.select_for_update().get(pk=1)
    entry = JournalEntry(
        n=head.n + 1,
        at=now,
        actor=actor.name,
        verb=verb,
        target=target,
        before=_plain(before),
        after=_plain(after),
        origin=actor.origin,
        previous=head.hash,
    )
    entry.hash = _hash(entry)
    entry.save(force_insert=True)
    JournalHead.objects.filter(pk=1).update(n=entry.n, hash=entry.hash)
    return entry


def read_head() -> tuple[int, str]:
    """Number and hash of the last entry, to be kept outside the database."""
    head = JournalHead.objects.get(pk=1)
    return head.n, head.hash


def check_chain(*, anchor: tuple[int, str] | None = None) -> Chain:
    """Re-hash the journal from its start; `anchor` is an earlier `read_head` that must still hold."""
    with transaction.atomic():
        head = JournalHead.objects.select_for_update().get(pk=1)
        previous, n = "", 0
        for entry in JournalEntry.objects.order_by("n").iterator(chunk_size=2000):
            n += 1
            if entry.n != n or entry.previous != previous or entry.hash != _hash(entry):
                return Chain(entries=n, broken_at=n)
            if anchor and anchor[0] == n and anchor[1] != entry.hash:
                return Chain(entries=n, broken_at=n)
            previous = entry.hash
    if (head.n, head.hash) != (n, previous) or (anchor and anchor[0] > n):
        return Chain(entries=n, broken_at=n + 1)
    return Chain(entries=n)


def _plain(value: JSON) -> Any:
    """The value as it comes back from the database: what is hashed must be what is read."""
    return None if value is None else json.loads(json.dumps(value, default=str))


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
