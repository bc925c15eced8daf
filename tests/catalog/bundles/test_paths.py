"""The rules for the paths of a bundle."""

from __future__ import annotations

import sys
from unicodedata import normalize

import pytest

from catalog.bundles.files import Limits
from catalog.bundles.paths import _LOOK_ALIKES, canonical, collisions, folded, problems

LIMITS = Limits()
TRAVERSALS = [
    "..", "../a", "a/..", "a/../b", "a/../../b", "/a", "//a", "\\a", "\\\\host\\share\\a", "..\\a", "a\\..\\..\\b",
    "C:\\a", "C:a", "c:/a", "\\\\?\\C:\\a", "~/a", "．．/a", "‥/a", "․․/a", "..／a", "..∕a", "..⁄a", "..⧸a", "..＼a",
    "／a", "Ｃ：/a", ".\u200b./a", "..\u2060/a", "%2e%2e/a", "%2E%2E%2Fa", "..%2fa", "%252e%252e/a", "%2fa", ".. /a",
    "a/.. /b", "%ef%bc%8e./a",
]  # fmt: skip


@pytest.mark.parametrize("raw", TRAVERSALS)
def test_every_spelling_of_a_way_out_is_refused(raw: str) -> None:
    path, found = canonical(raw)
    assert path == ""
    assert [finding.code for finding in found] == ["path-traversal"]


@pytest.mark.parametrize(
    "raw", ["a..b", "..a", "a/..b.md", "100%.md", "½.md", "a…b.md", "a／b.md", "~a/b", "b~", "%41"]
)
def test_what_only_resembles_a_way_out_is_not(raw: str) -> None:
    assert canonical(raw) == (raw, [])


def test_the_table_of_look_alikes_agrees_with_unicode() -> None:
    wanted = {}
    for number in range(128, sys.maxunicode + 1):
        plain = normalize("NFKC", chr(number))
        if (plain and set(plain) <= set("./\\:%~")) or (
            len(plain) == 1 and plain.isascii() and plain.isalpha()
        ):
            wanted[number] = plain.replace("\\", "/")
    full_width = {number: plain for number, plain in wanted.items() if number in _LOOK_ALIKES}
    assert full_width == {number: _LOOK_ALIKES[number] for number in full_width}
    missing = {number for number, plain in wanted.items() if not plain.isalpha()} - _LOOK_ALIKES.keys()
    assert missing == set()


MENDED = {
    "a\\b.md": ("a/b.md", "path-backslash-separator"),
    "a/./b.md": ("a/b.md", "path-normalised"),
    "./a.md": ("a.md", "path-normalised"),
    "cafe\u0301.md": ("café.md", "path-not-nfc"),
}


@pytest.mark.parametrize("raw", MENDED)
def test_what_can_be_mended_is_mended_with_a_warning(raw: str) -> None:
    path, code = MENDED[raw]
    mended, found = canonical(raw)
    assert mended == path
    assert [(finding.code, finding.severity, finding.path) for finding in found] == [(code, "warning", path)]


@pytest.mark.parametrize(("raw", "path"), [("./a.md", "a.md"), ("././a", "a"), (".", ""), ("./", "")])
def test_a_leading_dot_is_the_custom_of_tar(raw: str, path: str) -> None:
    assert canonical(raw, dot_slash=True) == (path, [])


REFUSED = {
    "a//b": ("path-not-canonical", '"a//b" has an empty folder name.'),
    "a\udcff": ("filename-not-utf8", 'The name "a\\u{dcff}" is not UTF-8.'),
    "a" * 513: ("path-too-long", f'The path "{"a" * 60}…{"a" * 60}" is longer than 512 bytes.'),
}


@pytest.mark.parametrize("raw", REFUSED)
def test_what_is_no_path_is_refused(raw: str) -> None:
    path, found = canonical(raw)
    assert path == ""
    assert [(finding.code, finding.message) for finding in found] == [REFUSED[raw]]


