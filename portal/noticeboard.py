"""Notices as pages show them: what was asked for, a page by key with unread ones first, and rows in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import BooleanField, Case, Q, QuerySet, Value, When
from django.http import QueryDict

from catalog.access import Powers
from governance.models import Notice
from governance.notice_texts import path_of, sentence
from governance.notices import notices_of

PAGE_SIZE = 30
MOST_COUNTED = 100
KINDS: Mapping[str, tuple[str, ...]] = {
    "releases": ("release.",),
    "skills": ("skill.", "version.", "appeal."),
    "people": ("grant.", "delegation.", "user."),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for; values that mean nothing ask for nothing."""

    unread: bool = False
    kind: str = ""

    @property
    def narrowed(self) -> bool:
        """Whether anything is left out."""
        return self.unread or self.kind != ""


@dataclass(frozen=True, slots=True)
class NoticeRow:
    """A notice with its sentence and the page that it leads to ("" for none)."""

    notice: Notice
    sentence: str
    path: str


@dataclass(frozen=True, slots=True)
class NoticePage:
    """Notices, unread ones first and the newest first, and the cursor of the next page ("" for none)."""

    rows: tuple[NoticeRow, ...]
    older: str


def read_asked(query: QueryDict) -> Asked:
    """The query of an address."""
    kind = query.get("kind", "")
    return Asked(unread=query.get("show") == "unread", kind=kind if kind in KINDS else "")


def page_of(powers: Powers, asked: Asked, *, before: str = "", size: int = PAGE_SIZE) -> NoticePage:
    """A page of the user's notices behind the cursor `before`; one that cannot be read counts as none."""
    rows = _filtered(notices_of(powers), asked).annotate(is_read=IS_READ)
    if place := _read(before):
        is_read, entry = place
        rows = rows.filter(Q(is_read=is_read, entry__lt=entry) | Q(is_read__gt=is_read))
    found = list(rows.select_related("environment").order_by("is_read", "-entry")[: size + 1])
    last = found[size - 1] if len(found) > size else None
    shown = tuple(NoticeRow(one, sentence(one), path_of(one)) for one in found[:size])
    return NoticePage(shown, f"{int(last.read_at is not None)}-{last.entry}" if last else "")


IS_READ = Case(When(read_at=None, then=Value(False)), default=Value(True), output_field=BooleanField())


def count_text(count: int) -> str:
    """A number of unread notices as the bell shows it; "" for none."""
    return "" if not count else f"{MOST_COUNTED - 1}+" if count >= MOST_COUNTED else str(count)


def _filtered(notices: QuerySet[Notice], asked: Asked) -> QuerySet[Notice]:
    if asked.unread:
        notices = notices.filter(read_at=None)
    if asked.kind:
        kinds = Q()
        for prefix in KINDS[asked.kind]:
            kinds |= Q(verb__startswith=prefix)
        notices = notices.filter(kinds)
    return notices


def _read(cursor: str) -> tuple[bool, int] | None:
    is_read, _, entry = cursor.partition("-")
    if is_read not in {"0", "1"} or not (entry.isascii() and entry.isdigit()) or len(entry) > 18:
        return None
    return is_read == "1", int(entry)
