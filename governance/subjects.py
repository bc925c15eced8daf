"""A subject: the tags that masking gave to one value, and what is kept under them.

The value is turned into tags here and forgotten: neither a row, nor a line of a log, nor an address holds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.db.models import Model
from django.utils.dateparse import parse_datetime
from django.views.decorators.debug import sensitive_variables

from catalog.models import Environment
from governance.masking.masks import SECRET, TOKEN
from governance.masks import known_keys, masker, subject_tags
from governance.models import Call, ContextSpan, SubjectTag, TaskOutcome
from governance.storable import storable

LONGEST_VALUE = 4096
# Whatever stands under a tell-tale name is masked as one of these, so every value has tags of theirs.
OF_ANYTHING = frozenset({SECRET, TOKEN})
DIGITS = 4
MOST_TAGGED = 20_000
HIDDEN = "[…]"

NO_VALUE = "Give the value of the subject, such as an e-mail address."
NOT_RECOGNISED = (
    "Nothing is masked in this value, and nothing that is kept holds it as a secret: nothing could be found by it. "
    "Names of people and free text are not masked."
)


class NoSubject(ValueError):
    """A value by which nothing can be found; the text says why and never repeats it."""


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag of a subject: under which key, of which kind, and the full keyed hash."""

    key_id: str
    kind: str
    hash: str = field(repr=False)

    @property
    def mask(self) -> str:
        """The mask that stands in the calls, as `[EMAIL·7f3a]`."""
        return f"[{self.kind}·{self.hash[:DIGITS]}]"


@dataclass(frozen=True, slots=True)
class Subject:
    """Every tag that a value may have been given, under every key that the instance knows."""

    tags: tuple[Tag, ...]

    @property
    def hashes(self) -> list[str]:
        """The full hashes; each belongs to one key and one kind."""
        return [tag.hash for tag in self.tags]

    @property
    def shown(self) -> tuple[Tag, ...]:
        """The tags that tell something of the value: those of any value only where there are no others."""
        telling = tuple(tag for tag in self.tags if tag.kind not in OF_ANYTHING)
        return telling or self.tags

    @property
    def masks(self) -> list[str]:
        """The masks to show, each once: those under the present key, or what there is."""
        present = known_keys()[0]
        ours = [tag.mask for tag in self.shown if tag.key_id == present]
        return list(dict.fromkeys(ours or [tag.mask for tag in self.shown]))

    @property
    def kinds(self) -> list[str]:
        """The kinds of these tags."""
        return list(dict.fromkeys(tag.kind for tag in self.shown))

    def packed(self) -> list[list[str]]:
        """The tags as JSON keeps them."""
        return [[tag.key_id, tag.kind, tag.hash] for tag in self.tags]

    def shortened(self) -> Subject:
        """The tags with no more of their hashes than masks show."""
        return Subject(tuple(Tag(tag.key_id, tag.kind, tag.hash[:DIGITS]) for tag in self.tags))

    @classmethod
    def unpack(cls, packed: Sequence[Sequence[str]]) -> Subject:
        """What `packed` made."""
        return cls(tuple(Tag(*one) for one in packed))


@dataclass(frozen=True, slots=True)
class Found:
    """How often a mask stands in calls and in spans of context."""

    mask: str
    calls: int
    spans: int


@dataclass(frozen=True, slots=True)
class Place:
    """What is kept of the subject's traces in an environment; the times are those of receipt."""

    environment: str
    title: str
    traces: int
    calls: int
    spans: int
    tasks: int
    oldest: datetime | None
    newest: datetime | None


@dataclass(frozen=True, slots=True)
class Reach:
    """What an erasure would take away now; not `is_whole` where only the first MOST_TAGGED tags were followed."""

    found: tuple[Found, ...]
    places: tuple[Place, ...]
    is_whole: bool

    @property
    def traces(self) -> int:
        """In all environments."""
        return sum(place.traces for place in self.places)

    @property
    def calls(self) -> int:
        """In all environments."""
        return sum(place.calls for place in self.places)

    @property
    def spans(self) -> int:
        """In all environments."""
        return sum(place.spans for place in self.places)

    @property
    def tasks(self) -> int:
        """In all environments."""
        return sum(place.tasks for place in self.places)


