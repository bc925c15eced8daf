"""SKILL.md: from bytes to text, the frontmatter and the body."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from catalog.bundles.bundle import Frontmatter
from catalog.bundles.files import File
from catalog.bundles.findings import Finding, error, warning
from catalog.bundles.frontmatter import read_fields
from catalog.bundles.yamltext import Mapping, read_yaml

MAX_SKILL_MD_BYTES = 1024 * 1024
"""The largest real one has 128 kB."""
MAX_FRONTMATTER_CHARS = 64 * 1024

_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
_FENCE_OF_FRONTMATTER = re.compile(r"---[ \t]*")
_KEY = re.compile(r"(name|description)[ \t]*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SkillMd:
    """A SKILL.md that was read; `name`, `description` and `version_text` are "" where it has none.

    `text` has LF line ends and no BOM; `body` is what follows the frontmatter, as it was written,
    and begins on line `body_line` of the file. `lines` tells where the keys of the frontmatter stand.
    """

    text: str = ""
    name: str = ""
    description: str = ""
    version: str | None = None
    version_text: str = ""
    frontmatter: Frontmatter | None = None
    body: str = ""
    body_line: int = 1
    lines: dict[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def read_skill_md(file: File, *, max_version_chars: int = 64) -> SkillMd:
    """Read a SKILL.md and tell all of its problems; never raises."""
    text, findings = decode(file)
    if text is None:
        return SkillMd(findings=tuple(findings))
    lines = [line for line in _LINE.findall(text) if line]
    unified = _unified(text)
    end = _frontmatter_end(lines)
    if end is None:
        findings.append(_no_frontmatter(lines, file.path))
        return SkillMd(text=unified, body=text, findings=tuple(findings))
    source, body = "".join(lines[1:end]), "".join(lines[end + 1 :])
    if len(source) > MAX_FRONTMATTER_CHARS:
        message = f"The frontmatter has {len(source):,} characters, more than the {MAX_FRONTMATTER_CHARS:,} allowed."
        hint = "Move long text into the body or into a file of its own."
        findings.append(error("frontmatter-too-large", message, hint, path=file.path, line=1))
        return SkillMd(text=unified, body=body, body_line=end + 2, findings=tuple(findings))
    document = read_yaml(source, path=file.path, first_line=2, too_large="frontmatter-too-large")
    findings += document.findings
    if document.root is not None and not isinstance(document.root, Mapping):
        findings.append(_not_mapping(file.path))
    if not body.strip():
        findings.append(_empty_body(file.path, end + 1))
    # Only what could be read is judged: of a broken text no field is said to be missing.
    readable = isinstance(document.root, Mapping) or (document.root is None and not document.findings)
    if not readable:
        return SkillMd(text=unified, body=body, body_line=end + 2, findings=tuple(findings))
    root = document.root if isinstance(document.root, Mapping) else Mapping({}, {}, 1)
    fields = read_fields(root, path=file.path, max_version_chars=max_version_chars)
    return SkillMd(
        text=unified,
        name=fields.name,
        description=fields.description,
        version=fields.version,
        version_text=fields.version_text,
        frontmatter=fields.frontmatter,
        body=body,
        body_line=end + 2,
        lines=dict(root.key_lines),
        findings=(*findings, *fields.findings),
    )


def decode(file: File) -> tuple[str | None, list[Finding]]:
    """The text of a SKILL.md without its BOM, or None where it cannot be read, and what was found."""
    if file.size > MAX_SKILL_MD_BYTES:
        message = f"{file.path} has {file.size:,} bytes, more than the {MAX_SKILL_MD_BYTES:,} allowed."
        hint = "Move long parts into files under references/."
        return None, [error("skill-md-too-large", message, hint, path=file.path)]
    findings: list[Finding] = []
    content = file.content
    if content.startswith(_BOM):
        message = f"{file.path} begins with a byte order mark, at which some agents miss the frontmatter."
        findings.append(warning("utf8-bom", message, "Save it as UTF-8 without BOM.", path=file.path, line=1))
        content = content[len(_BOM) :]
    if not content.strip(b" \t\r\n\f\v"):
        return None, [
            *findings,
            error("skill-md-empty", f"{file.path} is empty.", "Write it.", path=file.path),
        ]
    if fault := _not_utf8(content, file.path, file.size - len(content)):
        return None, [*findings, fault]
    text = content.decode("utf-8")
    findings += _control_characters(_unified(text), file.path)
    if alone := re.search(r"\r(?!\n)", text):
        line = text.count("\n", 0, alone.start()) + 1
        message = f"{file.path} ends lines with CR alone, which most agents do not read as a line end."
        findings.append(
            warning("line-endings-cr", message, "Save it with LF line ends.", path=file.path, line=line)
        )
    return text, findings


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _not_utf8(content: bytes, path: str, offset: int) -> Finding | None:
    """The error for text in another encoding, with the offset of the first wrong byte in the file."""
    hint = "Save it as UTF-8."
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return error(
            "skill-md-not-utf8", f"{path} is UTF-16, not UTF-8, from byte 0 on.", hint, path=path, line=1
        )
    # UTF-16 without a mark is valid UTF-8 where it is English: every second byte is a NUL.
    sample = content[:1024]
    if len(sample) >= 4 and max(sample[0::2].count(0), sample[1::2].count(0)) * 3 > len(sample):
        message = f"{path} is UTF-16 without a byte order mark, not UTF-8."
        return error("skill-md-not-utf8", message, hint, path=path, line=1)
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = content.count(b"\n", 0, exc.start) + 1
        message = f"{path} is not UTF-8: byte 0x{content[exc.start]:02X} at offset {exc.start + offset}, line {line}."
        return error("skill-md-not-utf8", message, hint, path=path, line=line)
    return None


def _control_characters(text: str, path: str) -> list[Finding]:
    findings: list[Finding] = []
    for match in _CONTROL.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        message = f"Line {line} of {path} holds the control character U+{ord(match[0]):04X}."
        findings.append(error("skill-md-control-char", message, "Remove it.", path=path, line=line))
        if len(findings) == 10:
            break
    return list(dict.fromkeys(findings))


def _frontmatter_end(lines: list[str]) -> int | None:
    """The index of the closing line, or None. It is exactly `---`; white space may follow."""
    if not lines or not _is_fence(lines[0]):
        return None
    return next((index for index, line in enumerate(lines[1:], 1) if _is_fence(line)), None)


def _is_fence(line: str) -> bool:
    return _FENCE_OF_FRONTMATTER.fullmatch(line.rstrip("\r\n")) is not None


def _no_frontmatter(lines: list[str], path: str) -> Finding:
    """Why there is no frontmatter: it is not closed, it comes too late, or there is none."""
    if _is_fence(lines[0]):
        hint = "Close the frontmatter with a line that is exactly --- before the body."
        return error(
            "frontmatter-unclosed", f"The frontmatter of {path} is never closed.", hint, path=path, line=1
        )
    fences = [index for index, line in enumerate(lines) if _is_fence(line)]
    begun = next((i for i in fences if i + 1 < len(lines) and _KEY.match(lines[i + 1])), None)
    hint = "Make --- the very first line; nothing may stand before it, not even an empty line."
    if begun is not None:
        message = f"The frontmatter of {path} begins on line {begun + 1}, not on the first line."
        return error("frontmatter-not-first", message, hint, path=path, line=begun + 1)
    if fences and _KEY.match(lines[0]):
        message = f"The frontmatter of {path} has no opening --- on the first line."
        return error("frontmatter-not-first", message, hint, path=path, line=1)
    hint = "Begin the file with ---, name, description and a closing ---."
    if lines[0].startswith("\ufeff"):
        hint = "The file begins with two byte order marks: save it as UTF-8 without BOM."
    return error("frontmatter-missing", f"{path} has no frontmatter.", hint, path=path, line=1)


def _empty_body(path: str, line: int) -> Finding:
    message = f"The body of {path} is empty: an agent that loads the skill reads no instructions."
    return warning(
        "body-empty", message, "Write the instructions below the closing ---.", path=path, line=line
    )


def _not_mapping(path: str) -> Finding:
    message = f"The frontmatter of {path} is not a list of keys and values."
    return error(
        "frontmatter-not-mapping", message, "Write it as `name: …` and `description: …`.", path=path, line=2
    )
