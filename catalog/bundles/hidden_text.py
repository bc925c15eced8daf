"""Characters that a reviewer does not see and a model reads.

Ordinary writing uses some of them: joiners in Persian, Indic scripts and emoji, spaces without
width in Thai, marks of direction in Hebrew and Arabic, one variation selector after a symbol.
None of these is a finding.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Generator, Iterator

from catalog.bundles.findings import Finding, Severity
from catalog.bundles.rules import MAX_PER_RULE
from catalog.bundles.texts import Text

# The nine that compilers refuse since "Trojan Source" (CVE-2021-42574). The plain marks U+200E,
# U+200F and U+061C reorder nothing but themselves.
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]+")
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
# A flag of a subdivision (Scotland): black flag, the region in tags, the tag that ends it (UTS 51).
_FLAG_TAGS = re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_BLACK_FLAG = "\U0001f3f4"
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
MAX_RUNS = 150_000
"""Runs of hidden characters that are judged in one file, so that no file can hold a scan up."""
_DOUBLED = ("\ufe0f\ufe0f", "\ufe0e\ufe0e")
_ZERO_WIDTH = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0]+"
)
_HIDDEN = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e007f\U000e0100-\U000e01ef]+"
)
_MESSAGES = {
    "bidi-control": _BIDI.pattern,
    "unicode-tag-chars": _TAGS.pattern,
    "unicode-variation-smuggling": "[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}",
}
# The ones that writing knows, which come in great numbers.
_ONE_ZERO_WIDTH = frozenset("\u00ad\u200b\u200c\u200d")
_MESSAGE_SELECTORS = 4
"""Selectors after letters that have no variants; fewer are slips."""
_NON_JOINER, _JOINER, _SPACE = "\u200c", "\u200d", "\u200b"

# Blocks of scripts whose spelling needs joiners (Unicode 16, 23.2) or breaks words without spaces.
_JOINING = (
    (0x0600, 0x08FF),  # Arabic, Syriac, Thaana, N'Ko, Mandaic
    (0x0900, 0x0DFF),  # the scripts of India
    (0x0E00, 0x109F),  # Thai, Lao, Tibetan, Myanmar
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0x1A00, 0x1CFF),
    (0xA840, 0xABFF),
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFE),
    (0x10A00, 0x11FFF),
)

_TEXTS: dict[str, tuple[Severity, str, str]] = {
    "bidi-control": (
        "error",
        "characters that change the direction of writing make the text read differently than it runs",
        "Remove U+202A–U+202E and U+2066–U+2069; right-to-left text shows rightly without them.",
    ),
    "unicode-tag-chars": (
        "error",
        "invisible tag characters carry text that only a model reads",
        "Remove the characters U+E0000–U+E007F.",
    ),
    "unicode-variation-smuggling": (
        "error",
        "variation selectors carry hidden data",
        "Keep at most one variation selector after a symbol or ideograph.",
    ),
    "zero-width-chars": (
        "warning",
        "characters without width stand where no script needs them",
        "Remove them, or write them as escapes where a script means them.",
    ),
}


def scan(text: Text) -> Iterator[Finding]:
    """Findings about hidden characters in one text; a line is told once for each kind."""
    if not _HIDDEN.search(text.beyond_ascii):
        return
    told: Counter[str] = Counter()
    quiet: dict[str, int] = {}
    stray: list[int] = []
    for run in _runs(text, told):
        for code, at in _judged(text.text, run, stray):
            # Up to here the line has been told of.
            if at > quiet.get(code, -1) and told[code] < MAX_PER_RULE:
                told[code] += 1
                quiet[code] = text.line_end(at)
                yield _finding(code, text, text.line(at))
    if len(stray) >= _MESSAGE_SELECTORS:
        yield _finding("unicode-variation-smuggling", text, text.line(stray[0]))


def _runs(text: Text, told: Counter[str]) -> Iterator[re.Match[str]]:
    """The runs of hidden characters; after very many only those that carry messages, as far as
    there is more to tell of their kind."""
    at = yield from _some(_HIDDEN, text, 0)
    if at is None:
        return
    text.given_up.add("zero-width-chars")
    kinds = [pattern for code, pattern in _MESSAGES.items() if told[code] < MAX_PER_RULE]
    if kinds and (yield from _some(re.compile("|".join(kinds)), text, at)) is not None:
        text.given_up.update(_MESSAGES)


def _some(pattern: re.Pattern[str], text: Text, start: int) -> Generator[re.Match[str], None, int | None]:
    """At most `MAX_RUNS` matches; returns where to go on, or None where the text has ended."""
    for count, run in enumerate(pattern.finditer(text.text, start), start=1):
        yield run
        if count == MAX_RUNS:
            return run.end()
    return None


def _finding(code: str, text: Text, line: int) -> Finding:
    severity, problem, hint = _TEXTS[code]
    return Finding(code, severity, f"{text.path}, line {line}: {problem}.", hint, text.path, line)


def _judged(text: str, run: re.Match[str], stray: list[int]) -> Iterator[tuple[str, int]]:
    """What is wrong with a run of hidden characters, and where; single odd selectors go to `stray`."""
    if run.group() in _ONE_ZERO_WIDTH:
        if not _is_needed(run.group(), text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]):
            yield "zero-width-chars", run.start()
        return
    if len(run.group()) == 1 and _SELECTORS.match(run.group()):
        if _is_plain_letter(text[run.start() - 1 : run.start()]):
            stray.append(run.start())
        return
    start, end = run.span()
    if bidi := _BIDI.search(text, start, end):
        yield "bidi-control", bidi.start()
    if (tags := _TAGS.search(text, start, end)) and not _is_flag(text, tags):
        yield "unicode-tag-chars", tags.start()
    for selectors in _SELECTORS.finditer(text, start, end):
        # Two equal emoji selectors in a row are a slip of some editors, not a message.
        if len(selectors.group()) > 1 and selectors.group() not in _DOUBLED:
            yield "unicode-variation-smuggling", selectors.start()
    for hidden in _ZERO_WIDTH.finditer(text, start, end):
        before, after = text[hidden.start() - 1 : hidden.start()], text[hidden.end() : hidden.end() + 1]
        if not _is_needed(hidden.group(), before, after):
            yield "zero-width-chars", hidden.start()


def _is_flag(text: str, tags: re.Match[str]) -> bool:
    return text[tags.start() - 1 : tags.start()] == _BLACK_FLAG and bool(_FLAG_TAGS.fullmatch(tags.group()))


def _is_plain_letter(character: str) -> bool:
    return character.isascii() and (character == "" or character.isalpha() or character.isspace())


def _is_needed(run: str, before: str, after: str) -> bool:
    """Whether one character without width is part of ordinary writing at its place."""
    if len(run) > 1:
        return False
    if run == "\u00ad":
        return before.isalpha() and after.isalpha()
    if run == _JOINER and _is_emoji(after) and _is_emoji(before):
        return True
    if run in (_JOINER, _NON_JOINER):
        return _joins(before)
    if run == _SPACE:
        return _joins(before) or _joins(after)
    # Fillers and vowel signs belong to Korean, Khmer and Mongolian words.
    return run in "\u115f\u1160\u17b4\u17b5\u180e\u034f" and unicodedata.category(before or " ")[0] in "LM"


def _joins(character: str) -> bool:
    return bool(character) and any(low <= ord(character) <= high for low, high in _JOINING)


def _is_emoji(character: str) -> bool:
    """A symbol, a skin tone, or the selector or keycap that ends one."""
    return bool(character) and (
        unicodedata.category(character) in ("So", "Sk", "Sm", "Cn") or character in "\ufe0f\ufe0e\u20e3"
    )