WRONG = {
    "a\nb": ("filename-control-char", 'The name "a\\u{a}b" holds the control character U+000A.'),
    "a\0b": ("filename-control-char", 'The name "a\\u{0}b" holds the control character U+0000.'),
    "a\u2028b": ("filename-control-char", 'The name "a\\u{2028}b" holds the control character U+2028.'),
    "a\x85": ("filename-control-char", 'The name "a\\u{85}" holds the control character U+0085.'),
    "gnp\u202eexe": (
        "filename-bidi-control",
        'The name "gnp\\u{202e}exe" holds U+202E, which changes the direction of writing.',
    ),
    "run\u200b.sh": (
        "filename-invisible-char",
        'The name "run\\u{200b}.sh" holds the invisible character U+200B.',
    ),
    "a\u200db": ("filename-invisible-char", 'The name "a\\u{200d}b" holds the invisible character U+200D.'),
    "a\ufe0f": ("filename-invisible-char", 'The name "a\\u{fe0f}" holds the invisible character U+FE0F.'),
    "a\U000e0041": (
        "filename-invisible-char",
        'The name "a\\u{e0041}" holds the invisible character U+E0041.',
    ),
    "a:b": ("filename-illegal-char", 'The name "a:b" holds ":", which Windows does not allow.'),
    "<b>": ("filename-illegal-char", 'The name "<b>" holds "<", which Windows does not allow.'),
    "a?": ("filename-illegal-char", 'The name "a?" holds "?", which Windows does not allow.'),
    'a"': ("filename-illegal-char", 'The name "a"" holds """, which Windows does not allow.'),
    "a|b": ("filename-illegal-char", 'The name "a|b" holds "|", which Windows does not allow.'),
    "$(id)": (
        "filename-shell-meta",
        'The name "$(id)" holds "$", which a shell acts upon when it is pasted.',
    ),
    "a;b": ("filename-shell-meta", 'The name "a;b" holds ";", which a shell acts upon when it is pasted.'),
    "*.md": ("filename-not-portable", 'The name "*.md" holds "*"; the file cannot be unpacked on Windows.'),
    "a.": ("filename-trailing-dot-space", '"a." in "a." ends with a dot or a space, which Windows drops.'),
    "a /b": (
        "filename-trailing-dot-space",
        '"a " in "a /b" ends with a dot or a space, which Windows drops.',
    ),
    "...": ("filename-trailing-dot-space", '"..." in "..." ends with a dot or a space, which Windows drops.'),
    "aux": ("filename-windows-reserved", '"aux" in "aux" is a device name on Windows.'),
    "docs/NUL.tar.gz": (
        "filename-windows-reserved",
        '"NUL.tar.gz" in "docs/NUL.tar.gz" is a device name on Windows.',
    ),
    "com1 .txt": ("filename-windows-reserved", '"com1 .txt" in "com1 .txt" is a device name on Windows.'),
    "lpt³": ("filename-windows-reserved", '"lpt³" in "lpt³" is a device name on Windows.'),
    "-rf": ("filename-leading-dash", '"-rf" in "-rf" starts with a dash; programs read it as an option.'),
    "a/-b": ("filename-leading-dash", '"-b" in "a/-b" starts with a dash; programs read it as an option.'),
    "d/" * 9 + "a": ("path-too-deep", '"d/d/d/d/d/d/d/d/d/a" lies 9 folders deep; the limit is 8.'),
    "永" * 86: ("path-too-long", f'A name in "{"永" * 86}" has 258 bytes; the limit is 255.'),
    "/".join(["永" * 29] * 3): (
        "path-too-long",
        f'The path "{"/".join(["永" * 29] * 3)}" has 263 bytes; the limit is 260.',
    ),
}


@pytest.mark.parametrize("path", WRONG)
def test_a_bad_name_is_told_exactly(path: str) -> None:
    assert [(finding.code, finding.message) for finding in problems(path, LIMITS)] == [WRONG[path]]


@pytest.mark.parametrize(
    "path",
    [
        "SKILL.md", "docs/a b.md", "it's (a) & b.md", "{{7}}{%debug%}.md", "[slug].tsx", "参考/永久笔记.md", "рус.md",
        ".env.example", "a+b@c,d.md", "👩\u200d💻.md", "❤\ufe0f.md", "1\ufe0f\u20e3.md", "می\u200cخواهم.md", "क्\u200dष.md",
        "console.md", "auxiliary/com.md", "com10.txt", "a-b/c-d.md", "d/d/d/d/d/d/d/d/a",
    ],
)  # fmt: skip
def test_ordinary_names_of_all_the_world_pass(path: str) -> None:
    assert canonical(path) == (path, [])
    assert problems(path, LIMITS) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("README.md", "readme.MD"),
        ("straße", "STRASSE"),
        ("café", "cafe\u0301"),
        ("ΟΔΟΣ", "οδος"),
        ("ﬁ", "FI"),
    ],
)
def test_names_that_some_systems_take_for_one_fold_alike(one: str, other: str) -> None:
    assert folded(one) == folded(other)


def test_names_that_differ_everywhere_do_not_fold_alike() -> None:
    assert len({folded(name) for name in ("a", "ａ", "α", "а", "①", "1")}) == 6


COLLISIONS = {
    ("a.md", "A.md"): '"a.md" and "A.md" are one file on some systems.',
    ("Docs/a", "docs/b"): '"Docs" and "docs" are one folder on some systems.',
    ("a", "a/b"): '"a" is both a file and a folder.',
    ("A/b", "a"): '"a" is both a file and a folder.',
    ("a", "a"): 'Two names are read as "a".',
    ("straße", "STRASSE"): '"straße" and "STRASSE" are one file on some systems.',
}


@pytest.mark.parametrize("paths", COLLISIONS)
def test_a_collision_is_told_exactly(paths: tuple[str, str]) -> None:
    assert [(f.code, f.message) for f in collisions(paths)] == [("path-collision", COLLISIONS[paths])]


def test_an_empty_folder_collides_with_a_file() -> None:
    assert [f.message for f in collisions(["a"], ["a"])] == ['"a" is both a file and a folder.']
    assert collisions(["a/b"], ["a", "c"]) == []
