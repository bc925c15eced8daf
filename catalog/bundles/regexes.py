"""Judges regular expressions without running them: do they compile, and can they explode?

A backtracking matcher takes exponential time exactly where some state of the automaton can be left
and reached again on two different ways with the same text (the criterion EDA of Weideman et al.,
"Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers", CIAA 2016). The
automaton here is Glushkov's, one state for each place in the pattern, and pairs of states are
searched for such a loop, which takes polynomial time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

_PARSER: Any = re._parser  # type: ignore[attr-defined]  # the compiler's own; typeshed leaves it out

MAX_CHARS = 1_000
MAX_STATES = 160
MAX_STEPS = 300_000
MAX_CHOICES = 24
"""Parts that may be skipped, of a whole pattern."""
MAX_DEGREE = 3
"""Loops one after the other that may share a text: the exponent of the running time."""
_MAX_DEPTH = 40

_SAMPLE = "aAzZmM059 _\t\n-.,:;/@#\"'éЖя中文😀"
# Flags that make a pattern fold cases, for all of it or for a group.
_FOLDS = re.compile(r"\(\?[a-zA-Z]*i")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class _TooLarge(Exception):
    """The pattern is larger than what is analysed."""


@dataclass
class _Part:
    """A part of a pattern: can it be empty, and at which states can it begin and end."""

    empty: bool = True
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()


def compile_problem(pattern: str) -> str | None:
    """Why the pattern does not compile, or None."""
    if len(pattern) > MAX_CHARS:
        return f"is longer than {MAX_CHARS:,} characters"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError, MemoryError) as fault:
        return str(fault) or "cannot be compiled"
    return None


def is_unsafe(pattern: str) -> bool:
    """Whether a pattern that compiles can explode, or is too involved to tell."""
    return degree(pattern) > MAX_DEGREE


@lru_cache(maxsize=512)
def degree(pattern: str) -> int:
    """The exponent of the time a pattern that compiles can take; above `MAX_DEGREE` where it has none."""
    try:
        tree = _PARSER.parse(pattern)
        automaton = _Automaton(_samples(tree), _FOLDS.search(pattern) is not None)
        automaton.sequence(tree, 0)
        return MAX_DEGREE + 1 if automaton.explodes() else automaton.degree()
    except (_TooLarge, RecursionError):
        return MAX_DEGREE + 1


@dataclass
class _Automaton:
    """The states of a pattern: which sampled characters each takes, and which may follow it."""

    samples: str
    folds: bool
    takes: list[int] = field(default_factory=list)
    follows: list[set[int]] = field(default_factory=list)
    # Edges that were added twice: a text may go over them in two ways.
    doubled: set[tuple[int, int]] = field(default_factory=set)
    steps: int = MAX_STEPS
    choices: int = 0

    def sequence(self, items: Iterable[Any], depth: int) -> _Part:
        if depth > _MAX_DEPTH:
            raise _TooLarge
        whole = _Part()
        for item in items:
            whole = self._joined(whole, self._item(item, depth))
        return whole

    def _joined(self, left: _Part, right: _Part) -> _Part:
        self._link(left.last, right.first)
        return _Part(
            left.empty and right.empty,
            left.first | right.first if left.empty else left.first,
            right.last | left.last if right.empty else right.last,
        )

    def _link(self, ends: Iterable[int], starts: frozenset[int]) -> None:
        for end in ends:
            self._spend(len(starts))
            self.doubled |= {(end, start) for start in starts & self.follows[end]}
            self.follows[end] |= starts

    def _spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise _TooLarge

    def _state(self, takes: int) -> _Part:
        if len(self.takes) >= MAX_STATES:
            raise _TooLarge
        self.takes.append(takes)
        self.follows.append(set())
        only = frozenset({len(self.takes) - 1})
        return _Part(False, only, only)

    def _item(self, item: tuple[Any, Any], depth: int) -> _Part:
        name, value = str(item[0]), item[1]
        if name in _REPEATS:
            least, most, items = value
            return self._repeat(least, most, items, depth)
        if name == "SUBPATTERN":
            return self.sequence(value[-1], depth + 1)
        if name == "ATOMIC_GROUP":
            return self.sequence(value, depth + 1)
        if name == "BRANCH":
            branches = [self.sequence(branch, depth + 1) for branch in value[1]]
            # Two empty ways double the work each time they are met: (a|a)* is read as (a(?:|))*.
            self._choose(sum(branch.empty for branch in branches) > 1, MAX_CHOICES + 1)
            return self._either(branches)
        if name in ("ASSERT", "ASSERT_NOT"):
            # It takes nothing, but what is inside may explode like anything else.
            self.sequence(value[1], depth + 1)
            return _Part()
        if name == "GROUPREF_EXISTS":
            branches = [self.sequence(branch or (), depth + 1) for branch in value[1:]]
            return self._either(branches)
        if name == "AT":
            return _Part()
        if name in ("GROUPREF", "GROUPREF_IGNORE"):
            return self._either([self._state(-1), _Part()])
        return self._state(self._mask(name, value))

    def _mask(self, name: str, value: Any) -> int:
        """The sampled characters that one place of the pattern takes, as bits."""
        takes = 0
        for bit, char in enumerate(self.samples):
            if any(_takes(name, value, spelled) for spelled in self._spellings(char)):
                takes |= 1 << bit
        return takes

    def _spellings(self, char: str) -> set[str]:
        return {char, char.lower()[:1], char.upper()[:1]} if self.folds else {char}

    def _either(self, parts: list[_Part]) -> _Part:
        return _Part(
            any(part.empty for part in parts),
            frozenset().union(*(part.first for part in parts)),
            frozenset().union(*(part.last for part in parts)),
        )

    def _repeat(self, least: int, most: int, items: Any, depth: int) -> _Part:
        """A repetition; two copies tell of an exact number, a loop of every other one."""
        if most == 0:
            return _Part()
        start = len(self.takes)
        body = self.sequence(items, depth + 1)
        self._choose(
            body.empty or least == 0, 1 if most == 1 else int(most) if body.empty and most < 1000 else 0
        )
        if most > 1 and (least != most or self._loops_since(start)):
            self._link(body.last, body.first)
        elif most > 1:
            body = self._joined(body, self.sequence(items, depth + 1))
        return _Part(body.empty or least == 0, body.first, body.last)

    def _choose(self, free: bool, times: int) -> None:
        """Count what may be skipped again and again: `a?a?a?` doubles the ways with each one."""
        self.choices += times if free else 0
        if self.choices > MAX_CHOICES:
            raise _TooLarge

    def _loops_since(self, start: int) -> bool:
        """Whether the states from `start` on can be gone through again and again."""
        return any(after <= state for state in range(start, len(self.takes)) for after in self.follows[state])

    def explodes(self) -> bool:
        """Whether two different ways lead from some state back to it with the same text."""
        if any(start in self._reached(end) for start, end in self.doubled):
            return True
        return any(self._parts_and_meets(state) for state in range(len(self.takes)))

    def degree(self) -> int:
        """The longest chain of loops in which each hands over to the next within a text both take."""
        looping = [state for state in range(len(self.takes)) if state in self.follows[state]]
        longest: dict[int, int] = {}
        # A state that is reached without a loop around it has the higher number.
        for state in reversed(looping):
            nexts = [other for other in looping if other > state and self._hands_over(state, other)]
            longest[state] = 1 + max((longest[other] for other in nexts), default=0)
        return max(longest.values(), default=0)

    def _hands_over(self, state: int, other: int) -> bool:
        shared = self.takes[state] & self.takes[other]
        return bool(shared) and other in self._reached(state, shared)

    def _reached(self, state: int, takes: int = -1) -> set[int]:
        """The states that follow, at any distance, by way of states that take some of the characters."""
        seen: set[int] = {state}
        waiting = [state]
        while waiting:
            follows = self.follows[waiting.pop()]
            self._spend(len(follows))
            new = {other for other in follows - seen if self.takes[other] & takes}
            seen |= new
            waiting += new
        return seen

    def _parts_and_meets(self, state: int) -> bool:
        """Search pairs of states from (state, state) for one that differs and leads back."""
        seen: set[tuple[int, int, bool]] = set()
        waiting = [(state, state, False)]
        while waiting:
            left, right, differ = waiting.pop()
            self._spend(len(self.follows[left]) * len(self.follows[right]))
            for a, b in product(self.follows[left], self.follows[right]):
                if not self.takes[a] & self.takes[b]:
                    continue
                now = differ or a != b
                if now and a == b == state:
                    return True
                pair = (min(a, b), max(a, b), now)
                if pair not in seen:
                    seen.add(pair)
                    waiting.append(pair)
        return False


def _samples(tree: Any) -> str:
    """Characters that tell all sets of the pattern apart: those it names, and their neighbours."""
    points: set[int] = {ord(char) for char in _SAMPLE}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, int) and str(node).isdigit():
            points |= {node - 1, node, node + 1}
        elif isinstance(node, list | tuple) or hasattr(node, "data"):
            waiting.extend(node)
    return "".join(chr(point) for point in sorted(points) if 0 <= point < 0x110000)


def _takes(name: str, value: Any, char: str) -> bool:
    """Whether one place of a pattern takes a character."""
    match name:
        case "LITERAL":
            return bool(value == ord(char))
        case "NOT_LITERAL":
            return bool(value != ord(char))
        case "RANGE":
            return bool(value[0] <= ord(char) <= value[1])
        case "CATEGORY":
            return _in_category(str(value), char)
        case "IN":
            members = [(str(kind), member) for kind, member in value if str(kind) != "NEGATE"]
            negated = len(members) < len(value)
            return any(_takes(kind, member, char) for kind, member in members) is not negated
        case _:
            return True


def _in_category(name: str, char: str) -> bool:
    kind = name.removeprefix("CATEGORY_").removeprefix("UNI_").removeprefix("LOC_")
    wanted = not kind.startswith("NOT_")
    test = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}.get(kind.removeprefix("NOT_"))
    return test is None or (re.match(test, char) is not None) is wanted
