"""Markdown of skills as HTML that is safe in our pages, whatever the author wrote.

Three walls: the parser passes no HTML through, links and images are rewritten one by one, and an
allow-list of elements and attributes cleans what comes out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from urllib.parse import unquote, urlsplit

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

# Longer texts are shown as source: rendering them would hold up the page, for seconds where all is markup.
LONGEST = 128 * 1024
# The page has its own h1 and h2 above a text.
HEADING_BELOW = 2

_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, "pre": {"tabindex"}, "th": {"scope"}, "span": {"title"}}
_SCHEMES = {"http", "https", "mailto"}

FileLink = Callable[[str], str | None]


def render_markdown(text: str, *, link_file: FileLink, folder: str = "") -> SafeString:
    """The text as HTML. `link_file` gives the address of a file of the bundle, or None.

    `folder` is the folder of the text's own file: relative links start there. Links lead to http,
    https, mailto or a file of the bundle; every other one, and every image, stays as its text. A text over
    LONGEST characters is shown as it is written, as far as those.
    """
    if len(text) > LONGEST:
        return format_html('<pre tabindex="0">{}\n…</pre>', text[:LONGEST])
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    parser.enable(["table", "strikethrough"])
    tokens = parser.parse(text)
    _order_headings(tokens)
    for token in tokens:
        if token.type == "inline" and token.children:
            token.children = _safe_inline(token.children, link_file, folder)
        elif token.type == "th_open":
            token.attrs = {"scope": "col"}
        elif token.type == "td_open":
            token.attrs = {}
    html = parser.renderer.render(tokens, parser.options, {})
    html = html.replace("<pre>", '<pre tabindex="0">')
    return mark_safe(clean(html))  # noqa: S308 - cleaned by an allow-list


def clean(html: str) -> str:
    """The HTML with nothing but the elements and attributes that texts may have."""
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener nofollow noreferrer",
        strip_comments=True,
    )


def _order_headings(tokens: Sequence[Token]) -> None:
    """Push headings below the page's own, none more than one level below the one before."""
    level = HEADING_BELOW
    for token in tokens:
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + HEADING_BELOW, level + 1, 6)
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{level}"


def _safe_inline(children: Sequence[Token], link_file: FileLink, folder: str) -> list[Token]:
    kept: list[Token] = []
    open_links: list[bool] = []
    for child in children:
        if child.type == "image":
            kept.append(_image_as_text(child))
        elif child.type == "link_open":
            address = _address(str(child.attrGet("href") or ""), link_file, folder)
            open_links.append(address is not None)
            if address is not None:
                child.attrs = {"href": address}
                kept.append(child)
        elif child.type == "link_close":
            if not open_links or open_links.pop():
                kept.append(child)
        else:
            kept.append(child)
    return kept


def _image_as_text(image: Token) -> Token:
    """No image is loaded: its alternative text and address stand in its place."""
    source = str(image.attrGet("src") or "")
    alternative = image.content or posixpath.basename(source)
    return Token("text", "", 0, content=f"[{alternative}: {source}]" if source else f"[{alternative}]")


def _address(href: str, link_file: FileLink, folder: str) -> str | None:
    """Where a link may lead, or None."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return None
    if parts.scheme in {"http", "https"}:
        return href if parts.netloc else None
    if parts.scheme == "mailto":
        return href
    if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
        return None
    path = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
    return None if path.startswith("..") else link_file(path)
