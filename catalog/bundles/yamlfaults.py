"""What is wrong with a YAML text before it has events, said with the line that mends it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from catalog.bundles.findings import Finding, error, warning

# What YAML 1.1 does not allow, and what its readers do not agree on: C1 controls, the BOM inside a
# text, and NEL, LS and PS, which end a line for some and for some do not.
_BAD_IN_FILE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\U0000d800-\U0000dfff]"
)
_BAD_IN_VALUE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\U0000d800-\U0000dfff]")
_KEY_VALUE = re.compile(
    r"(?P<key>[ ]*(?:- +)*[^\s\"'#&*!|>%@`{\[:,-][^:\"'{\[]{0,80}):[ ]+(?P<value>\S.*?)[ ]*"
)
_MAX_LINE_SHOWN = 240
_MAX_CHARACTERS_NAMED = 10


@dataclass(frozen=True, slots=True)
class Fault:
    """What stopped the parser. `mended` is line `index` (from 0) as its author meant it, if that is clear."""

    finding: Finding
    index: int
    mended: str | None


def has_bad_characters(value: str) -> bool:
    """Whether a value holds a control character that no text may hold."""
    return _BAD_IN_VALUE.search(value) is not None


def without_bad_characters(text: str) -> str:
    """The text with U+FFFD for each character that YAML does not allow; lengths stay."""
    return _BAD_IN_FILE.sub("\ufffd", text)


def bad_characters(text: str, *, path: str, first_line: int) -> list[Finding]:
    """One error for each of the first lines that hold a character YAML does not allow."""
    findings: list[Finding] = []
    for match in _BAD_IN_FILE.finditer(text):
        line = first_line + text.count("\n", 0, match.start())
        if findings and findings[-1].line == line:
            continue
        if len(findings) == _MAX_CHARACTERS_NAMED:
            break
        message = f"Line {line} holds the character U+{ord(match[0]):04X}, which YAML does not allow."
        hint = "Remove it; where it is part of garbled text, type the text again and save the file as UTF-8."
        findings.append(error("yaml-invalid", message, hint, path=path, line=line))
    return findings


def without_directive(lines: list[str], *, path: str, first_line: int) -> list[Finding]:
    """An error for a `%` directive before the document, which is blanked: the format has none."""
    for number, line in enumerate(lines, first_line):
        if line.startswith("%"):
            lines[number - first_line] = ""
            message = f"Line {number} is a YAML directive, which is not allowed here."
            return [error("yaml-invalid", message, "Remove the line.", path=path, line=number)]
        if line.strip() and not line.lstrip().startswith("#"):
            break
    return []


def cut_by_comment(value: str, rest: str, *, path: str, line: int) -> Finding | None:
    """A warning where ` #` ends an unquoted value that was meant to go on; `rest` follows the value.

    `# ` after one word, or after a gap, is taken for the comment it looks like.
    """
    comment = rest.lstrip(" \t")
    if not comment.startswith("#") or not value:
        return None
    looks_meant = comment[1:2] in ("", " ", "#") and (" " not in value or len(rest) - len(comment) > 1)
    if looks_meant:
        return None
    message = f"The value in line {line} ends before its #, which begins a comment."
    return warning("yaml-value-truncated", message, "Put the whole value in quotes.", path=path, line=line)


def parser_fault(exc: Exception, lines: list[str], *, path: str, first_line: int) -> Fault:
    """The finding for an error of the parser, and the line mended where the mend is plain to see."""
    problem = _problem(exc)
    index, column = _position(exc, lines)
    line = first_line + index
    if problem.startswith("mapping values are not allowed"):
        return _unquoted_colon(lines, index, column, path, line)
    code, message, hint = _explained(exc, lines, index, column, line)
    mended = _mend(lines, index) if code == "yaml-invalid" else None
    if mended is not None and _value_begins_special(lines[index]):
        hint = f"Close what the value opens or, where it is text, quote it: {shown(mended)}"
        return Fault(error(code, message, hint, path=path, line=line), index, mended)
    return Fault(error(code, message, hint, path=path, line=line), index, None)


def _problem(exc: Exception) -> str:
    return str(getattr(exc, "problem", None) or exc)


def _position(exc: Exception, lines: list[str]) -> tuple[int, int]:
    """Line and column of the problem, both from 0; past the end it is the last line with text."""
    mark = getattr(exc, "problem_mark", None)
    last = max((number for number, line in enumerate(lines) if line.strip()), default=0)
    if mark is None or mark.line > last:
        return last, len(lines[last])
    return int(mark.line), int(mark.column)


def _unquoted_colon(lines: list[str], index: int, column: int, path: str, line: int) -> Fault:
    mended = _mend(lines, index)
    where = f"Line {line}, column {column + 1}"
    match = _KEY_VALUE.fullmatch(lines[index])
    if mended is not None and match is not None and column >= match.start("value"):
        message = f"{where}: an unquoted value holds a colon, so YAML cannot read the line."
        finding = error("yaml-unquoted-colon", message, f"Quote it: {shown(mended)}", path=path, line=line)
        return Fault(finding, index, mended)
    message = f"{where}: a colon stands in an unquoted value that began before, so YAML cannot read it."
    hint = "Put the whole value in quotes; where the line is a key of its own, indent it like its neighbours."
    return Fault(error("yaml-unquoted-colon", message, hint, path=path, line=line), index, None)


def _explained(exc: Exception, lines: list[str], index: int, column: int, line: int) -> tuple[str, str, str]:
    """Code, message and hint, in words of ours: the two parsers do not use the same ones."""
    problem, text = _problem(exc), lines[index]
    indent = text[: len(text) - len(text.lstrip())]
    if "undefined tag handle" in problem:
        message = f"The tag in line {line} is not allowed here."
        return "yaml-tag", message, "Remove the tag; quote the value where it is text that begins with !."
    if "\t" in indent:
        return "yaml-invalid", f"A tab indents line {line}.", "Indent with spaces; YAML allows no tabs there."
    if "document start" in problem:
        message = f"A second YAML document begins in line {line}; only one is read."
        return "yaml-invalid", message, "Keep one document and remove the line that separates the two."
    if isinstance(exc, yaml.MarkedYAMLError) and exc.context == "while scanning a quoted scalar":
        opened = line - index + exc.context_mark.line if exc.context_mark else line
        message = f"The quotation mark that is opened in line {opened} is never closed."
        return (
            "yaml-invalid",
            message,
            'Close the quotation; in double quotes write \\" for a quotation mark.',
        )
    message = f"Line {line}, column {column + 1}: the YAML cannot be read from here on."
    hint = "Check indentation, quotes and brackets of this line and of the one before; quote text with signs in it."
    return "yaml-invalid", message, hint


def _mend(lines: list[str], index: int) -> str | None:
    """The line with its value in quotes; None where it has none, or one that goes on below."""
    match = _KEY_VALUE.fullmatch(lines[index])
    if match is None or match["value"][0] in "\"'|>":
        return None
    following = next((line for line in lines[index + 1 :] if line.strip()), "")
    key_indent = len(match["key"]) - len(match["key"].lstrip(" -"))
    if len(following) - len(following.lstrip(" ")) > key_indent:
        return None
    return f"{match['key']}: {quoted(match['value'])}"


def _value_begins_special(line: str) -> bool:
    match = _KEY_VALUE.fullmatch(line)
    return match is not None and match["value"][0] in "[{*&!@`%,?-"


def quoted(value: str) -> str:
    """The value as a YAML scalar in quotes."""
    if '"' in value or "\\" in value:
        return "'" + value.replace("'", "''") + "'"
    return f'"{value}"'


def shown(text: str, length: int = _MAX_LINE_SHOWN) -> str:
    """The text in one printable line."""
    line = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[: 2 * length].strip())
    return line if len(line) <= length else line[:length] + "…"
