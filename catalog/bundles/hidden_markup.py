"""Markup in Markdown that hides text from readers but not from a model: comments and styles.

Markup that acts in a browser, and images of other servers, are judged where a bundle is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from catalog.bundles.findings import Finding, warning
from catalog.bundles.rules import MAX_PER_RULE
from catalog.bundles.texts import Text

# Without "<" in the body no character is looked at twice.
_TAG = re.compile(r"<[a-zA-Z][\w:-]{0,40}([\s/][^<>]*)")
_STYLE = re.compile(r"""style\s{0,3}=\s{0,3}["']?([^<>]{0,1000})""", re.IGNORECASE)
_HIDING = re.compile(
    r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|(?:font-size|opacity)\s{0,3}:\s{0,3}0(?![.\d]{0,6}[1-9])"
    r"|(?:left|top|text-indent)\s{0,3}:\s{0,3}-\d{3}",
    re.IGNORECASE,
)
_WHITE = re.compile(
    r"(?<![-\w])color\s{0,3}:\s{0,3}(?:\#fff(?:fff)?\b|white\b|transparent\b|rgba?\(255,\s?255,\s?255)",
    re.IGNORECASE,
)
_BACKGROUND = re.compile(r"background(?:-color)?\s{0,3}:", re.IGNORECASE)
_HIDDEN = re.compile(r"\shidden(?=[\s=/]|$)", re.IGNORECASE)

_ADDRESSES_MODEL = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s{1,3}(?:\w{1,20}\s{1,3}){0,4}(?:instructions?|prompts?|rules|guidelines)"
    r"|\b(?:dear|attention|hey|hello|(?:note|instructions?|message|only|hidden) (?:to|for)|for)[\s,:]{1,3}"
    r"(?:the |any |all )?(?:ai|llm|gpt|claude|chatgpt|copilot|assistant|agent|language model)s?\b"
    r"|\b(?:ai|llm|claude|chatgpt|copilot|assistant|agent)s?(?:\s?[:,]| (?:must|should|shall|will)\b)"
    r"|\byou (?:are (?:an?|now)|must (?:always|never|also|first|run|execute|send|not))\b"
    r"|\b(?:do not|don't|never|without) (?:tell|inform|mention|reveal|ask)(?:ing)?\b"
    r"|\bsystem prompt\b|\bsecretly\b|\bexfiltrate\b|\bsilently (?:run|send|execute|install)\b"
    r"|你必须|你现在是|忽略|无视|不要告诉|系统提示|智能体|助手[:,：，]"
    r"|игнорируй|забудь|не сообщай|не говори|системн\w{2,3} промпт|ассистент|ты должен|нейросет",
    re.IGNORECASE,
)
# A link definition nobody refers to, as Markdown without HTML writes comments.
_LINK_COMMENT = re.compile(
    r"^\[(?://|comment|_|#)\]:[ \t]{0,4}(?:#|<>)[ \t]{0,4}[(\"']([^\n]{0,2000})", re.MULTILINE | re.IGNORECASE
)
_LOOKED_AT = 20_000
"""Characters of one comment that are judged."""
MAX_PLACES = 100_000
"""Tags and comments that are judged in one file, so that no file can hold a scan up."""


def scan(text: Text) -> Iterator[Finding]:
    """Findings about hidden text in one Markdown file, code left out."""
    if not text.markdown or not (text.holds("<") or text.holds("]:")):
        return
    if _is_too_much(text.text):
        text.given_up.update(("hidden-markup", "hidden-html-comment"))
    # What stands in code is told apart only where there is something to tell.
    if text.holds("<") and any(_styled(text.text)):
        for line in text.unlike_lines(_styled(text.prose), MAX_PER_RULE):
            message = f"{text.path}, line {line}: a style hides text from readers, but not from the agent."
            hint = "Show the text or remove it."
            yield warning("hidden-markup", message, hint, path=text.path, line=line)
    if (text.holds("<!--") or text.holds("]:")) and any(_spoken(text.text)):
        comments = text.unlike_lines(_spoken(text.prose, links=False), MAX_PER_RULE)
        links = text.unlike_lines(_spoken(text.prose, comments=False), MAX_PER_RULE)
        for line in sorted({*comments, *links})[:MAX_PER_RULE]:
            message = f"{text.path}, line {line}: a comment that readers do not see speaks to the agent."
            hint = "Say it where readers see it, or remove it."
            yield warning("hidden-html-comment", message, hint, path=text.path, line=line)


def _is_too_much(text: str) -> bool:
    """Whether more may hide in the text than is judged."""
    return len(text) > MAX_PLACES and text.count("<") + text.count("]:") > MAX_PLACES


def _styled(text: str) -> Iterator[int]:
    """Where the attributes of tags that hide their text begin."""
    return (tag.start(1) for tag in islice(_TAG.finditer(text), MAX_PLACES) if _hides(tag[1]))


def _hides(attributes: str) -> bool:
    if _HIDDEN.search(attributes):
        return True
    style = _STYLE.search(attributes)
    if style is None:
        return False
    # White letters on a coloured badge are to be read.
    white = _WHITE.search(style[1]) and not _BACKGROUND.search(style[1])
    return bool(white or _HIDING.search(style[1]))


def _spoken(text: str, *, comments: bool = True, links: bool = True) -> Iterator[int]:
    """Where comments that address a model have begun: those of HTML, then those written as links."""
    found = chain(_html_comments(text) if comments else (), _link_comments(text) if links else ())
    return (at for at, comment in islice(found, MAX_PLACES) if _ADDRESSES_MODEL.search(comment))


def _html_comments(prose: str) -> Iterator[tuple[int, str]]:
    """Place and text of each comment; one that is never closed hides the rest of the file."""
    at = prose.find("<!--") if "<" in prose else -1
    while at >= 0:
        end = prose.find("-->", at + 4)
        end = len(prose) if end < 0 else end
        yield at + 4, prose[at + 4 : min(end, at + _LOOKED_AT)]
        at = prose.find("<!--", end)


def _link_comments(prose: str) -> Iterator[tuple[int, str]]:
    if "[" in prose and "]:" in prose:
        yield from ((match.start(1), match[1]) for match in _LINK_COMMENT.finditer(prose))
