from __future__ import annotations

import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bundles.findings import has_errors
from catalog.bundles.yamltext import Document, Mapping, Scalar, as_text, implicit_type, read_yaml

LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])]


def read(text: str, loader: object = None) -> Document:
    return read_yaml(text, path="SKILL.md", first_line=2, loader=loader)


# text, code, line, message, hint
PROBLEMS = [
    (
        "a: Folds. Triggers on: table\n",
        "yaml-unquoted-colon",
        2,
        "Line 2, column 22: an unquoted value holds a colon, so YAML cannot read the line.",
        'Quote it: a: "Folds. Triggers on: table"',
    ),
    (
        'a: say "x": y\n',
        "yaml-unquoted-colon",
        2,
        "Line 2, column 11: an unquoted value holds a colon, so YAML cannot read the line.",
        "Quote it: a: 'say \"x\": y'",
    ),
    (
        "a: Folds\n  on: table\n",
        "yaml-unquoted-colon",
        3,
        "Line 3, column 5: a colon stands in an unquoted value that began before, so YAML cannot read it.",
        "Put the whole value in quotes; where the line is a key of its own, indent it like its neighbours.",
    ),
    (
        "a: [beta] folds\n",
        "yaml-invalid",
        2,
        "Line 2, column 11: the YAML cannot be read from here on.",
        'Close what the value opens or, where it is text, quote it: a: "[beta] folds"',
    ),
    (
        "a: @home\n",
        "yaml-invalid",
        2,
        "Line 2, column 4: the YAML cannot be read from here on.",
        'Close what the value opens or, where it is text, quote it: a: "@home"',
    ),
    (
        "a:\n\tb: 1\n",
        "yaml-invalid",
        3,
        "A tab indents line 3.",
        "Indent with spaces; YAML allows no tabs there.",
    ),
    (
        'a: "x\nb: y\n',
        "yaml-invalid",
        3,
        "The quotation mark that is opened in line 2 is never closed.",
        'Close the quotation; in double quotes write \\" for a quotation mark.',
    ),
    (
        "a: 1\n...\nb: 2\n",
        "yaml-invalid",
        4,
        "A second YAML document begins in line 4; only one is read.",
        "Keep one document and remove the line that separates the two.",
    ),
    (
        "a: 1\n---\nb: 2\n",
        "yaml-invalid",
        3,
        "A second YAML document begins in line 3; only one is read.",
        "Keep one document and remove the line that separates the two.",
    ),
    (
        "- a\nb: c\n",
        "yaml-invalid",
        3,
        "Line 3, column 1: the YAML cannot be read from here on.",
        "Check indentation, quotes and brackets of this line and of the one before; quote text with signs in it.",
    ),
    (
        "%YAML 1.2\n---\na: b\n",
        "yaml-invalid",
        2,
        "Line 2 is a YAML directive, which is not allowed here.",
        "Remove the line.",
    ),
    (
        "a: x\x85y\n",
        "yaml-invalid",
        2,
        "Line 2 holds the character U+0085, which YAML does not allow.",
        "Remove it; where it is part of garbled text, type the text again and save the file as UTF-8.",
    ),
    (
        'a: "\\0"\n',
        "yaml-invalid",
        2,
        "The value in line 2 holds an escaped control character.",
        "Remove the escape sequence; text may hold line feeds and tabs alone.",
    ),
    (
        "? [a]\n: b\n",
        "yaml-invalid",
        2,
        "The key in line 2 is a list or a mapping, not text.",
        "Use text as the key.",
    ),
    (
        "a: &x folds\n",
        "yaml-alias",
        2,
        "The anchor &x in line 2 is not allowed here.",
        "Write the value out where it is needed; quote it where it is text that begins with &.",
    ),
    (
        "a: *x\n",
        "yaml-alias",
        2,
        "The alias *x in line 2 is not allowed here.",
        "Write the value out instead; quote text that begins with *.",
    ),
    (
        "<<: {a: b}\n",
        "yaml-alias",
        2,
        "The merge key << in line 2 is not allowed here.",
        "Write the merged keys out.",
    ),
    (
        "a: !!python/name:os.system x\n",
        "yaml-tag",
        2,
        "The tag tag:yaml.org,2002:python/name:os.system in line 2 is not allowed here.",
        "Remove the tag; quote the value where it is text that begins with !.",
    ),
    (
        "a: !other!tag x\n",
        "yaml-tag",
        2,
        "The tag in line 2 is not allowed here.",
        "Remove the tag; quote the value where it is text that begins with !.",
    ),
    (
        "m:\n  v: 1\n  'v': 2\n",
        "yaml-duplicate-key",
        4,
        'The key "v" stands twice, in line 3 and in line 4.',
        "Keep one of the two: loaders differ in which one they take.",
    ),
    (
        "a: Handles C #1\n",
        "yaml-value-truncated",
        2,
        "The value in line 2 ends before its #, which begins a comment.",
        "Put the whole value in quotes.",
    ),
    (
        "a: " + "[" * 40 + "]" * 40 + "\n",
        "yaml-too-deep",
        2,
        "The YAML of SKILL.md is more than 32 levels deep in line 2.",
        "Make the structure flatter.",
    ),
]


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize(
    ("text", "code", "line", "message", "hint"), PROBLEMS, ids=[p[0][:20] for p in PROBLEMS]
)
def test_tells_the_problem(text: str, code: str, line: int, message: str, hint: str, loader: object) -> None:
    (finding,) = read(text, loader).findings
    assert (finding.code, finding.line, finding.message, finding.hint) == (code, line, message, hint)
    assert finding.path == "SKILL.md"