@sensitive_variables("value")
def read_subject(value: str) -> Subject:
    """The subject that a value names; raises NoSubject where masking can have made nothing of it.

    A text that holds several values names all of them.
    """
    if not value.strip():
        raise NoSubject(NO_VALUE)
    subject = Subject(tuple(Tag(key_id, tag.kind, tag.hash) for key_id, tag in subject_tags(value)))
    recognised = any(tag.kind not in OF_ANYTHING for tag in subject.tags)
    if not recognised and not SubjectTag.objects.filter(hash__in=subject.hashes).exists():
        raise NoSubject(NOT_RECOGNISED)
    return subject


@sensitive_variables("text", "value", "shown")
def without_value(text: str, *, value: str) -> str:
    """A text about the subject, such as a reason, as it may be kept: masked, and without the value itself."""
    shown: str = storable(masker().mask_text(text).value)
    if plain := value.strip():
        shown = re.sub(re.escape(plain), HIDDEN, shown, flags=re.IGNORECASE)
    return shown


def find_reach(subject: Subject) -> Reach:
    """Count what an erasure would take away now; a fixed number of statements, which write nothing."""
    masks = {tag.hash: tag.mask for tag in subject.tags}
    rows = _ask(subject, "SELECT hash, count(call_id), count(span_id) FROM tagged GROUP BY hash")
    counted = {hashed: (int(calls), int(spans)) for hashed, calls, spans in rows}
    found = [Found(masks[hashed], *counted[hashed]) for hashed in masks if hashed in counted]
    traces = dict(_ask(subject, "SELECT environment_id, count(*) FROM traces GROUP BY environment_id"))
    by_table = [_counts(subject, model) for model in (Call, ContextSpan, TaskOutcome)]
    titles = Environment.objects.in_bulk() if traces else {}
    places = tuple(
        _place(one, int(traces[key]), [counts.get(key, (0, None, None)) for counts in by_table])
        for one in sorted(titles.values(), key=lambda row: row.order)
        if (key := _key(one, traces)) is not None
    )
    tagged = sum(one.calls + one.spans for one in found)
    return Reach(tuple(found), places, is_whole=tagged < MOST_TAGGED)


Counts = tuple[int, datetime | None, datetime | None]


def _key(environment: Environment, traces: Mapping[Any, int]) -> Any:
    """The environment's id as a raw row of this database spells it, None where it has no trace."""
    return next((key for key in (environment.pk, environment.pk.hex) if key in traces), None)


def _place(environment: Environment, traces: int, counts: Sequence[Counts]) -> Place:
    calls, spans, tasks = (number for number, _, _ in counts)
    return Place(
        environment=environment.name,
        title=environment.title,
        traces=traces,
        calls=calls,
        spans=spans,
        tasks=tasks,
        oldest=min((first for _, first, _ in counts if first), default=None),
        newest=max((last for _, _, last in counts if last), default=None),
    )


def _counts(subject: Subject, model: type[Model]) -> dict[Any, Counts]:
    """How many rows of a table belong to the subject's traces, by environment, and when they came in."""
    rows = _ask(
        subject,
        "SELECT row.environment_id, count(*), min(row.received_at), max(row.received_at)"  # noqa: S608 - as below
        f" FROM traces JOIN {_name(model)} AS row ON row.trace_id = traces.trace_id"
        " AND row.agent_id = traces.agent_id AND row.environment_id = traces.environment_id"
        " GROUP BY row.environment_id",
    )
    return {key: (int(number), _moment(first), _moment(last)) for key, number, first, last in rows}


def _ask(subject: Subject, statement: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement about `tagged` and `traces` of the subject."""
    places = ", ".join(["%s"] * len(subject.tags))
    tables = (
        f"WITH tagged AS (SELECT hash, call_id, span_id FROM {_name(SubjectTag)}"  # noqa: S608 - our own names
        f" WHERE hash IN ({places}) LIMIT {MOST_TAGGED}),"
        f" traces AS (SELECT agent_id, environment_id, trace_id FROM {_name(Call)}"
        " WHERE id IN (SELECT call_id FROM tagged)"
        f" UNION SELECT agent_id, environment_id, trace_id FROM {_name(ContextSpan)}"
        " WHERE id IN (SELECT span_id FROM tagged)) "
    )
    with connection.cursor() as cursor:
        cursor.execute(tables + statement, subject.hashes)
        yield from cursor.fetchall()


def _name(model: type[Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def _moment(value: Any) -> datetime | None:
    """A time of a raw row; SQLite gives text."""
    moment = parse_datetime(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
