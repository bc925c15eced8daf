"""What kind of file a name and the first bytes make: programs, bytecode, archives, active pages.

Magic numbers are those of file(1). A finding here is a warning: it raises the suggested risk or
asks a reviewer to look.
"""

from __future__ import annotations

import re

from catalog.bundles.characters import shown
from catalog.bundles.files import File
from catalog.bundles.findings import Finding, warning

_PROGRAMS = ("a Linux program", "a Windows program", "a macOS program")
_BYTECODE = (
    "Java bytecode",
    "WebAssembly",
    "Python bytecode",
    "Android bytecode",
    "Lua bytecode",
    "LLVM bitcode",
)
_ARCHIVES = ("a zip archive", "a gzip file", "a bzip2 file", "an xz file", "a 7-Zip archive", "a RAR archive",
             "a Zstandard file", "a Windows cabinet", "a tar archive", "an ar archive")  # fmt: skip
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x7fELF", "a Linux program"),
    (b"\xfe\xed\xfa\xce", "a macOS program"),
    (b"\xfe\xed\xfa\xcf", "a macOS program"),
    (b"\xce\xfa\xed\xfe", "a macOS program"),
    (b"\xcf\xfa\xed\xfe", "a macOS program"),
    (b"\0asm", "WebAssembly"),
    (b"dex\n", "Android bytecode"),
    (b"\x1bLua", "Lua bytecode"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"PK\3\4", "a zip archive"),
    (b"PK\5\6", "a zip archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"MSCF\0\0\0\0", "a Windows cabinet"),
    (b"!<arch>\n", "an ar archive"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an OLE document"),
)
_BY_FIRST_BYTE = {
    magic[:1]: tuple(pair for pair in _MAGIC if pair[0][:1] == magic[:1]) for magic, _ in _MAGIC
}
# What a name promises; the magic must be one of these.
_PROMISES: dict[str, tuple[str, ...]] = {
    "png": ("a PNG image",),
    "jpg": ("a JPEG image",),
    "jpeg": ("a JPEG image",),
    "gif": ("a GIF image",),
    "webp": ("a WebP image",),
    "pdf": ("a PDF document",),
    "zip": ("a zip archive",),
    "gz": ("a gzip file",),
    "tgz": ("a gzip file",),
    "bz2": ("a bzip2 file",),
    "xz": ("an xz file",),
    "7z": ("a 7-Zip archive",),
    "docx": ("a zip archive",),
    "xlsx": ("a zip archive",),
    "pptx": ("a zip archive",),
    "odt": ("a zip archive",),
    "epub": ("a zip archive",),
    "exe": ("a Windows program",),
    "dll": ("a Windows program",),
    "so": ("a Linux program",),
}
# ruff: noqa: SIM905 - a table of extensions reads best as words
_TEXT = frozenset(
    "md markdown txt rst csv tsv json jsonl yaml yml toml ini cfg conf xml svg html htm css js mjs cjs ts tsx jsx "
    "py rb pl php lua r sh bash zsh ps1 bat cmd sql java go rs c h cpp hpp cs kt swift tex env".split()
)
_DOCUMENTS = frozenset("docx xlsx pptx dotx xltx potx docm xlsm pptm odt ods odp epub xmind vsdx".split())
_PROGRAM_NAMES = frozenset("exe dll so dylib msi scr com sys ocx cpl ko".split())
_BYTECODE_NAMES = frozenset("pyc pyo class dex luac wasm beam".split())
_PAGES = frozenset("html htm xhtml xht shtml mht mhtml hta swf".split())
_PAGE = re.compile(rb"\s*(?:<!doctype\s+html|<html[\s>])", re.IGNORECASE)
_SVG_ROOT = re.compile(rb"<svg[\s>]", re.IGNORECASE)
_SVG_ACTIVE = (
    b"<script", b":script", b"foreignobject", b"<iframe", b"<embed", b"<object", b"<handler", b"script:", b"script&",
    b"<!entity", b"<?xml-stylesheet", b"data:text/html",
)  # fmt: skip
# The literal start lets the search run at the speed of memory; the look-behind then asks for a name's start.
_SVG_HANDLER = re.compile(rb"on(?<=[\s\"'/]on)[a-z]{2,40}\s{0,99}=")
_MAX_HANDLERS = 50_000  # places to look at in one image; no drawing has them, and more would take seconds


def kind_problems(file: File) -> list[Finding]:
    """The warnings that the name and the bytes of one file call for."""
    extension = file.path.rpartition("/")[2].rpartition(".")[2].lower() if "." in file.path else ""
    actual = what(file.content)
    name = shown(file.path)
    found = [*_code(name, extension, actual), *_archive(name, extension, actual)]
    if differs := _mismatch(extension, actual, file.content):
        text = f'"{name}" is {differs}, not what its name says.'
        found.append(
            warning("content-type-mismatch", text, "Give the file the name of its format.", path=name)
        )
    if page := _active(extension, file.content):
        hint = "Leave it out, or keep its content as Markdown or a plain image."
        found.append(warning("active-content", f'"{name}" {page}.', hint, path=name))
    return found


def what(content: bytes) -> str:
    """What the first bytes say the content is, or "" for text and anything unknown."""
    head = content[:512]
    for magic, kind in _BY_FIRST_BYTE.get(head[:1], ()):
        if head.startswith(magic):
            return kind
    if head.startswith(b"\xca\xfe\xba\xbe"):
        # A count of architectures is small where a class file has its version (45 and up).
        return "a macOS program" if int.from_bytes(head[4:8], "big") < 45 else "Java bytecode"
    if head.startswith(b"MZ") and _is_windows_program(content):
        return "a Windows program"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "a WebP image"
    if (
        head[2:4] == b"\r\n"
        and 0x0C00 <= int.from_bytes(head[:2], "little") <= 0x0FFF
        and b"\0" in head[4:16]
    ):
        return "Python bytecode"
    if head[257:262] == b"ustar":
        return "a tar archive"
    return ""


def _is_windows_program(content: bytes) -> bool:
    head = content[2:64]
    return not head.isascii() or b"\0" in head or content[64:].lstrip(b"\0").startswith(b"PE\0\0")


def _code(name: str, extension: str, actual: str) -> list[Finding]:
    hint = "Ship the source instead, or say in SKILL.md where the program comes from."
    if actual in _PROGRAMS or extension in _PROGRAM_NAMES or re.search(r"\.so(?:\.\d+)+$", name):
        text = f'"{name}" is {actual or "named as a native program"}; a reviewer cannot read it.'
        return [warning("native-executable", text, hint, path=name)]
    if actual in _BYTECODE or extension in _BYTECODE_NAMES:
        text = f'"{name}" is {actual or "named as bytecode"}; a reviewer cannot read it.'
        return [warning("bytecode-file", text, hint, path=name)]
    return []


def _archive(name: str, extension: str, actual: str) -> list[Finding]:
    if actual not in _ARCHIVES or (actual == "a zip archive" and extension in _DOCUMENTS):
        return []
    text = f'"{name}" is {actual} inside the bundle; what it holds is not checked.'
    return [warning("nested-archive", text, "Unpack it into the bundle.", path=name)]


def _mismatch(extension: str, actual: str, content: bytes) -> str:
    if not content:
        return ""
    if promised := _PROMISES.get(extension):
        return "" if actual in promised else (actual or "text or of another kind")
    return actual if extension in _TEXT and actual else ""


def _active(extension: str, content: bytes) -> str:
    if extension in _PAGES or (extension in ("", "txt", "xml") and _PAGE.match(content, 0, 1024)):
        return "is a web page, which can run scripts"
    drawing = extension == "svg" or (extension == "xml" and _SVG_ROOT.search(content, 0, 4096))
    if extension == "svgz" or (drawing and _runs_scripts(content)):
        return "is an SVG image that can run scripts"
    return ""


def _runs_scripts(content: bytes) -> bool:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        content = content.replace(b"\0", b"")
    content = content.lower()
    if any(sign in content for sign in _SVG_ACTIVE) or content.count(b"on") > _MAX_HANDLERS:
        return True
    return _SVG_HANDLER.search(content) is not None
