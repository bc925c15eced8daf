"""What a description must be, and whether it says when to use the skill (spec 1.2, 2.3)."""

from __future__ import annotations

import re
import unicodedata

from catalog.bundles.findings import Finding, advice, error, warning

MAX_DESCRIPTION_CHARS = 1024
MAX_TOLERATED_CHARS = 4096
_MIN_CHARS = 20
_MIN_CHARS_CJK = 8

# Letters by category, yet nothing is drawn for them.
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9_-]*(\s[^<>]{0,500})?/?>|<!--|<!\[CDATA\[")
_PLACEHOLDER = re.compile(r"<[A-Za-z][A-Za-z0-9_-]*>")

_WHEN = re.compile(
    r"\b(use|using|used|call|invoke|trigger\w*|activate\w*|apply|choose|pick|run)\b.{0,40}?"
    r"\b(when\w*|if|for|to|on|before|after|whenever|by|with|as)\b"
    r"|\bwhen\b|\bwhenever\b|\btriggers?\b|\b(useful|ideal|suitable|intended|good|great|helpful) (for|when|to)\b"
    r"|\bif (the|a|an|you|your|someone)\b|\b(user|someone) (asks|wants|needs|says|requests|mentions)\b|\bnot for\b"
    r"|当|時使用|时使用|用于|用於|适用|適用|用来|的时候|場景|场景|如果|需要.{0,20}时|时调用|触发|觸發"
    r"|когда|если|при необходимости|используй\w*|использу\w+|применя\w*|подходит|предназнач\w*|для случаев"
    r"|\b(cuando|wenn|lorsque|quand)\b",
    re.IGNORECASE,
)


def is_invisible(text: str) -> bool:
    """Whether a reader sees nothing of the text."""
    return all(char in _BLANK_LETTERS or unicodedata.category(char)[0] in "CZM" for char in text)


def check_description(text: str, *, path: str, line: int | None = None) -> tuple[Finding, ...]:
    """All findings about a description; the same for SKILL.md and manifest."""
    if is_invisible(text):
        message = f"{path} has no description, and a skill without one is never chosen."
        hint = "Add `description:` and say what the skill does and when to use it."
        return (error("description-missing", message, hint, path=path, line=line),)
    findings = [*_length(text, path, line)]
    if (tag := _TAG.search(text)) is not None:
        message = f"The description holds the markup {tag[0][:40]}, which reaches the agent's prompt."
        hint = "Write it as plain text, and a placeholder in capitals instead of angle brackets."
        findings.append(warning("description-markup", message, hint, path=path, line=line))
    return (*findings, *check_vague(text, path=path, line=line))


def _length(text: str, path: str, line: int | None) -> list[Finding]:
    if len(text) <= MAX_DESCRIPTION_CHARS:
        return []
    hint = "Say what the skill does and when to use it; move the rest into the body."
    if len(text) > MAX_TOLERATED_CHARS:
        message = (
            f"The description has {len(text):,} characters, more than the {MAX_TOLERATED_CHARS:,} allowed."
        )
        return [error("description-too-long", message, hint, path=path, line=line)]
    message = (
        f"The description has {len(text):,} characters; agents that keep to {MAX_DESCRIPTION_CHARS:,} fail."
    )
    return [warning("description-too-long", message, hint, path=path, line=line)]


def check_vague(text: str, *, path: str, line: int | None = None) -> tuple[Finding, ...]:
    """Advice where a description is too short or does not say when to use the skill.

    The words looked for are English, Chinese and Russian; text mostly in another script is not judged.
    """
    letters = [char for char in text[:2000] if char.isalpha()]
    cjk = sum("\u3400" <= char <= "\u9fff" for char in letters)
    known = cjk + sum(char < "\u0250" or "\u0400" <= char <= "\u04ff" for char in letters)
    if known * 2 < len(letters):
        return ()
    shortest = _MIN_CHARS_CJK if cjk * 2 > len(letters) else _MIN_CHARS
    if len(text) < shortest:
        message = f"The description has {len(text)} characters, too few to choose the skill by."
    elif _WHEN.search(text) is None:
        message = "The description does not say when to use the skill."
    else:
        return ()
    hint = 'Say what it does, then "Use when …", and what it is not for.'
    return (advice("description-vague", message, hint, path=path, line=line),)
