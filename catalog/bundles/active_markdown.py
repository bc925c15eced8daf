"""HTML in Markdown: what would act in a reader's browser, and comments that no reader sees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from catalog.bundles.findings import Finding, advice, warning
from catalog.bundles.references import Reference
from catalog.bundles.texts import Text

MAX_PER_FILE = 20

_TAG = re.compile(r"<([A-Za-z][A-Za-z0-9:-]{0,30})((?:[\s/][^<>]{0,2000})?)>")
_ACTIVE_TAG = re.compile(
    r"script|i?frame|frameset|object|embed|applet|form|input|button|select|textarea|style|link|meta|base"
    r"|portal|template|math|svg"
)
# An attribute that runs or fetches: handlers, htmx and its relatives, a document of its own.
_ACTIVE_ATTRIBUTE = re.compile(
    r"[\s/\"'](on[a-z]{3,30}|(?:data-)?hx-[a-z:-]{1,40}|srcdoc|formaction|x-(?:data|init|on)|v-html|ping)\s*=",
    re.IGNORECASE,
)
_ACTIVE_URL = re.compile(r"=\s*[\"']?\s*(javascript|vbscript|data:text/html)", re.IGNORECASE)
# An id or a name that a script of the page would find in place of a property of the document.
_CLOBBERS = re.compile(
    r"\b(?:id|name)\s*=\s*[\"']?\s*("
    r"[\w-]*(?:csrf|token)[\w-]*|attributes|body|children|cookie|documentElement|firstChild|forms|getElementById"
    r"|head|innerHTML|location|nodeName|nodeType|ownerDocument|parentNode|querySelector\w*|style|submit|write"
    r")[\"'\s/>]?",
    re.IGNORECASE,
)
# How whatever acts begins, in code too. A name in angle brackets, as documents write a gap, does not.
_MAY_ACT = re.compile(
    rf"<(?:(?:{_ACTIVE_TAG.pattern})>|[a-z][a-z0-9:-]{{0,30}}[\s/]|\s{{0,3}}(?:javascript|vbscript|data):)",
    re.IGNORECASE,
)
_AUTOLINK = re.compile(r"<\s{0,3}(javascript|vbscript|data):[^<>\s]{0,500}>?", re.IGNORECASE)
_ACTIVE_SCHEMES = ("javascript:", "vbscript:", "data:text/html", "data:application/", "data:image/svg")
_UNSEEN = re.compile(r"[\s\x00-\x1f]")
_INLINE_TARGET = re.compile(r"\]\(([^)\n]{1,300})")


def check_markup(text: Text, references: Iterable[Reference]) -> tuple[Finding, ...]:
    """Findings about the HTML of one Markdown file, given its `references_of`; what stands in code
    is not HTML there."""
    found: dict[tuple[str, int], Finding] = {}
    for finding in (*_active(text, references), *_comments(text)):
        found.setdefault((finding.code, finding.line or 0), finding)
    return tuple(found.values())


def _active(text: Text, references: Iterable[Reference]) -> list[Finding]:
    findings: list[Finding] = []
    for what, line in _active_places(text, references):
        message = f"Line {line} of {text.path} holds {what}, which acts in a reader's browser."
        hint = "Write it in Markdown, or put it into a code block where it is an example."
        findings.append(warning("active-content", message, hint, path=text.path, line=line))
        if len(findings) == MAX_PER_FILE:
            break
    return findings


def _active_places(text: Text, references: Iterable[Reference]) -> Iterator[tuple[str, int]]:
    """What acts, in words, and its line."""
    if text.holds("<") and _MAY_ACT.search(text.text):
        yield from ((what, text.line(at)) for what, at in _active_tags(text.prose))
    if text.holds("]("):
        for link in _INLINE_TARGET.finditer(text.prose):
            target = _UNSEEN.sub("", link[1]).lstrip("<").lower()
            if target.startswith(_ACTIVE_SCHEMES):
                yield "a link that runs a script", text.line(link.start())
    for reference in references:
        if reference.target.lower().startswith(_ACTIVE_SCHEMES):
            yield "a link that runs a script", reference.line


def _active_tags(prose: str) -> Iterator[tuple[str, int]]:
    for tag in _TAG.finditer(prose):
        name, attributes = tag[1].lower(), tag[2]
        if _ACTIVE_TAG.fullmatch(name):
            yield f"the element <{name}>", tag.start()
        elif attribute := _ACTIVE_ATTRIBUTE.search(attributes):
            yield f"the attribute {attribute[1].lower()}", tag.start()
        elif _ACTIVE_URL.search(attributes):
            yield "a link that runs a script", tag.start()
        elif _CLOBBERS.search(attributes):
            yield "an id or a name that stands for a property of the page", tag.start()
    for link in _AUTOLINK.finditer(prose):
        yield "a link that runs a script", link.start()


def _comments(text: Text) -> list[Finding]:
    findings: list[Finding] = []
    at = text.prose.find("<!--") if text.holds("<") and text.holds("<!--") else -1
    while at >= 0 and len(findings) < MAX_PER_FILE:
        line = text.line(at)
        message = f"Line {line} of {text.path} begins an HTML comment, which the agent reads and a reviewer does not see."
        findings.append(
            advice("html-comment", message, "Write it as text or remove it.", path=text.path, line=line)
        )
        end = text.prose.find("-->", at)
        at = text.prose.find("<!--", end) if end >= 0 else -1
    return findings
