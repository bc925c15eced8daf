"""Frontmatter as runtimes read it that have no YAML parser: by lines."""

from __future__ import annotations


def frontmatter(text: str) -> str:
    """The lines between the first line and the next that is exactly `---`, or "" where there is none."""
    lines = text.split("\n")
    end = next((i for i, line in enumerate(lines) if i and line.rstrip(" \t") == "---"), None)
    return "\n".join(lines[1:end]) + "\n" if end else ""


def raf_fields(text: str) -> dict[str, str] | None:
    """The keys that RAF reads, or None where it finds no frontmatter.

    The next `---` ends it wherever it stands, and from `metadata:` on every line belongs to the
    metadata, so that top-level keys below it are lost.
    """
    if not text.startswith("---"):
        return None
    end = text.find("---", 3)
    if end < 0:
        return None
    fields: dict[str, str] = {}
    for line in _lines(text[3:end]):
        key, colon, value = line.strip().partition(":")
        if colon and key == "metadata":
            break
        if colon:
            fields[key] = _unquoted(value.strip())
    return fields


def awaken_fields(text: str) -> dict[str, str] | None:
    """The keys that Awaken reads, or None; an indented key counts like one at the margin."""
    if not text.startswith("---"):
        return None
    lines = _lines(text)
    end = next((i for i, line in enumerate(lines) if i and line.strip() == "---"), None)
    if end is None:
        return None
    fields: dict[str, str] = {}
    for line in lines[1:end]:
        key, colon, value = line.strip().partition(":")
        if colon:
            fields[key] = _unquoted(value.strip())
    return fields


def awaken_tools(value: str) -> tuple[str, ...]:
    """The tools in a value that is parted at commas, in brackets or without."""
    inner = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    return tuple(tool for part in inner.split(",") if (tool := _unquoted(part.strip())))


def _lines(text: str) -> list[str]:
    """Lines as Rust's `str::lines` parts them: at LF, with a CR before it dropped."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
