"""What the page of masking shows: the built-in kinds in words, the rules, and a sample before and after."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from governance.masking import KINDS
from governance.masking.masks import MASK
from governance.masking_rules import CREDENTIALS, Trial
from governance.models import MaskingRule, MaskingSwitch

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Words = str | _StrPromise

# Lines of more words than this are compared by their ends alone.
MOST_WORDS = 150
_WORD = re.compile(rf"{MASK.pattern}|\w+|\s+|.", re.DOTALL)
# What each built-in kind finds, and an example that is made up.
KIND_WORDS: Mapping[str, tuple[Words, str]] = {
    "KEY": (_("Keys in the form of their issuers, and private keys"), "AKIAIOSFODNN7EXAMPLE"),
    "JWT": (_("JSON Web Tokens"), "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJlLW1hZGUtdXA"),
    "TOKEN": (_("What stands behind Bearer, Basic and the like"), "Authorization: Bearer 8f2b61c09d7e4a35"),
    "SECRET": (
        _("Values under telling names: password, secret, api_key, cookies, one-time codes"),
        "password=correct-horse-7",
    ),
    "EMAIL": (_("E-mail addresses"), "jane@example.com"),
    "IBAN": (
        _("International bank account numbers with a right check number"),
        "DE89 3704 0044 0532 0130 00",
    ),
    "ID_CN": (
        _("Chinese resident identity numbers with a right date and check digit"),
        "11010519491231002X",
    ),
    "CARD": (_("Numbers of bank cards that pass the check of Luhn"), "4111 1111 1111 1111"),
    "IP": (_("IP addresses, versions 4 and 6"), "198.51.100.23"),
    "PHONE": (_("Telephone numbers, international and Chinese"), "+49 30 1234567"),
}


@dataclass(frozen=True, slots=True)
class KindRow:
    """A built-in kind; `reason` and `since` tell why it is off, and since when."""

    kind: str
    finds: Words
    example: str
    is_on: bool
    is_credential: bool
    reason: str = ""
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a masked sample, and whether the other one reads otherwise there."""

    text: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A trial as the page shows it: by the rules of now, by those with the new one, and how many values that finds."""

    now: tuple[Piece, ...]
    then: tuple[Piece, ...]
    found: int


def kind_rows() -> list[KindRow]:
    """Every built-in kind; one query."""
    off = {one.kind: one for one in MaskingSwitch.objects.all()}
    return [
        KindRow(
            kind,
            *KIND_WORDS[kind],
            is_on=kind not in off,
            is_credential=kind in CREDENTIALS,
            reason=off[kind].reason if kind in off else "",
            since=off[kind].changed_at if kind in off else None,
        )
        for kind in KINDS
    ]


def all_rules() -> list[MaskingRule]:
    """The instance's rules by their kinds."""
    return list(MaskingRule.objects.order_by("kind"))


def show_trial(trial: Trial) -> Shown:
    """The trial with what differs."""
    now, then = _written(trial.now), _written(trial.then)
    return Shown(*compare(now, then), trial.found)


def compare(now: str, then: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts in pieces; line by line where they have as many lines, for a mask has none in it."""
    mine, other = now.splitlines(keepends=True), then.splitlines(keepends=True)
    if len(mine) != len(other):
        mine, other = [now], [then]
    left: list[Piece] = []
    right: list[Piece] = []
    for one, two in zip(mine, other, strict=True):
        for before, after, differs in _differences(one, two):
            left.append(Piece(before, differs))
            right.append(Piece(after, differs))
    return tuple(_joined(left)), tuple(_joined(right))


def _differences(one: str, two: str) -> Iterator[tuple[str, str, bool]]:
    if one == two:
        yield one, two, False
        return
    mine, other = _WORD.findall(one), _WORD.findall(two)
    if max(len(mine), len(other)) > MOST_WORDS:
        yield from _between_ends(mine, other)
        return
    for way, a, b, c, d in SequenceMatcher(None, mine, other, autojunk=False).get_opcodes():
        yield "".join(mine[a:b]), "".join(other[c:d]), way != "equal"


def _between_ends(mine: Sequence[str], other: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """What both begin with, what differs, and what both end with."""
    most = min(len(mine), len(other))
    start = next((n for n in range(most) if mine[n] != other[n]), most)
    end = next((n for n in range(most - start) if mine[-1 - n] != other[-1 - n]), most - start)
    yield "".join(mine[:start]), "".join(other[:start]), False
    yield "".join(mine[start : len(mine) - end]), "".join(other[start : len(other) - end]), True
    yield "".join(mine[len(mine) - end :]), "".join(other[len(other) - end :]), False


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Pieces of the same kind that follow each other as one; empty ones left out."""
    text, differs = "", False
    for one in pieces:
        if not one.text:
            continue
        if text and one.differs != differs:
            yield Piece(text, differs)
            text = ""
        text, differs = text + one.text, one.differs
    if text:
        yield Piece(text, differs)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
