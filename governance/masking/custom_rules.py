"""The rules of an instance compiled together, and whether one of them may find something in a payload.

Most payloads hold nothing of it: all their texts are asked at once, and only where a rule may match is one walked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from governance.masking import escapes, names
from governance.masking.custom import Pattern, Rule, compile_rule, fold
from governance.masking.json_text import may_be_json
from governance.masking.walk import DEEPEST, as_json

Patterns = tuple[Pattern, ...]
_LONGEST_NAME = 200
_BARE = frozenset((bool, int, float))


@dataclass(frozen=True)
class Custom:
    """The rules of an instance, compiled.

    `kept` are names of fields that stay, whatever a rule matches: those of the payloads' own frame.
    """

    anywhere: Patterns
    under: Mapping[str, Patterns]
    kept: frozenset[str] = frozenset()

    @property
    def patterns(self) -> Patterns:
        """Every rule once."""
        return tuple(dict.fromkeys((*self.anywhere, *(one for many in self.under.values() for one in many))))

    def at(self, name: object) -> Patterns:
        """The rules for values under this name: of the whole name, or of what follows its last full stop."""
        if not self.under or not isinstance(name, str) or len(name) > _LONGEST_NAME:
            return ()
        return self.under.get(_folded(name)) or self.under.get(_folded(name.rpartition(".")[2]), ())


def compile_rules(rules: Iterable[Rule], kept: frozenset[str] = frozenset()) -> Custom | None:
    """The rules compiled together, which leave `kept` names of fields; None where there are none. Raises BadRule."""
    anywhere: list[Pattern] = []
    under: dict[str, Patterns] = {}
    for rule in rules:
        pattern = compile_rule(rule)
        if not rule.fields:
            anywhere.append(pattern)
        for name in dict.fromkeys(map(fold, rule.fields)):
            under[name] = (*under.get(name, ()), pattern)
    return Custom(tuple(anywhere), under, kept) if anywhere or under else None


_folded = lru_cache(maxsize=8192)(fold)


def may_apply(rules: Custom, value: Any) -> bool:
    """Whether a rule may find something in a payload: all its texts are asked together."""
    fields: set[str] = set()
    texts: list[str] = []
    _gather(value, fields, texts, 0)
    told = "\n".join((*fields, *texts))
    if rules.under and _names_a_field(rules, fields, texts, told):
        return True
    # What is escaped twice may read otherwise than its view does.
    if "\\u" in told:
        return True
    if escapes.are_in(told):
        views = (escapes.read(text) for text in (*fields, *texts))
        told = "\n".join((told, *(view.text for view in views if view)))
    lines = told.encode("utf-8", "replace")
    return any(pattern.may_be_in(lines) for pattern in rules.anywhere)


def _names_a_field(rules: Custom, fields: set[str], texts: Sequence[str], told: str) -> bool:
    """Whether a name that rules are for is one of the fields, is told by one (`{"name": …}`), or may be in JSON."""
    if any(map(rules.at, fields)):
        return True
    if not fields.isdisjoint(names.NAMING) and any(map(rules.at, texts)):
        return True
    return ("{" in told or "[" in told) and any(map(may_be_json, texts))


def _gather(value: Any, fields: set[str], texts: list[str], depth: int) -> None:
    """Add the names of fields and the texts of a payload."""
    kind = type(value)
    if kind is str:
        texts.append(value)
    elif value is None or kind in _BARE or depth > DEEPEST:
        return
    elif isinstance(value, dict):
        for key, one in value.items():
            if type(key) is str:
                fields.add(key)
            # To ask here saves a call for most values.
            kind = type(one)
            if kind is str:
                texts.append(one)
            elif one is not None and kind not in _BARE:
                _gather(one, fields, texts, depth + 1)
    elif isinstance(value, list | tuple):
        for one in value:
            _gather(one, fields, texts, depth + 1)
    else:
        texts.append(str(as_json(value)))
