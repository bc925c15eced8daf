"""Labelled sets of records, and how well a masker does on them.

A set is JSON lines: `id`, `lang`, `form`, `record` (any JSON), `secrets` (what must go, kind and value as a person
reads it) and `keeps` (what must stay). A record without secrets must stay as it is. All values are made up; those
that look like a live credential have `~~` in the middle, which reading takes out, so that no scanner of this
repository reports them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

SETS = Path(__file__).parent
_BREAK = "~~"
_MASK = re.compile(r"\[([A-Z_]+)(?:·[0-9a-f]{4})?\]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbf\"'/\\]))")
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_DEEPEST = 8
_TAIL = 4


@dataclass(frozen=True)
class Case:
    """A labelled record; one without secrets is a negative."""

    id: str
    lang: str
    form: str
    record: Any
    secrets: tuple[tuple[str, str], ...]
    keeps: tuple[str, ...]


@dataclass
class Tally:
    """Values of one kind: how many there are, how many went, how many of those under the right kind."""

    values: int = 0
    found: int = 0
    told: int = 0


@dataclass
class Score:
    """What a masker did on a set."""

    kinds: dict[str, Tally] = field(default_factory=dict)
    negatives: int = 0
    missed: list[tuple[str, str, str]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    untold: list[tuple[str, str, str]] = field(default_factory=list)
    kept_not: list[tuple[str, str]] = field(default_factory=list)

    @property
    def values(self) -> int:
        return sum(tally.values for tally in self.kinds.values())

    @property
    def found(self) -> int:
        return sum(tally.found for tally in self.kinds.values())

    @property
    def recall(self) -> float:
        return self.found / self.values

    @property
    def precision(self) -> float:
        """Of all that was masked, what had to be."""
        return self.found / max(1, self.found + len(self.changed) + len(self.kept_not))

    @property
    def false_positives(self) -> float:
        """The share of negatives that did not stay as they were."""
        return len(self.changed) / self.negatives

    def table(self) -> str:
        """A line for each kind, and the sums."""
        lines = [f"  {'kind':<8}{'values':>8}{'recall':>9}{'kind told':>11}"]
        for kind, tally in sorted(self.kinds.items()):
            recall, told = tally.found / tally.values, tally.told / max(1, tally.found)
            lines.append(f"  {kind:<8}{tally.values:>8}{recall:>9.3f}{told:>11.3f}")
        lines.append(f"  {'all':<8}{self.values:>8}{self.recall:>9.3f}   precision {self.precision:.3f}")
        lines.append(
            f"  negatives {self.negatives}, changed {len(self.changed)} ({self.false_positives:.2%}), "
            f"lost beside values {len(self.kept_not)}"
        )
        return "\n".join(lines)

    def faults(self) -> str:
        """Each miss and each false alarm in a line."""
        lines = [f"  missed {case} {kind} {value!r}" for case, kind, value in self.missed]
        lines += [f"  changed {case}" for case in self.changed]
        return "\n".join(lines + [f"  lost {case} {keep!r}" for case, keep in self.kept_not])


def read_set(name: str) -> list[Case]:
    """The cases of a set."""
    lines = (SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_case(json.loads(line.replace(_BREAK, ""))) for line in lines if line.strip()]


def _case(row: dict[str, Any]) -> Case:
    secrets = tuple((one["kind"], one["value"]) for one in row["secrets"])
    return Case(row["id"], row["lang"], row["form"], row["record"], secrets, tuple(row.get("keeps", ())))


def written(record: Any) -> str:
    """A record as text: JSON, or the text that it is."""
    return record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)


def score(cases: list[Case], mask: Callable[[Any], Any]) -> Score:
    """What `mask`, a function of a record, does on the cases."""
    total = Score()
    for case in cases:
        masked = mask(case.record)
        if case.secrets:
            _score_values(total, case, written(masked))
        else:
            total.negatives += 1
            if masked != case.record:
                total.changed.append(case.id)
        total.kept_not += [(case.id, keep) for keep in case.keeps if not is_in(keep, written(masked))]
    return total


def _score_values(total: Score, case: Case, masked: str) -> None:
    masks = Counter(_MASK.findall(masked))
    gone = _MASK.sub("\0", masked)
    for kind, value in case.secrets:
        tally = total.kinds.setdefault(kind, Tally())
        tally.values += 1
        if _is_left(value, gone, case):
            total.missed.append((case.id, kind, value))
            continue
        tally.found += 1
        if masks[kind]:
            masks[kind] -= 1
            tally.told += 1
        else:
            total.untold.append((case.id, kind, value))


def _is_left(value: str, masked: str, case: Case) -> bool:
    """Whether the value, or more of its last four characters than stand elsewhere, can be read in what is left."""
    if is_in(value, masked):
        return True
    tail = unicodedata.normalize("NFKC", value)[-_TAIL:]
    if len(value) <= _TAIL:
        return False
    [*_, before], [*_, after] = _readings(written(case.record)), _readings(masked)
    for _, other in case.secrets:
        before = before.replace(unicodedata.normalize("NFKC", other), "\0")
    return after.count(tail) > before.count(tail)


def is_in(part: str, text: str) -> bool:
    """Whether a part can be read in a text, on some level of its escapes."""
    wanted = unicodedata.normalize("NFKC", part)
    spaced = wanted.replace("+", " ")
    return any(wanted in one or spaced in one.replace("+", " ") for one in _readings(text))


def _readings(text: str) -> Iterator[str]:
    """A text as it is and with its escapes undone, level by level."""
    for _ in range(_DEEPEST):
        yield unicodedata.normalize("NFKC", text)
        undone = unescape(unquote(_ESCAPE.sub(_undone, text)))
        if undone == text:
            return
        text = undone


def _undone(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _SIMPLE.get(match[3], match[3])
