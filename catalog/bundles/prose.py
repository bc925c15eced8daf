"""What of Markdown is read as prose: its code blanked, with every character in its place."""

from __future__ import annotations

import re

MAX_TICKS = 300_000
"""Backticks and tildes in Markdown whose code is told apart; beyond, all of it is read as prose."""

# With the line feed before it, so that the search runs from line to line; bounded, or a line of
# spaces would be looked at again from each of them.
_FENCE = re.compile(r"\n[ \t>]{0,99}(?:[-*+]|\d{1,3}[.)])?[ \t]{0,99}(`{3,}|~{3,})")
# Written like this, and not as a repetition alone, so that the search runs from tick to tick.
_TICKS = re.compile(r"``*")
_NOT_LINE_END = re.compile(r"[^\n]+")


def without_code(markdown: str) -> str:
    """The text with fenced blocks and code spans blanked."""
    if markdown.count("`") + markdown.count("~") > MAX_TICKS:
        return markdown
    return _without_spans(_without_fences(markdown))


def _blank(text: str) -> str:
    if "\n" not in text:
        return " " * len(text)
    return _NOT_LINE_END.sub(lambda match: " " * len(match.group()), text)


def _without_fences(text: str) -> str:
    if ("`" not in text or "```" not in text) and ("~" not in text or "~~~" not in text):
        return text
    text = f"\n{text}"
    parts: list[str] = []
    done = 0
    opened: re.Match[str] | None = None
    for fence in _fences(text):
        if opened is None:
            parts.append(text[done : fence.start()])
            opened, done = fence, fence.start()
        elif fence[1].startswith(opened[1]):
            parts.append(_blank(text[done : fence.end()]))
            opened, done = None, fence.end()
    rest = text[done:]
    parts.append(_blank(rest) if opened else rest)
    return "".join(parts)[1:]


def _fences(text: str) -> list[re.Match[str]]:
    """The lines that open or close a block, each from the line feed before it."""
    fences: list[re.Match[str]] = []
    for mark in ("```", "~~~"):
        at = text.find(mark)
        while at >= 0:
            fence = _FENCE.match(text, text.rfind("\n", 0, at))
            if fence and fence.start(1) == at:
                fences.append(fence)
            line_end = text.find("\n", at)
            at = text.find(mark, line_end) if line_end >= 0 else -1
    return sorted(fences, key=lambda fence: fence.start())


def _without_spans(text: str) -> str:
    """Code spans blanked; one ends at a run of as many backticks in its own paragraph."""
    pieces = text.split("`")
    # What stands between the first backtick and the second is a span, and so on; behind the last none ends.
    spans = pieces[1:-1:2]
    if "``" in text or "\n\n" in "`".join(spans):
        return _without_odd_spans(text)
    pieces[1:-1:2] = map(_blank, spans)
    return "`".join(pieces)


def _without_odd_spans(text: str) -> str:
    """The same where backticks stand in runs, or one is left alone in its paragraph."""
    parts: list[str] = []
    done = 0
    paragraph_end = -1
    waiting: dict[int, re.Match[str]] = {}
    for ticks in _TICKS.finditer(text):
        if ticks.start() >= paragraph_end:
            waiting.clear()
            paragraph_end = text.find("\n\n", ticks.start())
            paragraph_end = len(text) if paragraph_end < 0 else paragraph_end
        opened = waiting.pop(len(ticks.group()), None)
        if opened is None:
            waiting[len(ticks.group())] = ticks
            continue
        parts += [text[done : opened.end()], _blank(text[opened.end() : ticks.start()])]
        waiting.clear()
        done = ticks.start()
    return "".join(parts) + text[done:]
