"""The one masker of this instance: under its key, by the rules that it has now.

Rules and switches are read from the database at most once a second in each process, so a change is followed
everywhere within that time. What writes payloads asks `masker`, which raises where they cannot be read: nothing is
written with rules missing. A log record takes what was read last (`masker_at_hand`) and asks no database.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256

from django.conf import settings

from governance.masking import Masker, Rule, SubjectTag, compile_rules
from governance.masking.masks import tag_of
from governance.storable import storable

# The lengths of the columns.
LONGEST, LONGEST_OF = 200, {"version_text": 255}
# Columns by which rows are told apart, or refer to each other.
IDS = frozenset({"call_id", "trace_id", "span_id", "parent_id", "session_id", "task_id"})
# What tells masked ids apart: letters alone, so that no part of it reads as a number.
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjkmnpqrstv")
_LETTERS_OF_IDS = 12
_HALF_A_MASK = re.compile(r"\[[A-Z0-9_]*·?[0-9a-f]*\Z")
FRESH_SECONDS = 1.0
# A search asks for what a text was under so many keys; who rotates more often than traces are kept finds the newest.
MOST_KEYS = 5


@dataclass(frozen=True, slots=True)
class Ruling:
    """What an instance masks by: its own rules, those that rest, and the built-in kinds that are off."""

    rules: tuple[Rule, ...] = ()
    resting: tuple[Rule, ...] = ()
    off: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Read:
    """What was read last, and when (of the monotonic clock)."""

    ruling: Ruling = Ruling()
    at: float | None = None


_read = _Read()


def masker() -> Masker:
    """The masker under MASKING_KEY by the rules of now; raises where they cannot be read."""
    return _masker(settings.MASKING_KEY, ruling())


def masker_at_hand() -> Masker:
    """The masker by the rules that were read last; by the built-in ones where none were. Asks no database."""
    return _masker(settings.MASKING_KEY, _read.ruling)


def ruling() -> Ruling:
    """The rules and switches, at most a second old; raises what the database raises.

    Where they cannot be read, the last known rules stay at hand, with every built-in kind.
    """
    now = time.monotonic()
    if _read.at is not None and now - _read.at < FRESH_SECONDS:
        return _read.ruling
    try:
        fresh = _query()
        compile_rules((*fresh.rules, *fresh.resting))
    except Exception:
        _read.ruling, _read.at = replace(_read.ruling, off=frozenset()), None
        raise
    _read.ruling, _read.at = fresh, now
    return fresh


def forget_cached() -> None:
    """Read the rules anew when they are next asked for: they have just been changed."""
    _read.at = None


def forget_all() -> None:
    """Know no rules but the built-in ones, as a new process does."""
    _read.ruling, _read.at = Ruling(), None


def masker_by(ruled: Ruling) -> Masker:
    """A masker by other rules, under the same key: to try them. Raises BadRule."""
    return _masker(settings.MASKING_KEY, ruled)


def stored_id(field: str, text: str) -> str:
    """What a reported text became in this column of a call or a task (`trace_id`, `skill_text` …), to look it up by.

    The name of a field tells the masker what stands in it: bare digits are an id under `trace_id`
    and may be a phone number elsewhere.
    """
    return _stored(masker(), field, text)


def stored_ids(field: str, text: str) -> list[str]:
    """What a text is in this column under each key that is known, the present one first; mostly one and the same.

    A text that nobody masks is itself under every key. Of many keys the newest five are asked.
    """
    known = [_masker(key, ruling()) for key in _keys()[:MOST_KEYS]]
    return list(dict.fromkeys(_stored(one, field, text) for one in known))


def subject_tags(value: str) -> list[tuple[str, SubjectTag]]:
    """The id of each key that this instance knows, the present one first, with the tags of a value under it.

    What was masked before a rotation of keys is found by these, and what was masked by a rule or a kind that is
    switched off now.
    """
    ruled = ruling()
    every = Ruling(rules=(*ruled.rules, *ruled.resting))
    return [(one.key_id, tag) for one in (_masker(key, every) for key in _keys()) for tag in one.tag(value)]


def known_keys() -> list[str]:
    """The ids of the keys that this instance knows, the present one first."""
    return [key_id_of(key) for key in _keys()]


def key_id_of(key: str) -> str:
    """What a key is called beside what was masked under it."""
    return sha256(b"key id" + key.encode()).hexdigest()[:8]


def _keys() -> list[str]:
    return list(dict.fromkeys((settings.MASKING_KEY, *settings.MASKING_KEYS_BEFORE)))


def settled_id(by: Masker, text: str, masked: str) -> str:
    """What is kept of an id that was masked: as long as its column, and still another one than of any other id.

    A mask tells 65,536 values apart and may be longer than what it stands for: two ids would become one, and a call
    would be lost as a duplicate of another. So letters of a keyed hash of the whole id end it.
    """
    whole = tag_of(by.key, "id", storable(text)).hash[:_LETTERS_OF_IDS].translate(_LETTERS)
    kept = _HALF_A_MASK.sub("", storable(masked)[: LONGEST - len(whole) - 1])
    return f"{kept}~{whole}"


def _stored(by: Masker, field: str, text: str) -> str:
    masked: str = by.mask({"row": {field: text}}).value["row"][field]
    if masked != text and field in IDS:
        return settled_id(by, text, masked)
    kept: str = storable(masked)
    return kept[: LONGEST_OF.get(field, LONGEST)]


def _query() -> Ruling:
    # Logging is set up with a masker before Django knows any model.
    from governance.models import MaskingRule, MaskingSwitch

    rows = list(MaskingRule.objects.values_list("kind", "pattern", "fields", "is_on"))
    return Ruling(
        rules=_rules(row for row in rows if row[3]),
        resting=_rules(row for row in rows if not row[3]),
        off=frozenset(MaskingSwitch.objects.values_list("kind", flat=True)),
    )


def _rules(rows: Iterable[tuple[str, str, list[str], bool]]) -> tuple[Rule, ...]:
    return tuple(Rule(kind, pattern, tuple(fields)) for kind, pattern, fields, _ in rows)


@lru_cache(maxsize=64)
def _masker(key: str, ruled: Ruling) -> Masker:
    custom = compile_rules(ruled.rules, _frame()) if ruled.rules else None
    return Masker(key.encode(), key_id_of(key), custom, ruled.off)


@lru_cache(maxsize=1)
def _frame() -> frozenset[str]:
    """The names that payloads are put together with before they are masked: a rule that matches one leaves it."""
    from governance.models import Call, CallDetail, ContextSpan, TaskOutcome

    models = (Call, CallDetail, ContextSpan, TaskOutcome)
    columns = {field.name for model in models for field in model._meta.concrete_fields}
    return frozenset(columns | {"row", "detail", "attributes", "start_ms"})
