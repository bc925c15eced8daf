"""One pass over one payload, or over many.

Texts are gathered first and searched together, since a search costs more to begin than to go on; what is found is
then put where it belongs. Texts that need a reading of their own (of another role, with escapes, very long) are
masked on the spot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from governance.masking import detection, escapes, names, values
from governance.masking.detection import field as field_of
from governance.masking.detection import is_plain
from governance.masking.json_text import OPTION, Editor, encode, may_be_json
from governance.masking.masks import Masked, SubjectTag, spell, tag_of
from governance.masking.spans import Cover, covers
from governance.masking.words import PARTING

DEEPEST = 100
DEEPEST_TEXT = 8
LONGEST = detection.LONGEST
TOO_DEEP = "[TOO DEEP]"
TOO_LONG = "[TOO LONG]"
_LONG = 4000
# Numbers that stand close by one another are told apart one a round.
_ROUNDS = 8
_SMALLEST = 100
_LARGEST = 10**20
_AMOUNTS = frozenset((names.MEASURE, names.OPAQUE, names.ABOUT))


class _Slot(NamedTuple):
    """A text, where it goes when it is masked and where its tags go, and whether it goes there as a JSON string."""

    holder: Any
    place: Any
    text: str
    tags: set[SubjectTag]
    literal: bool = False

    def settle(self, masked: str) -> None:
        """Put the masked text where it belongs; a JSON string that did not change stays as it was written."""
        if not self.literal:
            self.holder[self.place] = masked
        elif masked != self.text:
            self.holder[self.place] = encode(masked)


@dataclass(slots=True)
class Walk:
    """The state of a pass: the tags so far, the texts still to search, the documents still to join.

    Kinds that are `off` are left as they are, unless another kind covers them.
    """

    key: bytes = field(repr=False)
    off: frozenset[str] = frozenset()
    _tags: set[SubjectTag] = field(default_factory=set)
    _slots: list[_Slot] = field(default_factory=list)
    _documents: list[tuple[_Slot, list[str]]] = field(default_factory=list)

    def masked(self, value: object, role: str) -> Masked:
        """The value masked, whatever it is, and the tags of what was masked in it."""
        return self.masked_each([value], role)[0]

    def masked_each(self, values: Sequence[object], role: str) -> list[Masked]:
        """Each of the values masked by itself; their texts are searched together."""
        roots: list[Any] = [None] * len(values)
        tags: list[set[SubjectTag]] = []
        for place, value in enumerate(values):
            self._tags = set()
            tags.append(self._tags)
            self._put(roots, place, value, role, 0)
        self._search()
        for slot, parts in self._documents:
            slot.settle("".join(parts))
        return [Masked(root, frozenset(own)) for root, own in zip(roots, tags, strict=True)]

    def _put(self, holder: Any, place: Any, value: Any, role: str, depth: int) -> None:
        """Put the masked value in its place, or remember to do it."""
        kind = type(value)
        if kind is str:
            holder[place] = value
            if not is_plain(value, role):
                self._put_text(_Slot(holder, place, value, self._tags), role, 0)
        elif value is None or kind is bool:
            holder[place] = value
        elif kind is int or kind is float:
            holder[place] = self._number(value, role)
        elif depth >= DEEPEST:
            holder[place] = TOO_DEEP
        elif isinstance(value, dict):
            holder[place] = {}
            self._put_mapping(holder[place], value, role, depth + 1)
        elif isinstance(value, list | tuple):
            holder[place] = [None] * len(value)
            self._put_listing(holder[place], value, role, depth + 1, depth > 0 and type(holder) is list)
        else:
            self._put(holder, place, as_json(value), role, depth)

    def _put_mapping(self, masked: dict[Any, Any], value: dict[Any, Any], role: str, depth: int) -> None:
        named = names.PLAIN
        if not names.TELLING.isdisjoint(value):
            role, named = _told(value, role)
        for key, one in value.items():
            name, own = key, role
            if type(key) is str:
                own, plain = field_of(key)
                if not plain:
                    name = self._running(key, names.PLAIN)
                    own, _ = field_of(name)
                if role != names.PLAIN or named != names.PLAIN:
                    own = names.role_under(name, own, role, named)
            elif type(key) is int or type(key) is float:
                name = self._number(key, names.PLAIN)
            if name in masked:
                name = free_name(name, masked)
            # Most values are plain texts and small numbers; to ask here saves a call for each.
            kind = type(one)
            if (kind is str and is_plain(one, own)) or (kind is int and (own in _AMOUNTS or one < _SMALLEST)):
                masked[name] = one
            else:
                self._put(masked, name, one, own, depth)

    def _put_listing(
        self, masked: list[Any], value: Sequence[Any], role: str, depth: int, is_inner: bool
    ) -> None:
        before: Any = None
        for place, one in enumerate(value):
            own = role
            # Headers as servers hold them: [["x-api-key", "…"]]
            if is_inner and place == 1 and isinstance(before, str) and isinstance(one, str):
                own = names.role_beside(before, one, role)
            # Arguments of a program: ["--password", "…"]
            if (
                isinstance(before, str)
                and isinstance(one, str)
                and one[:1] != "-"
                and OPTION.fullmatch(before)
            ):
                named = names.role_of(before)
                own = named if named in names.HIDDEN else role
            self._put(masked, place, one, own, depth)
            before = one

    def _put_text(self, slot: _Slot, role: str, depth: int) -> None:
        """Mask a text that is not plain; `depth` counts JSON within JSON."""
        text = slot.text
        if len(text) > LONGEST:
            slot.settle(self._running(_cut(text), role) + TOO_LONG)
        elif role in names.HIDDEN:
            # The value goes as a whole; what is told apart in it is tagged, so that it can be found.
            spans = (*detection.spans_in(text, role), *values.hidden(text, 0, len(text), role))
            slot.settle(self._replace(text, covers(spans, self.off)))
        elif depth >= DEEPEST_TEXT or not may_be_json(text) or not self._put_document(slot, role, depth):
            self._put_running(slot, role)

    def _put_running(self, slot: _Slot, role: str) -> None:
        """Mask a text that is no JSON, now or together with others."""
        text = slot.text
        if role == names.PHONE or len(text) > _LONG or PARTING[1] in text or escapes.are_in(text):
            slot.settle(self._running(text, role))
        else:
            self._slots.append(slot)

    def _put_document(self, slot: _Slot, role: str, depth: int) -> bool:
        """Mask the strings and numbers of JSON in their places; False where the text is no JSON."""
        slots, documents = len(self._slots), len(self._documents)
        parts: list[str] = []

        def put_string(place: int, text: str, own: str) -> None:
            self._put_text(_Slot(parts, place, text, self._tags, literal=True), own, depth + 1)

        def mask_name(name: str) -> str:
            return self._running(name, names.PLAIN)

        editor = Editor(slot.text, parts, mask_name, put_string, self._written_number)
        stop = editor.edit(role)
        if stop is None:
            del self._slots[slots:], self._documents[documents:]
            return False
        if stop < len(slot.text):
            parts.append(slot.text[stop:])
            self._put_running(_Slot(parts, len(parts) - 1, slot.text[stop:], self._tags), role)
        self._documents.append((slot, parts))
        return True

    def _number(self, value: float, role: str) -> Any:
        """A number, or the text that masks it where it is whole."""
        if role in _AMOUNTS or not _SMALLEST <= value < _LARGEST or value != int(value):
            return value
        return self._written_number(str(int(value)), role) or value

    def _written_number(self, written: str, role: str) -> str:
        """The mask of a number as it is written; empty where it need not be masked."""
        if not 3 <= len(written) <= 20 or role in _AMOUNTS or not written.isdigit():
            return ""
        if role in names.HIDDEN:
            spans = values.hidden(written, 0, len(written), role)
        else:
            spans = detection.numbers_in(written, role)
        masked = self._replace(written, covers(spans, self.off))
        return "" if masked == written else masked

    def _search(self) -> None:
        """Mask the texts that were gathered; those in ASCII by themselves, for in them all is found faster."""
        for is_ascii in (True, False):
            self._search_some([(slot, slot.text) for slot in self._slots if slot.text.isascii() is is_ascii])

    def _search_some(self, waiting: list[tuple[_Slot, str]]) -> None:
        for _ in range(_ROUNDS):
            if not waiting:
                break
            again = []
            for number, found in detection.covers_in_each([text for _, text in waiting], self.off):
                slot, text = waiting[number]
                self._tags = slot.tags
                masked = self._replace(text, found)
                slot.settle(masked)
                if detection.may_change(text, found):
                    again.append((slot, masked))
            waiting = again

    def _running(self, text: str, role: str) -> str:
        """A text masked; again until nothing is found, since a mask may part what was one before."""
        for _ in range(_ROUNDS):
            found = covers(detection.spans_in(text, role), self.off)
            again = detection.may_change(text, found)
            text = self._replace(text, found)
            if not again:
                break
        return text

    def _replace(self, text: str, found: Iterable[Cover]) -> str:
        parts: list[str] = []
        end = 0
        for cover in found:
            named = tag_of(self.key, cover.named.kind, cover.named.normal)
            self._tags.add(named)
            for kind, normal in cover.others():
                self._tags.add(tag_of(self.key, kind, normal))
            parts += text[end : cover.start], spell(named)
            end = cover.end
        return "".join(parts) + text[end:] if parts else text


def as_json(value: Any) -> str | int | float:
    """What JSON would make of a value that it does not know: its number or its text."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    return str.__str__(str(value))


def _told(value: dict[Any, Any], role: str) -> tuple[str, str]:
    """What the fields of an object tell of it: it is a schema, or its `name` gives a role to its `value`."""
    named = names.PLAIN
    if isinstance(value.get("type"), str) and value["type"] in names.SCHEMA_TYPES:
        role = names.PLAIN
    for key in names.NAMING:
        if named == names.PLAIN and key in value:
            named = detection.told_by(value[key])
    return role, named


def free_name(name: Any, taken: dict[Any, Any]) -> Any:
    """The name, numbered where two keys have come to read the same."""
    number, free = len(taken) + 1, name
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    return free


def _cut(text: str) -> str:
    """The text up to its last space before the limit, so that no half of a value stays."""
    cut = text[:LONGEST]
    for space in (" ", "\n", ","):
        at = cut.rfind(space, LONGEST - 10_000)
        if at >= 0:
            return cut[:at]
    return cut[: LONGEST - 10_000]
