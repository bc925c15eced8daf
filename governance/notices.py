"""Notices: the journal is the outbox (docs/notices.md).

`spread` reads the entries behind the cursor and makes the notices of each in the transaction that
moves the cursor: whoever dies between loses nothing, and nothing comes twice.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet

from catalog.access import Powers
from catalog.models import JournalEntry, JournalHead, Release, State
from catalog.visibility import visible_skills
from governance.happenings import Happening, read_crowd, read_happenings
from governance.models import Notice, NoticeCursor
from governance.notice_texts import told_of
from governance.recipients import WHO, recipients

log = logging.getLogger(__name__)

# On SQLite everybody else's writing waits for a batch.
BATCH = 50
KEPT_FOR = timedelta(days=180)


@dataclass(frozen=True, slots=True)
class Spread:
    """How many entries were read, how many notices they gave, and how many entries were skipped for a fault."""

    entries: int = 0
    notices: int = 0
    skipped: int = 0

    def __add__(self, other: Spread) -> Spread:
        return Spread(
            self.entries + other.entries, self.notices + other.notices, self.skipped + other.skipped
        )


def make_cursor(**_: object) -> None:
    """Begin behind the last entry that is there: what happened before there were notices is told to nobody."""
    head = JournalHead.objects.filter(pk=1).values_list("n", flat=True).first()
    NoticeCursor.objects.get_or_create(pk=1, defaults={"n": head or 0})


def spread(*, now: datetime) -> Spread:
    """Make the notices of every entry that was written since; in batches, each a transaction."""
    done = Spread()
    while _is_behind():
        step = _spread_batch(now)
        if not step.entries:
            break
        done += step
    return done


def _is_behind() -> bool:
    """Whether there is something to read; without a lock, for mostly there is nothing."""
    n = NoticeCursor.objects.filter(pk=1).values_list("n", flat=True).first()
    return n is None or JournalEntry.objects.filter(n__gt=n).exists()


def _spread_batch(now: datetime) -> Spread:
    with transaction.atomic():
        cursor = _lock_cursor()
        entries = list(JournalEntry.objects.filter(n__gt=cursor.n).order_by("n")[:BATCH])
        if not entries:
            return Spread()
        done = _tell([entry for entry in entries if entry.verb in WHO], now)
        cursor.n = entries[-1].n
        cursor.save(update_fields=["n"])
    return Spread(len(entries), done.notices, done.skipped)


def _lock_cursor() -> NoticeCursor:
    """The cursor, locked: one worker spreads at a time."""
    make_cursor()
    return NoticeCursor.objects.select_for_update().get(pk=1)


def _tell(entries: Sequence[JournalEntry], now: datetime) -> Spread:
    """The notices of these entries. One that raises is told to nobody, and does not hold up the rest."""
    if not entries:
        return Spread()
    try:
        with transaction.atomic():
            made = Notice.objects.bulk_create(make_notices(entries, now=now), ignore_conflicts=True)
            return Spread(notices=len(made))
    except (InterfaceError, OperationalError):  # the database is away or busy: all of it is tried again
        raise
    except Exception:
        if len(entries) > 1:
            return sum((_tell([entry], now) for entry in entries), Spread())
        log.exception("Nobody is told of entry %d of the audit log (%s).", entries[0].n, entries[0].verb)
        return Spread(skipped=1)


def make_notices(entries: Sequence[JournalEntry], *, now: datetime) -> list[Notice]:
    """A notice for each of the entries and each person who is to know; a fixed number of queries."""
    happenings = read_happenings(entries)
    crowd = read_crowd(happenings, now=now)
    found = []
    for happening in happenings:
        told = told_of(happening, crowd)
        for user in sorted(recipients(happening, crowd), key=str):
            wants_mail = bool(crowd.users[user].email)
            found.append(_notice(happening, user, told, wants_mail=wants_mail))
    return found


def _notice(happening: Happening, user: UUID, told: dict[str, object], *, wants_mail: bool) -> Notice:
    return Notice(
        entry=happening.entry.n,
        user_id=user,
        verb=happening.entry.verb,
        told=told,
        release=happening.release,
        skill=happening.skill,
        environment=happening.environment,
        at=happening.entry.at,
        wants_mail=wants_mail,
    )


def start_over(*, now: datetime) -> int:
    """Tell of what still waits, and pass over everything else that was written; answers how many notices.

    For a record that was made in one go, such as the sample.
    """
    with transaction.atomic():
        cursor = _lock_cursor()
        waiting = {
            str(pk) for pk in Release.objects.filter(state=State.PROPOSED).values_list("pk", flat=True)
        }
        proposals = JournalEntry.objects.filter(n__gt=cursor.n, verb="release.propose").order_by("-n")
        entries = [one for one in proposals[:500] if one.after and one.after.get("id") in waiting]
        made = _tell(entries[::-1], now)
        cursor.n = JournalHead.objects.values_list("n", flat=True).get(pk=1)
        cursor.save(update_fields=["n"])
    return made.notices


def notices_of(powers: Powers) -> QuerySet[Notice]:
    """The user's notices, but for those of skills that they do not see any more."""
    if powers.user_id is None:
        return Notice.objects.none()
    mine = Notice.objects.filter(user_id=powers.user_id)
    seen = visible_skills(powers).values("pk")
    return mine.filter(Q(skill=None) | Q(skill__in=seen) | Q(skill__deleted_at__isnull=False))


def count_unread(powers: Powers, *, most: int) -> int:
    """How many notices the user has not read, counted up to `most`. One query."""
    return notices_of(powers).filter(read_at=None)[:most].count()


def mark_read(notices: QuerySet[Notice], *, now: datetime) -> int:
    """Mark these as read; answers how many were not. Those that were read keep their time."""
    unread = notices.filter(read_at=None)
    # Looked at first: mostly there is none, and on SQLite every writing waits for the others.
    keys = list(unread.values_list("pk", flat=True)[:1])
    return unread.update(read_at=now) if keys else 0


def forget_old(*, now: datetime) -> int:
    """Remove notices that are older than 180 days; answers how many."""
    count, _ = Notice.objects.filter(at__lt=now - KEPT_FOR).delete()
    return count