def test_too_many_characters_or_values_use_the_code_of_the_caller() -> None:
    long = read_yaml("a" * 11, path="m.yaml", max_chars=10, too_large="manifest-too-large")
    many = read_yaml("[a, b, c]", path="m.yaml", max_nodes=2, too_large="manifest-too-large")
    assert [f.message for f in long.findings] == [
        "m.yaml holds 11 characters of YAML, more than the 10 allowed."
    ]
    assert [f.message for f in many.findings] == ["The YAML of m.yaml holds more than 2 values."]
    assert {long.findings[0].code, many.findings[0].code} == {"manifest-too-large"}
    assert long.root is None
    assert many.root is None


def test_values_stay_the_text_of_their_author() -> None:
    root = read("v: 1.10\nno: no\nd: 2025-10-20\nn: 0x1F\nz: ~\ne:\nq: '1'\n").root
    assert root is not None
    assert as_text(root) == {
        "v": "1.10",
        "no": "no",
        "d": "2025-10-20",
        "n": "0x1F",
        "z": "~",
        "e": "",
        "q": "1",
    }


def test_nodes_know_their_lines_and_quotes() -> None:
    root = read('a: x\nb:\n  - "y"\n').root
    assert isinstance(root, Mapping)
    assert root.key_lines == {"a": 2, "b": 3}
    assert root.entries["a"] == Scalar("x", 2, plain=True)
    assert root.entries["b"].items == (Scalar("y", 4, plain=False),)  # type: ignore[union-attr]


def test_reads_on_after_a_mend_and_tells_all_problems() -> None:
    document = read("a: b: c\nd: e: f\ng: &h i\n")
    assert [(f.code, f.line) for f in document.findings] == [
        ("yaml-unquoted-colon", 2),
        ("yaml-unquoted-colon", 3),
        ("yaml-alias", 4),
    ]
    assert document.root is not None
    assert as_text(document.root) == {"a": "b: c", "d": "e: f", "g": "i"}


def test_a_comment_that_looks_like_one_is_no_problem() -> None:
    assert read("a: folds  # the napkin\nb: x # y\n# c\nd: [1, 2] # two\n").findings == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("yes", "bool"),
        ("NO", "bool"),
        ("n", "bool"),
        ("False", "bool"),
        ("12", "int"),
        ("0x1F", "int"),
        ("12:30:45", "int"),
        ("1_000", "int"),
        ("1.10", "float"),
        ("1e3", "float"),
        (".inf", "float"),
        ("2025-10-20", "date"),
        ("2025-10-20T10:00:00Z", "date"),
        ("null", "null"),
        ("~", "null"),
        ("", "null"),
        ("1.0.0", None),
        ("nope", None),
        ("v1", None),
    ],
)
def test_implicit_type(text: str, kind: str | None) -> None:
    assert implicit_type(Scalar(text, 1, plain=True)) == kind
    assert implicit_type(Scalar(text, 1, plain=False)) is None


BOMBS = {
    "brackets": "[" * 200_000,
    "lines of brackets": "[\n" * 100_000,
    "dashes": "- " * 100_000,
    "braces": "{a: " * 50_000,
    "questions": "? " * 100_000,
    "many values": "a: [\n" + "x,\n" * 60_000,
    "aliases": "- *a\n" * 40_000,
    "anchors": "&a " * 80_000,
    "colons": "x: y: \n" * 30_000,
    "open quote": '"' + "a\n" * 120_000,
    "comment": "#" * 250_000,
    "control": "\x00\n" * 120_000,
    "tags": "!" * 250_000,
    "spaces": " " * 250_000 + "a",
    "key": "a" * 250_000,
}


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("name", BOMBS)
def test_no_text_takes_long(name: str, loader: object) -> None:
    started = time.process_time()
    read(BOMBS[name], loader)
    assert time.process_time() - started < 2


MARKS = "[]{}\"'#%@,\\\t\r\n\x85\ufeff\u2028\ud800é中"
WORDS = (
    "a",
    "b: ",
    ": ",
    "  ",
    "- ",
    " #",
    "&x ",
    "*x",
    "!t ",
    "|\n",
    ">-\n",
    "---\n",
    "...\n",
    "? ",
    "<<: ",
)
PIECES = st.sampled_from((*MARKS, *WORDS))


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=60)))
def test_never_raises_and_both_parsers_refuse_the_same(text: str) -> None:
    refused = {has_errors(read(text, loader).findings) for loader in LOADERS}
    # libyaml takes a tab for white space between tokens, the pure parser does not.
    assert len(refused) == 1 or "\t" in text
