"""Rules of the safety scan: a pattern, and what keeps the search for it linear."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from catalog.bundles.findings import Finding, Severity
from catalog.bundles.texts import Text

MAX_PER_RULE = 20
"""Findings of one rule in one file; the rest would say nothing new."""

MAX_TRIES = 100_000
"""Anchors that one rule looks at in one file, so that no file can hold a scan up."""
MAX_TRIES_IN_ALL = 250_000
"""The same for all rules together."""


@dataclass(frozen=True)
class Rule:
    """A pattern that is tried only where one of its anchors stands, which keeps a scan linear.

    The pattern has to match at the anchor. With a `reach` it may run on from there for so many
    characters of the line (`across`: of the text), and one that fails is not tried again inside
    them; without one the pattern must bound its own length. `fold` looks for anchors in lower case.
    `needs` names rarer words, in lower case: one of them stands wherever the rule applies; so does
    a match of one of the patterns `inside` in the folded text, each by the mark that it begins
    with. `ending` is a pattern that is found from the anchor on wherever the rule applies.
    """

    code: str
    severity: Severity
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    message: str
    hint: str
    reach: int = 0
    across: bool = False
    fold: bool = True
    needs: tuple[str, ...] = ()
    inside: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    ending: re.Pattern[str] | None = None

    @cached_property
    def words(self) -> frozenset[str]:
        """What to look for, in lower case, before the rule is tried at all; none where `inside` tells more."""
        return frozenset(self.needs or (() if self.inside else map(str.lower, self.anchors)))

    def may_apply(self, text: Text) -> bool:
        """Whether the text is worth a try: it is not known to lack all the words, and has what is inside."""
        known = text.places
        return (not self.words or any(known.get(word, True) for word in self.words)) and self.is_inside(text)

    def is_inside(self, text: Text) -> bool:
        """Whether the text has what stands inside of all that the rule applies to."""
        return not self.inside or any(
            text.holds(mark) and pattern.search(text.folded) for mark, pattern in self.inside.items()
        )

    def matches(self, text: Text) -> Iterator[re.Match[str]]:
        """Where the rule applies, anchor by anchor; a text with too many anchors is given up."""
        tries = 0
        most = min(MAX_TRIES, MAX_TRIES_IN_ALL - text.tried.total())
        find, known = (text.find, text.places) if self.fold else (text.text.find, {})
        for anchor in self.anchors:
            at = find(anchor, 0) if known.get(anchor, True) else -1
            while at >= 0:
                end, following = self._window(at, len(anchor), text)
                if (self.ending is None or self.ending.search(text.text, at, end)) and (
                    match := self.pattern.match(text.text, at, end)
                ):
                    yield match
                    following = max(match.end(), at + 1)
                tries += 1
                text.tried[self.code] += 1
                if tries > most:
                    text.given_up.add(self.code)
                    return
                at = find(anchor, following)

    def _window(self, at: int, length: int, text: Text) -> tuple[int, int]:
        """Where the pattern has to end, and where the search goes on when it fails."""
        if not self.reach:
            return len(text.text), at + length
        # No further than the reach, or one long line would be read through again and again.
        limit = -1 if self.across else text.text.find("\n", at, at + self.reach + 1)
        if limit < 0 and at + self.reach < len(text.text):
            return at + self.reach, at + self.reach // 2
        limit = len(text.text) if limit < 0 else limit
        return limit, max(limit, at + length)

    def findings(self, text: Text) -> Iterator[Finding]:
        """One finding for each line where the rule applies, up to `MAX_PER_RULE`."""
        lines: set[int] = set()
        told = range(0)
        for match in self.matches(text):
            if match.start() in told:
                continue
            told = range(match.start(), text.line_end(match.start()))
            line = text.line(match.start())
            if line not in lines:
                lines.add(line)
                yield self.finding(text, line)
            if len(lines) == MAX_PER_RULE:
                return

    def finding(self, text: Text, line: int) -> Finding:
        """The finding at a line, in the rule's words."""
        message = f"{text.path}, line {line}: {self.message}"
        return Finding(self.code, self.severity, message, self.hint, text.path, line)


class Rules:
    """Rules by the words that they need, so that a text pays for few of them."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._wordless = {n for n, rule in enumerate(self._rules) if not rule.words}
        self._by_word: dict[str, list[int]] = {}
        for n, rule in enumerate(self._rules):
            for word in rule.words:
                self._by_word.setdefault(word, []).append(n)

    @property
    def words(self) -> frozenset[str]:
        """What a text is searched for before a rule is tried."""
        return frozenset(self._by_word)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def findings(self, text: Text) -> Iterator[Finding]:
        """The findings of all rules, in their order."""
        known = text.places
        held = {n for word, numbers in self._by_word.items() if known.get(word, True) for n in numbers}
        for n in sorted(held | self._wordless):
            if self._rules[n].is_inside(text):
                yield from self._rules[n].findings(text)
