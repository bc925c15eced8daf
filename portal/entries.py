"""The audit log as pages, REST and the export show it: what was asked for, pages by number, entries in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from catalog.models import JournalEntry
from portal.api.rendering import as_json

REFUSAL = "The audit log is read by administrators."
PAGE_SIZE = 50
# The export reads so many at a time, and holds no more.
CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for in the audit log; "" and None ask for nothing.

    `verb` is one, or its first word (release); `target` is one, or its first words (a skill). `until` is
    the first moment that is not wanted any more.
    """

    actor: str = ""
    verb: str = ""
    target: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A field of an entry, before and after; "" where it says nothing of it."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry in words, with what differs."""

    entry: JournalEntry
    words: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Entries, newest first, and the numbers behind which the neighbouring pages begin (None for none)."""

    rows: tuple[EntryRow, ...]
    newer: int | None
    older: int | None


def filter_entries(asked: Asked) -> QuerySet[JournalEntry]:
    """The entries that match."""
    rows = JournalEntry.objects.all()
    if asked.actor:
        rows = rows.filter(actor=asked.actor)
    if asked.verb:
        rows = rows.filter(Q(verb=asked.verb) | Q(verb__startswith=f"{asked.verb}."))
    if asked.target:
        rows = rows.filter(Q(target=asked.target) | Q(target__startswith=f"{asked.target} "))
    if asked.since:
        rows = rows.filter(at__gte=asked.since)
    if asked.until:
        rows = rows.filter(at__lt=asked.until)
    return rows


def page_of(
    rows: QuerySet[JournalEntry],
    *,
    before: int | None = None,
    after: int | None = None,
    size: int = PAGE_SIZE,
) -> EntryPage:
    """A page by number: the entries just older than `before`, just newer than `after`, or the newest."""
    if after is not None:
        found = list(rows.filter(n__gt=after).order_by("n")[: size + 1])
        shown = found[:size][::-1]
        newer, older = len(found) > size, bool(shown)
    else:
        found = list((rows.filter(n__lt=before) if before is not None else rows).order_by("-n")[: size + 1])
        shown = found[:size]
        newer, older = before is not None and bool(shown), len(found) > size
    return EntryPage(
        tuple(_row(entry) for entry in shown),
        shown[0].n if newer else None,
        shown[-1].n if older else None,
    )


def _row(entry: JournalEntry) -> EntryRow:
    before, after = _fields(entry.before), _fields(entry.after)
    names = [*before, *(name for name in after if name not in before)]
    changes = tuple(Change(name, _text(before, name), _text(after, name)) for name in names)
    return EntryRow(entry, str(VERBS.get(entry.verb, entry.verb)), changes)


def _fields(told: Any) -> Mapping[str, Any]:
    """What an entry says; something else than an object, where somebody tampered with it, under one name."""
    return told if isinstance(told, dict) else {} if told is None else {"?": told}


def _text(fields: Mapping[str, Any], name: str) -> str:
    if name not in fields:
        return ""
    value = fields[name]
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def show_entry(entry: JournalEntry) -> dict[str, Any]:
    """An entry as the API answers it."""
    return {
        "n": entry.n,
        "at": entry.at,
        "actor": entry.actor,
        "verb": entry.verb,
        "target": entry.target,
        "before": entry.before,
        "after": entry.after,
        "origin": entry.origin,
        "hash": entry.hash,
    }


def export_lines(rows: QuerySet[JournalEntry]) -> Iterator[bytes]:
    """The entries from the first on, one JSON object a line, with the hash of the one before.

    What is written meanwhile is not part of it.
    """
    last = JournalEntry.objects.order_by("-n").values_list("n", flat=True).first() or 0
    n = 0
    while chunk := list(rows.filter(n__gt=n, n__lte=last).order_by("n")[:CHUNK]):
        yield b"".join(as_json({**show_entry(one), "previous": one.previous}) + b"\n" for one in chunk)
        n = chunk[-1].n


VERBS: Mapping[str, Any] = {
    "agent.create": _("Made an agent"),
    "agent.settle": _("Changed an agent"),
    "agent.transfer": _("Moved an agent to another team"),
    "agent.retire": _("Retired an agent"),
    "appeal.make": _("Appealed a warning"),
    "appeal.grant": _("Granted an appeal"),
    "appeal.refuse": _("Refused an appeal"),
    "catalog.rescan": _("Scanned the catalog again"),
    "delegation.create": _("Lent rights"),
    "delegation.end": _("Ended a loan of rights"),
    "environment.create": _("Made an environment"),
    "environment.change": _("Changed an environment"),
    "environment.remove": _("Removed an environment"),
    "erasure.request": _("Asked for the traces of a subject to be erased"),
    "erasure.finish": _("Erased the traces of a subject"),
    "grant.create": _("Gave a role"),
    "grant.remove": _("Took a role away"),
    "masking.create": _("Made a rule of masking"),
    "masking.change": _("Changed a rule of masking"),
    "masking.delete": _("Deleted a rule of masking"),
    "masking.switch_off": _("Switched a built-in kind off"),
    "masking.switch_on": _("Switched a built-in kind on again"),
    "masking.again": _("Had what is stored masked again"),
    "release.propose": _("Proposed a release"),
    "release.approve": _("Approved a release"),
    "release.reject": _("Rejected a release"),
    "release.withdraw": _("Withdrew a proposal"),
    "release.expire": _("Closed a proposal that nobody decided"),
    "release.start": _("Started a release"),
    "release.advance": _("Moved a canary on"),
    "release.halt": _("Halted a canary"),
    "release.hold": _("Held a canary's schedule"),
    "release.resume": _("Resumed a canary"),
    "release.override": _("Answered for a shut gate"),
    "release.break_glass": _("Broke the glass"),
    "release.rollback": _("Rolled a release back"),
    "release.supersede": _("Replaced a release"),
    "release.restore": _("Put a release back"),
    "bench.load": _("Filled the catalog to measure by"),
    "sample.load": _("Loaded the sample data"),
    "set.create": _("Made a set"),
    "set.add": _("Added to a set"),
    "skill.degrade": _("Switched a skill off"),
    "skill.restore": _("Switched a skill on again"),
    "skill.settle": _("Changed who a skill belongs to"),
    "skill.transfer": _("Moved a skill to another team"),
    "skill.delete": _("Deleted a skill"),
    "team.create": _("Made a team"),
    "team.rename": _("Renamed a team"),
    "team.remove": _("Removed a team"),
    "token.issue": _("Issued a token"),
    "token.rotate": _("Rotated a token"),
    "token.revoke": _("Revoked a token"),
    "user.create": _("Made an account"),
    "user.link": _("Made a link to sign in"),
    "user.password": _("Chose a password"),
    "user.close": _("Closed an account"),
    "user.open": _("Opened an account again"),
    "version.publish": _("Published a version"),
    "version.rescan": _("Scanned a version again"),
    "version.deprecate": _("Deprecated a version"),
    "version.yank": _("Yanked a version"),
    "version.revoke": _("Revoked a version"),
}
