"""The names and versions of skills (`docs/manifest.md`, Names and Versions)."""

from __future__ import annotations

import re
import unicodedata

from catalog.bundles.findings import Finding, advice, error, warning

MAX_NAME_CHARS = 64
MAX_VERSION_CHARS = 64

_SKILL_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_SEGMENT = r"[a-z][a-z0-9]*([_-][a-z0-9]+)*"
_MANIFEST_NAME = re.compile(rf"{_SEGMENT}(\.{_SEGMENT}){{0,3}}", re.ASCII)

# A folder of such a name cannot be made on Windows.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))]
)

# The pattern that semver.org recommends, held to ASCII digits.
_SEMVER = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)
_SHORT_VERSION = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))?")

_CYRILLIC = dict(
    zip(
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
        [
            "a",
            "b",
            "v",
            "g",
            "d",
            "e",
            "e",
            "zh",
            "z",
            "i",
            "y",
            "k",
            "l",
            "m",
            "n",
            "o",
            "p",
            "r",
            "s",
            "t",
            "u",
            "f",
            "kh",
            "ts",
            "ch",
            "sh",
            "shch",
            "",
            "y",
            "",
            "e",
            "yu",
            "ya",
        ],
        strict=True,
    )
)


def is_skill_name(name: str) -> bool:
    """Whether the text is a name that a SKILL.md may give."""
    return len(name) <= MAX_NAME_CHARS and _SKILL_NAME.fullmatch(name) is not None


def is_manifest_name(name: str) -> bool:
    """Whether the text is a name that a manifest may give."""
    return len(name) <= MAX_NAME_CHARS and _MANIFEST_NAME.fullmatch(name) is not None


def folder_name(name: str) -> str:
    """The folder that an agent sees, which is also the skill_id: `.` and `_` read as `-`."""
    return name.replace(".", "-").replace("_", "-")


def proposed_slug(text: str) -> str:
    """The nearest skill name that can be made of a text, or "" where nothing of it can be kept."""
    start = unicodedata.normalize("NFC", text[:1000]).casefold()
    spelled = "".join(_CYRILLIC.get(char, char) for char in start)
    plain = "".join(
        c for c in unicodedata.normalize("NFKD", spelled) if unicodedata.category(c)[0] not in "MC"
    )
    words = re.findall(r"[a-z0-9]+", re.sub(r"<[^<>]*>|['’]", "", plain))
    slug = "-".join(words)[:MAX_NAME_CHARS].strip("-")
    return "" if slug in _DEVICES else slug


def check_skill_name(name: str, *, path: str, line: int | None = None) -> tuple[Finding, ...]:
    """The findings about the name of a SKILL.md; empty where it is a good one."""
    rule = "a-z, 0-9 and single hyphens between them, at most 64 characters"
    return _check_name(name, is_skill_name(name), rule, proposed_slug(name), path, line)


def check_manifest_name(name: str, *, path: str, line: int | None = None) -> tuple[Finding, ...]:
    """The findings about the name of a manifest; empty where it is a good one."""
    rule = "one to four segments joined by dots, each of a-z, 0-9, - and _ and begun with a letter"
    return _check_name(name, is_manifest_name(name), rule, _proposed_manifest_name(name), path, line)


def _check_name(
    name: str, good: bool, rule: str, proposal: str, path: str, line: int | None
) -> tuple[Finding, ...]:
    if good and folder_name(name) not in _DEVICES:
        return ()
    shown = name if name.isprintable() else ascii(name)[1:-1]
    message = f'"{shown[:80]}" is not a skill name.' if not good else f'"{name}" is a device name on Windows.'
    hint = f"Use {rule}" + (f", for example {proposal}." if proposal else ".")
    return (error("name-invalid", message, hint, path=path, line=line),)


def _proposed_manifest_name(text: str) -> str:
    segments = [proposed_slug(part).lstrip("-0123456789") for part in text.split(".")]
    proposal = ".".join([segment for segment in segments if segment][:4])[:MAX_NAME_CHARS].rstrip(".-_")
    return proposal if is_manifest_name(proposal) else ""


def is_semver(text: str) -> bool:
    """Whether the text is strict SemVer 2.0.0, of any length."""
    return _SEMVER.fullmatch(text) is not None


def read_version(
    text: str, *, path: str = "", line: int | None = None, max_chars: int = MAX_VERSION_CHARS
) -> tuple[str | None, tuple[Finding, ...]]:
    """SemVer without build metadata of what an author wrote in a SKILL.md, and what was found.

    `N` and `N.N` are read as `N.0.0` and `N.N.0`. None where the text is no version, where the
    publisher is asked for one; that is advice, never an error.
    """
    short = _SHORT_VERSION.fullmatch(text)
    if len(text) > (max_chars - 4 if short else max_chars):
        message = f"The version has {len(text)} characters, more than the {max_chars} allowed."
        return None, (
            advice("version-not-semver", message, "The publisher gives one.", path=path, line=line),
        )
    if short:
        version = f"{text}.0" if short[2] else f"{text}.0.0"
        message = f"The version {text} is no semantic version; it is read as {version}."
        return version, (advice("version-not-semver", message, f'Write "{version}".', path=path, line=line),)
    if not is_semver(text):
        shown = text if text.isprintable() else ascii(text)[1:-1]
        message = f'The version "{shown}" is no semantic version, so the publisher is asked for one.'
        return None, (advice("version-not-semver", message, "Write it as 1.2.3.", path=path, line=line),)
    version, _, build = text.partition("+")
    return version, build_metadata(version, build, path=path, line=line)


def build_metadata(version: str, build: str, *, path: str, line: int | None) -> tuple[Finding, ...]:
    """The warning for the build metadata of a version; empty where it has none."""
    if not build:
        return ()
    message = f"The build metadata +{build} makes no other version: this one is {version}."
    return (warning("version-build-metadata", message, "Leave it out.", path=path, line=line),)
