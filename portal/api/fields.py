"""Fields of a request body, typed; every wrong one is told at once, by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from catalog.bundles.characters import code_point, first_deceptive
from portal.api.errors import Problem
from portal.forms.skills import LONGEST_REASON
from portal.free_text import kinds_in, masked

LONGEST = 20_000
LONGEST_NAME = 64
EARLIEST, LATEST = 1900, 9000
REASON_MISSING = "Give a reason; it is kept in the audit log."
MOST_NAMES = 100


class Fields:
    """Reads the fields of one body and collects what is wrong; `check` raises it as one Problem."""

    def __init__(self, data: Any) -> None:
        if not isinstance(data, Mapping):
            raise Problem("body-invalid", "The body is not an object.")
        self.data: Mapping[str, Any] = data
        self.errors: list[dict[str, str]] = []

    def has(self, name: str) -> bool:
        """Whether the field is there, if only empty."""
        return name in self.data

    def text(self, name: str, *, needed: bool = False, longest: int = LONGEST) -> str:
        """A text, "" where it is absent."""
        value = self.data.get(name)
        if value is None or value == "":
            if needed:
                self.wrong(name, f"{name} is missing.")
            return ""
        if not isinstance(value, str) or "\0" in value:
            self.wrong(name, f"{name} is not text.")
            return ""
        if len(value) > longest:
            self.wrong(name, f"{name} has {len(value)} characters; at most {longest} are taken.")
        elif hidden := first_deceptive(value):
            code = code_point(hidden)
            self.wrong(name, f"{name} holds a hidden control character ({code}); leave it out.")
        return value

    def prose(self, name: str, *, longest: int = LONGEST) -> str:
        """A text for others to read, as it is kept: personal data and secrets are masked."""
        return masked(self.text(name, longest=longest), longest=longest)

    def verbatim(self, name: str, *, needed: bool = False) -> str:
        """A text that is kept to the letter; wrong where personal data or secrets would have to be masked."""
        value = self.text(name, needed=needed)
        if kinds := kinds_in(value):
            found = ", ".join(kinds)
            self.wrong(
                name,
                f"{name} holds personal data or a secret ({found}), which is never stored; leave it out.",
            )
        return value

    def reason(self, *, needed: bool = True, missing: str = REASON_MISSING) -> str:
        """The text of `reason`, bounded as on the pages; raises Problem for this and every field before it."""
        reason = self.prose("reason", longest=LONGEST_REASON).strip()
        self.check()
        if needed and not reason:
            raise Problem("reason-missing", missing, status=422)
        return reason

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        """One of the choices, None where it is absent."""
        value = self.text(name)
        if value and value not in choices:
            self.wrong(name, f"{name} is {value[:80]!r}; give one of {', '.join(choices)}.")
            return None
        return value or None

    def names(self, name: str, *, choices: Sequence[str] = ()) -> tuple[str, ...] | None:
        """A list of names: a JSON list, a field that is repeated, or text with commas."""
        value: Any = self.data.get(name)
        if hasattr(self.data, "getlist"):
            value = self.data.getlist(name) or None
            if value and len(value) == 1:
                value = value[0]
        if isinstance(value, str):
            value = _listed(value)
        if value is None:
            return None
        if not isinstance(value, list) or not all(map(_is_name, value)) or len(value) > MOST_NAMES:
            self.wrong(
                name,
                f"{name} is not a list of names: at most {MOST_NAMES} of up to {LONGEST_NAME} characters.",
            )
            return None
        found = tuple(dict.fromkeys(item.strip() for item in value if item.strip()))
        unknown = [item for item in found if choices and item not in choices]
        if unknown:
            self.wrong(name, f"{name} holds {unknown[0]!r}; the known ones are {', '.join(choices)}.")
        return found

    def mapping(self, name: str) -> Mapping[str, Any]:
        """An object, empty where it is absent."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, Mapping):
            self.wrong(name, f"{name} is not an object.")
        return value if isinstance(value, Mapping) else {}

    def flag(self, name: str) -> bool:
        """A switch; false where it is absent."""
        value = self.data.get(name)
        if value in (None, "", False, "false", "0", "no", "off"):
            return False
        if value not in (True, "true", "1", "yes", "on"):
            self.wrong(name, f"{name} is neither true nor false.")
        return True

    def number(self, name: str, *, least: int, most: int) -> int | None:
        """A whole number, None where it is absent."""
        value = self.data.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.wrong(name, f"{name} is not a whole number from {least} to {most}.")
            return None
        return int(value)

    def numbers(self, name: str, *, least: int, most: int) -> tuple[int, ...]:
        """A list of whole numbers, empty where it is absent."""
        value = self.data.get(name)
        if value is None:
            return ()
        known = isinstance(value, list) and all(
            isinstance(one, int) and not isinstance(one, bool) and least <= one <= most for one in value
        )
        if not known or len(value) > most:
            self.wrong(name, f"{name} is not a list of whole numbers from {least} to {most}.")
            return ()
        return tuple(value)

    def check(self) -> None:
        """Raise what was wrong, if anything was."""
        if self.errors:
            detail = " ".join(error["message"] for error in self.errors)
            raise Problem("field-invalid", detail, status=422, errors=self.errors)

    def wrong(self, name: str, message: str) -> None:
        """Note that a field is wrong, and why."""
        self.errors.append({"field": name, "code": "field-invalid", "message": message})


def read_moment(name: str, text: str) -> datetime:
    """A time of the query; raises Problem where it is none."""
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    # Near the ends of the calendar a change of zone leaves it.
    if moment is None or not EARLIEST <= moment.year <= LATEST:
        raise Problem("field-invalid", f"{name} is not a time such as 2026-11-30T12:00:00Z.")
    return moment if moment.tzinfo else timezone.make_aware(moment)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_NAME and value.isprintable()


def _listed(text: str) -> Any:
    """A field's text as a list: JSON where it looks like it, else split at commas."""
    if not text.lstrip().startswith("["):
        return text.split(",")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
