"""What a mask is: its kinds, its spelling, and the hash behind it."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Any, Final

EMAIL: Final = "EMAIL"
PHONE: Final = "PHONE"
ID_CN: Final = "ID_CN"
CARD: Final = "CARD"
IBAN: Final = "IBAN"
IP: Final = "IP"
KEY: Final = "KEY"
JWT: Final = "JWT"
TOKEN: Final = "TOKEN"  # noqa: S105 - the name of a kind
SECRET: Final = "SECRET"  # noqa: S105 - the name of a kind

# From the most to the least telling: of two kinds that fit the same characters, the first names the mask.
KINDS: Final = (KEY, JWT, TOKEN, SECRET, EMAIL, IBAN, ID_CN, CARD, IP, PHONE)


class _Ranks(dict[str, int]):
    """The place of each kind among KINDS; a kind of the instance comes before all, for somebody asked for it."""

    def __missing__(self, kind: str) -> int:
        return -1


RANK: Final = _Ranks((kind, rank) for rank, kind in enumerate(KINDS))

# Of any kind, for an instance may have kinds of its own, and have given one up whose masks are still there.
MASK: Final = re.compile(r"\[[A-Z][A-Z0-9_]{1,15}·[0-9a-f]{4}\]")


@dataclass(frozen=True, slots=True)
class SubjectTag:
    """The full keyed hash (64 hex digits of HMAC-SHA256) of one value that was masked."""

    kind: str
    hash: str


@dataclass(frozen=True, slots=True)
class Masked:
    """A masked value, and a tag for each value that was masked in it."""

    value: Any
    tags: frozenset[SubjectTag]


def tag_of(key: bytes, kind: str, normal: str) -> SubjectTag:
    """The tag of a normalised value."""
    message = f"{kind}\0{normal}".encode("utf-8", "surrogatepass")
    return SubjectTag(kind, hmac.digest(key, message, "sha256").hex())


def spell(tag: SubjectTag) -> str:
    """The mask of a tag, as `[EMAIL·7f3a]`."""
    return f"[{tag.kind}·{tag.hash[:4]}]"
