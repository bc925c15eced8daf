"""The audit log: every entry hangs on the one before, and what is done to it afterwards shows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from catalog import journal
from catalog.journal import Actor, Chain
from catalog.models import JournalEntry, JournalHead, User
from tests import cast as crew
from tests import make

AFTER = {"text": "naïve · 你好", "n": 1, "share": 0.25, "large": 1e20, "none": None, "list": [1, "two"]}


def write(n: int = 1, **fields: Any) -> None:
    """Write that many entries."""
    for _ in range(n):
        with transaction.atomic():
            told = {"actor": Actor(origin="test"), "verb": "test.write", "target": "thing", "after": AFTER}
            journal.append(**{**told, "now": make.NOW, **fields})


@pytest.mark.django_db
def test_entries_are_numbered_and_chained() -> None:
    write(3, before={"state": "old"})
    entries = list(JournalEntry.objects.order_by("n"))
    assert [entry.n for entry in entries] == [1, 2, 3]
    assert [entry.previous for entry in entries] == ["", entries[0].hash, entries[1].hash]
    assert entries[0].after == {**AFTER, "large": 10**20}
    assert journal.read_head() == (3, entries[2].hash)
    assert journal.check_chain() == Chain(entries=3)


@pytest.mark.django_db
def test_an_empty_journal_is_intact() -> None:
    assert journal.check_chain() == Chain(entries=0)
    assert journal.check_chain().intact


@pytest.mark.django_db
def test_who_acts_is_told_by_name_and_what_is_too_long_is_cut() -> None:
    user = User(username="ines")
    write(actor=Actor(user=user, origin="o" * 200), target="t" * 400)
    entry = JournalEntry.objects.get()
    assert (entry.actor, len(entry.origin), len(entry.target)) == ("ines", 100, 300)
    assert journal.check_chain().intact


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_nothing_is_written() -> None:
    with pytest.raises(TransactionManagementError):
        journal.append(actor=Actor(), verb="test", target="", now=make.NOW)
    assert not JournalEntry.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("at", make.NOW + timedelta(microseconds=1)),
        ("actor", "somebody"),
        ("verb", "test.other"),
        ("target", "another thing"),
        ("before", {"state": "forged"}),
        ("after", {"n": 2}),
        ("after", None),
        ("origin", "elsewhere"),
        ("previous", "0" * 64),
        ("hash", "0" * 64),
    ],
)
def test_a_change_of_any_column_shows(column: str, value: object) -> None:
    write(4)
    JournalEntry.objects.filter(n=2).update(**{column: value})
    assert journal.check_chain() == Chain(entries=2, broken_at=2)


@pytest.mark.django_db
@pytest.mark.parametrize(("gone", "broken"), [([1], 1), ([2], 2), ([2, 3], 2), ([4], 4), ([3, 4], 3)])
def test_a_missing_entry_shows(gone: list[int], broken: int) -> None:
    write(4)
    JournalEntry.objects.filter(n__in=gone).delete()
    assert journal.check_chain().broken_at == broken


@pytest.mark.django_db
def test_renumbering_after_a_removal_shows() -> None:
    write(4)
    JournalEntry.objects.filter(n=2).delete()
    JournalEntry.objects.filter(n=3).update(n=2)
    assert journal.check_chain().broken_at == 2


@pytest.mark.django_db
def test_truncation_together_with_the_head_shows_against_an_anchor() -> None:
    write(4)
    anchor = journal.read_head()
    write(2)
    assert journal.check_chain(anchor=anchor).intact
    JournalEntry.objects.filter(n__gt=3).delete()
    JournalHead.objects.update(n=3, hash=JournalEntry.objects.get(n=3).hash)
    assert journal.check_chain().intact
    assert journal.check_chain(anchor=anchor) == Chain(entries=3, broken_at=4)


@pytest.mark.django_db
def test_a_journal_that_was_written_anew_shows_against_an_anchor() -> None:
    write(3)
    anchor = journal.read_head()
    JournalEntry.objects.all().delete()
    JournalHead.objects.update(n=0, hash="")
    write(5, verb="test.forged")
    assert journal.check_chain().intact
    assert journal.check_chain(anchor=anchor) == Chain(entries=3, broken_at=3)


@pytest.mark.django_db
def test_a_head_that_is_gone_or_does_not_fit_shows() -> None:
    write(2)
    JournalHead.objects.update(hash="0" * 64)
    assert journal.check_chain() == Chain(entries=2, broken_at=3)
    JournalHead.objects.all().delete()
    assert journal.check_chain() == Chain(entries=2, broken_at=3)


def test_many_write_at_once_without_a_gap(shared_database: str) -> None:
    done = crew.together([lambda: write(5)] * 12)
    assert done == [None] * 12
    assert list(JournalEntry.objects.order_by("n").values_list("n", flat=True)) == list(range(1, 61))
    assert journal.check_chain() == Chain(entries=60)


def test_a_check_among_writers_finds_nothing_wrong(shared_database: str) -> None:
    write(200)
    found = crew.together([lambda: write(10)] * 4 + [journal.check_chain] * 3)
    assert found[:4] == [None] * 4
    assert all(chain.intact and chain.entries >= 200 for chain in found[4:])
    assert journal.check_chain().entries == 240
    connection.close()
