"""The rules for one path of a bundle, and for all of them together.

A path passes two stages. `canonical` makes a relative path of what a container wrote and refuses
what would leave the bundle; `problems` judges the names in the result. Both hold for archives,
folders and the JSON form alike. Reserved names and illegal characters are those of Win32
("Naming Files, Paths, and Namespaces").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from string import ascii_letters
from unicodedata import is_normalized, normalize
from urllib.parse import unquote

from catalog.bundles.characters import BIDI, CONTROL, INVISIBLE, SURROGATE, code_point, first_invisible, shown
from catalog.bundles.files import Limits
from catalog.bundles.findings import Finding, error, warning

MAX_RAW_BYTES = 512
"""Longest path a container may write, in bytes: normalising a longer one costs quadratic time."""
MAX_PATH_BYTES = 260
"""Longest path inside a bundle, in bytes of UTF-8 (MAX_PATH of Win32)."""
MAX_NAME_BYTES = 255
"""Longest name of one file or folder, in bytes of UTF-8 (NAME_MAX of Linux and macOS)."""

_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.+@, -]*(?:/[A-Za-z0-9_.][A-Za-z0-9_.+@, -]*)*")
_SUSPECT = re.compile(r"[. ](?:/|$)|/-|(?:^|/)(?:CON|PRN|AUX|NUL|COM|LPT)", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_ILLEGAL = re.compile('[<>:"|?]')
_SHELL = re.compile(r"[`$;]|&&")
_RESERVED = re.compile(
    r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3])", re.IGNORECASE
)
# What compatibility normalisation turns into dots, slashes, colons, percents, tildes and drive letters,
# and the slashes that look alike. A table, since normalising may make eighteen characters of one.
_LOOK_ALIKES = str.maketrans(
    dict.fromkeys("\\\uff0f\uff3c\ufe68\u2044\u2215\u29f8\u29f5\u29f9\u2216", "/")
    | dict.fromkeys("\u2024\ufe52\uff0e", ".")
    | dict.fromkeys("\u2025\ufe30", "..")
    | dict.fromkeys("\u2026\ufe19", "...")
    | dict.fromkeys("\ufe13\ufe55\uff1a", ":")
    | dict.fromkeys("\ufe6a\uff05", "%")
    | {"\uff5e": "~"}
    | {chr(0xFEE0 + ord(char)): char for char in ascii_letters}
)
_PLAIN_PATHS = 'Pack the files again with plain relative paths such as "docs/guide.md".'
_RENAME = "Rename the file."


def folded(path: str) -> str:
    """The path with case and canonical equivalence folded away (Unicode 3.13, D145).

    Two paths of one bundle whose folded forms are equal are one file on macOS or Windows.
    """
    if path.isascii():
        return path.lower()
    return normalize("NFC", normalize("NFD", path).casefold())


def canonical(raw: str, *, dot_slash: bool = False) -> tuple[str, list[Finding]]:
    """The relative NFC path that `raw` names, and what had to be mended or refused.

    The path is "" where it was refused (an error is among the findings) or names the root.
    `dot_slash` says that a leading `./` is the custom of the container and no cause for a warning.
    """
    if _PLAIN.fullmatch(raw) and ".." not in raw and "./" not in raw and not raw.endswith("."):
        return (raw, []) if len(raw) <= MAX_RAW_BYTES else ("", [_too_long(raw)])
    refusal = _refusal(raw)
    if refusal:
        return "", [refusal]
    name, mends = shown(raw), []
    if "\\" in raw:
        text = f'"{name}" separates folders by backslashes; they are read as "/".'
        mends.append(("path-backslash-separator", text, "Pack with a program that writes forward slashes."))
    parts = raw.replace("\\", "/").removesuffix("/").split("/")
    while dot_slash and parts and parts[0] == ".":
        del parts[0]
    if "" in parts:
        text = f'"{name}" has an empty folder name.'
        return "", [error("path-not-canonical", text, _PLAIN_PATHS, path=name)]
    if "." in parts:
        parts = [part for part in parts if part != "."]
        text = f'"{name}" has "." among its folders; they are left out.'
        mends.append(("path-normalised", text, _PLAIN_PATHS))
    path = "/".join(parts)
    if not is_normalized("NFC", path):
        path = normalize("NFC", path)
        text = f'"{name}" is not in Unicode form NFC; it is stored in that form.'
        mends.append(("path-not-nfc", text, "Rename the file in form NFC."))
    return path, [warning(code, text, hint, path=shown(path)) for code, text, hint in mends]


def _too_long(raw: str) -> Finding:
    message = f'The path "{shown(raw)}" is longer than {MAX_RAW_BYTES} bytes.'
    return error("path-too-long", message, "Shorten the names of the folders.", path=shown(raw))


def _refusal(raw: str) -> Finding | None:
    name = shown(raw)
    if len(raw) > MAX_RAW_BYTES or len(raw.encode("utf-8", "surrogatepass")) > MAX_RAW_BYTES:
        return _too_long(raw)
    if SURROGATE.search(raw):
        message = f'The name "{name}" is not UTF-8.'
        return error("filename-not-utf8", message, "Rename the file in UTF-8.", path=name)
    if any(map(_leaves, _spellings(raw))):
        return error("path-traversal", f'The path "{name}" leads out of the bundle.', _PLAIN_PATHS, path=name)
    return None


def _spellings(raw: str) -> Iterator[str]:
    """What lenient programs read in the path: as it stands, look-alikes resolved, percents decoded."""
    yield raw
    plain = raw
    for _ in range(2):
        plain = INVISIBLE.sub("", plain.translate(_LOOK_ALIKES))
        yield plain
        if "%" not in plain:
            break
        plain = unquote(plain, errors="replace")
        yield plain


def _leaves(path: str) -> bool:
    path = path.replace("\\", "/")
    parts = path.split("/")
    return (
        path.startswith("/")
        or _DRIVE.match(path) is not None
        or parts[0] == "~"
        or any(part.rstrip(" ") == ".." for part in parts)
    )


def problems(path: str, limits: Limits) -> list[Finding]:
    """What is wrong with the names of a canonical path, relative to its bundle."""
    found = _sizes(path, limits)
    if _PLAIN.fullmatch(path):
        if not _SUSPECT.search(path):
            return found
    else:
        found += _characters(path)
    for part in path.split("/"):
        found += _name(part, path)
    return found


def _sizes(path: str, limits: Limits) -> list[Finding]:
    found: list[Finding] = []
    name, mend = shown(path), "Shorten the names or move the file up."
    if len(path) * 4 > MAX_NAME_BYTES:
        longest = max(len(part.encode()) for part in path.split("/"))
        if longest > MAX_NAME_BYTES:
            message = f'A name in "{name}" has {longest} bytes; the limit is {MAX_NAME_BYTES}.'
            found.append(error("path-too-long", message, mend, path=name))
        elif (size := len(path.encode())) > MAX_PATH_BYTES:
            message = f'The path "{name}" has {size} bytes; the limit is {MAX_PATH_BYTES}.'
            found.append(error("path-too-long", message, mend, path=name))
    if (depth := path.count("/")) > limits.max_depth:
        message = f'"{name}" lies {depth} folders deep; the limit is {limits.max_depth}.'
        found.append(error("path-too-deep", message, "Move the file up.", path=name))
    return found


def _characters(path: str) -> list[Finding]:
    found: list[Finding] = []
    name = shown(path)
    if match := CONTROL.search(path):
        message = f'The name "{name}" holds the control character {code_point(match[0])}.'
        found.append(error("filename-control-char", message, _RENAME, path=name))
    if match := BIDI.search(path):
        message = f'The name "{name}" holds {code_point(match[0])}, which changes the direction of writing.'
        found.append(error("filename-bidi-control", message, _RENAME, path=name))
    if char := first_invisible(path):
        message = f'The name "{name}" holds the invisible character {code_point(char)}.'
        found.append(error("filename-invisible-char", message, _RENAME, path=name))
    if match := _ILLEGAL.search(path):
        message = f'The name "{name}" holds "{match[0]}", which Windows does not allow.'
        found.append(error("filename-illegal-char", message, _RENAME, path=name))
    if match := _SHELL.search(path):
        message = f'The name "{name}" holds "{match[0]}", which a shell acts upon when it is pasted.'
        found.append(warning("filename-shell-meta", message, _RENAME, path=name))
    if "*" in path:
        message = f'The name "{name}" holds "*"; the file cannot be unpacked on Windows.'
        found.append(warning("filename-not-portable", message, _RENAME, path=name))
    return found


def _name(part: str, path: str) -> list[Finding]:
    found: list[Finding] = []
    if part[-1:] in (".", " "):
        message = f'"{shown(part)}" in "{shown(path)}" ends with a dot or a space, which Windows drops.'
        found.append(error("filename-trailing-dot-space", message, _RENAME, path=shown(path)))
    if _RESERVED.fullmatch(part.partition(".")[0].rstrip(" ")):
        message = f'"{shown(part)}" in "{shown(path)}" is a device name on Windows.'
        found.append(error("filename-windows-reserved", message, _RENAME, path=shown(path)))
    if part.startswith("-"):
        message = f'"{shown(part)}" in "{shown(path)}" starts with a dash; programs read it as an option.'
        found.append(warning("filename-leading-dash", message, _RENAME, path=shown(path)))
    return found


def collisions(files: Iterable[str], folders: Iterable[str] = ()) -> list[Finding]:
    """The paths that are one on some system: by case, by Unicode form, or as file and folder."""
    found: list[Finding] = []
    seen: dict[str, tuple[str, bool]] = {}
    known_folders: set[str] = set()

    def claim(path: str, folder: bool) -> None:
        first, first_folder = seen.setdefault(folded(path), (path, folder))
        if first_folder != folder:
            text = f'"{shown(path)}" is both a file and a folder.'
        elif first != path:
            text = f'"{shown(first)}" and "{shown(path)}" are one {"folder" if folder else "file"} on some systems.'
        else:
            return
        found.append(error("path-collision", text, "Rename one of them.", path=shown(path)))

    def claim_folders(path: str) -> None:
        while path and path not in known_folders:
            known_folders.add(path)
            claim(path, True)
            path = path.rpartition("/")[0]

    taken: set[str] = set()
    for path in files:
        if path.count("/") > 24:  # too deep anyway, and quadratic to judge
            continue
        claim_folders(path.rpartition("/")[0])
        if path in taken:
            text = f'Two names are read as "{shown(path)}".'
            found.append(error("path-collision", text, "Rename one of them.", path=shown(path)))
        else:
            taken.add(path)
            claim(path, False)
    for path in folders:
        if path.count("/") <= 24:
            claim_folders(path)
    return found
