"""SKILL.md: every finding about its text and its fields, with its exact message."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bundles.files import File
from catalog.bundles.skillmd import MAX_SKILL_MD_BYTES, SkillMd, read_skill_md
from tests.catalog.bundles.skills import BODY, DESCRIPTION, HEAD, codes, skill_file, told

GOOD = (HEAD + BODY).encode()


def read(extra: str = "", *, body: str = BODY) -> SkillMd:
    return read_skill_md(skill_file(extra, body=body))


def read_fields(frontmatter: str) -> SkillMd:
    return read_skill_md(File("SKILL.md", f"---\n{frontmatter}---\n\nFold.\n".encode()))


# content, code, severity, line, message, hint
TEXT_PROBLEMS = [
    (b"", "skill-md-empty", "error", None, "SKILL.md is empty.", "Write it."),
    (b"\xef\xbb\xbf \n", "skill-md-empty", "error", None, "SKILL.md is empty.", "Write it."),
    (
        b"x" * (MAX_SKILL_MD_BYTES + 1),
        "skill-md-too-large",
        "error",
        None,
        "SKILL.md has 1,048,577 bytes, more than the 1,048,576 allowed.",
        "Move long parts into files under references/.",
    ),
    (
        b"\xef\xbb\xbf" + GOOD,
        "utf8-bom",
        "warning",
        1,
        "SKILL.md begins with a byte order mark, at which some agents miss the frontmatter.",
        "Save it as UTF-8 without BOM.",
    ),
    (
        GOOD.replace(b"Folds", b"F\xe9lds"),
        "skill-md-not-utf8",
        "error",
        3,
        "SKILL.md is not UTF-8: byte 0xE9 at offset 36, line 3.",
        "Save it as UTF-8.",
    ),
    (
        GOOD.decode().encode("utf-16"),
        "skill-md-not-utf8",
        "error",
        1,
        "SKILL.md is UTF-16, not UTF-8, from byte 0 on.",
        "Save it as UTF-8.",
    ),
    (
        GOOD.decode().encode("utf-16-le"),
        "skill-md-not-utf8",
        "error",
        1,
        "SKILL.md is UTF-16 without a byte order mark, not UTF-8.",
        "Save it as UTF-8.",
    ),
    (
        GOOD + b"a\0b",
        "skill-md-control-char",
        "error",
        9,
        "Line 9 of SKILL.md holds the control character U+0000.",
        "Remove it.",
    ),
    (
        GOOD.replace(b"\n", b"\r"),
        "line-endings-cr",
        "warning",
        1,
        "SKILL.md ends lines with CR alone, which most agents do not read as a line end.",
        "Save it with LF line ends.",
    ),
    (
        b"# Fold\n",
        "frontmatter-missing",
        "error",
        1,
        "SKILL.md has no frontmatter.",
        "Begin the file with ---, name, description and a closing ---.",
    ),
    (
        b"\xef\xbb\xbf\xef\xbb\xbf" + GOOD,
        "frontmatter-missing",
        "error",
        1,
        "SKILL.md has no frontmatter.",
        "The file begins with two byte order marks: save it as UTF-8 without BOM.",
    ),
    (
        b"\n" + GOOD,
        "frontmatter-not-first",
        "error",
        2,
        "The frontmatter of SKILL.md begins on line 2, not on the first line.",
        "Make --- the very first line; nothing may stand before it, not even an empty line.",
    ),
    (
        b"```yaml\n" + GOOD + b"```\n",
        "frontmatter-not-first",
        "error",
        2,
        "The frontmatter of SKILL.md begins on line 2, not on the first line.",
        "Make --- the very first line; nothing may stand before it, not even an empty line.",
    ),
    (
        GOOD[4:],
        "frontmatter-not-first",
        "error",
        1,
        "The frontmatter of SKILL.md has no opening --- on the first line.",
        "Make --- the very first line; nothing may stand before it, not even an empty line.",
    ),
    (
        HEAD.encode() + b"\nabove --- below\n",
        "frontmatter-unclosed",
        "error",
        1,
        "The frontmatter of SKILL.md is never closed.",
        "Close the frontmatter with a line that is exactly --- before the body.",
    ),
    (
        (HEAD + "license: " + "x" * 70_000 + "\n" + BODY).encode(),
        "frontmatter-too-large",
        "error",
        1,
        "The frontmatter has 70,097 characters, more than the 65,536 allowed.",
        "Move long text into the body or into a file of its own.",
    ),
    (
        b"---\njust text\n---\nFold.\n",
        "frontmatter-not-mapping",
        "error",
        2,
        "The frontmatter of SKILL.md is not a list of keys and values.",
        "Write it as `name: …` and `description: …`.",
    ),
    (
        (HEAD + "---").encode(),
        "body-empty",
        "warning",
        4,
        "The body of SKILL.md is empty: an agent that loads the skill reads no instructions.",
        "Write the instructions below the closing ---.",
    ),
]


@pytest.mark.parametrize(("content", "code", "severity", "line", "message", "hint"), TEXT_PROBLEMS)
def test_problems_of_the_text(
    content: bytes, code: str, severity: str, line: int | None, message: str, hint: str
) -> None:
    findings = read_skill_md(File("SKILL.md", content)).findings
    assert told(findings, code) == [(severity, line, message, hint)]
    assert codes(findings) - {"utf8-bom"} == {code} - {"utf8-bom"}


# lines of frontmatter, code, severity, line, message, hint
FIELD_PROBLEMS = [
    (
        "Name: other\n",
        "frontmatter-unknown-key",
        "warning",
        4,
        '"Name" is not a key of the format; it is kept.',
        "Did you mean name? Keys are matched letter by letter.",
    ),
    (
        "allowed_tools: Read\n",
        "frontmatter-unknown-key",
        "warning",
        4,
        '"allowed_tools" is not a key of the format; it is kept.',
        "Did you mean allowed-tools? Keys are matched letter by letter.",
    ),
    (
        "author: me\n",
        "frontmatter-unknown-key",
        "warning",
        4,
        '"author" is not a key of the format; it is kept.',
        "Move it below `metadata:`, where agents leave it in peace.",
    ),
    (
        "model: 4\n",
        "yaml-implicit-type",
        "warning",
        4,
        'Some agents read the model "4" as a number.',
        'Quote it: model: "4"',
    ),
    (
        "metadata:\n  version: 1.10\n",
        "version-not-quoted",
        "warning",
        5,
        "Some agents read the version 1.10 as a number and lose digits of it.",
        'Quote it: version: "1.10"',
    ),
    (
        "metadata:\n  version: 1.10\n",
        "version-not-semver",
        "advice",
        5,
        "The version 1.10 is no semantic version; it is read as 1.10.0.",
        'Write "1.10.0".',
    ),
    (
        "metadata:\n  version: 1.0.0\nversion: 2.0.0\n",
        "version-ambiguous",
        "warning",
        6,
        'metadata.version is "1.0.0" and version is "2.0.0".',
        "Keep metadata.version alone; it is the one that counts.",
    ),
    (
        "metadata:\n  since: 2025-10-20\n",
        "metadata-implicit-type",
        "advice",
        5,
        "Some agents read metadata.since as a date; here it stays text.",
        "Quote it.",
    ),
    (
        'metadata: {"bot": {"emoji": "x"}}\n',
        "metadata-not-flat",
        "warning",
        4,
        "The metadata of bot is not text; agents that read flat metadata refuse or lose it.",
        "Write one key and one text a line below `metadata:`.",
    ),
    (
        "metadata: text\n",
        "metadata-not-flat",
        "warning",
        4,
        "The metadata is not a mapping of keys to text; it is kept as it is.",
        "Write one key and one text a line below `metadata:`.",
    ),
    (
        "compatibility: [a, b]\n",
        "compatibility-not-string",
        "warning",
        4,
        "The compatibility is a list or a mapping, not text; it is kept as it is.",
        "Write one sentence.",
    ),
    (
        f"compatibility: {'c' * 501}\n",
        "compatibility-too-long",
        "warning",
        4,
        "The compatibility has 501 characters, more than 500.",
        "Move the rest into the body.",
    ),
    (
        "allowed-tools: [Read, Write]\n",
        "allowed-tools-list",
        "warning",
        4,
        "allowed-tools is a list; the format says text, and some agents drop the skill.",
        "Write the tools in one line, with spaces between them.",
    ),
    (
        "allowed-tools: Read Bash(*)\n",
        "broad-permission",
        "warning",
        4,
        "allowed-tools asks for every command with Bash(*).",
        "Name the commands that the skill runs, for example Bash(git:*).",
    ),
    (
        "allowed-tools: Bash(git\n",
        "allowed-tools-malformed",
        "warning",
        4,
        "The parentheses of Bash(git in allowed-tools do not match.",
        "Close them; an entry is read as Name or Name(argument).",
    ),
    (
        "allowed-tools: {Read: true}\n",
        "frontmatter-value-invalid",
        "error",
        4,
        "The value of allowed-tools is not names of tools.",
        "Write names of tools.",
    ),
    (
        "disable-model-invocation: maybe\n",
        "frontmatter-value-invalid",
        "error",
        4,
        "The value of disable-model-invocation is not true or false.",
        "Write true or false.",
    ),
    (
        "context: spoon\n",
        "frontmatter-value-invalid",
        "warning",
        4,
        "The value of context is not inline or fork.",
        "Write inline or fork.",
    ),
    (
        "argument-hint: [file]\n",
        "frontmatter-value-invalid",
        "warning",
        4,
        "The argument-hint [file] is a YAML list, not text, where it has no quotes.",
        'Quote it: argument-hint: "[file]"',
    ),
    (
        "license: [MIT]\n",
        "frontmatter-value-invalid",
        "warning",
        4,
        "The value of license is not text.",
        "Write text.",
    ),
]


@pytest.mark.parametrize(("extra", "code", "severity", "line", "message", "hint"), FIELD_PROBLEMS)
def test_problems_of_the_fields(
    extra: str, code: str, severity: str, line: int, message: str, hint: str
) -> None:
    assert told(read(extra).findings, code) == [(severity, line, message, hint)]


WHAT = "Add `description:` and say what the skill does and when to use it."
MOVE = "Say what the skill does and when to use it; move the rest into the body."

IDENTITY_PROBLEMS = [
    (
        f"description: {DESCRIPTION}\n",
        "name-missing",
        "error",
        "SKILL.md names no skill.",
        "Add `name:` with the name of the skill's folder.",
    ),
    (
        f"name: null\ndescription: {DESCRIPTION}\n",
        "name-missing",
        "error",
        "SKILL.md names no skill.",
        "Add `name:` with the name of the skill's folder.",
    ),
    (
        f"name: [napkin, fold]\ndescription: {DESCRIPTION}\n",
        "name-invalid",
        "error",
        "The name is a list or a mapping, not text.",
        "Write one name, without brackets.",
    ),
    (
        f"name: 1e3\ndescription: {DESCRIPTION}\n",
        "yaml-implicit-type",
        "warning",
        'Some agents read the name "1e3" as a number.',
        'Quote it: name: "1e3"',
    ),
    (
        "name: napkin-fold\n",
        "description-missing",
        "error",
        "SKILL.md has no description, and a skill without one is never chosen.",
        WHAT,
    ),
    (
        'name: napkin-fold\ndescription: "\\u200b\\u2060\\u3164"\n',
        "description-missing",
        "error",
        "SKILL.md has no description, and a skill without one is never chosen.",
        WHAT,
    ),
    (
        "name: napkin-fold\ndescription: [a, b]\n",
        "description-not-string",
        "error",
        "The description is a list or a mapping, not text.",
        "Write it as one text in quotes.",
    ),
    (
        f"name: napkin-fold\ndescription: Use when{'n' * 1017}\n",
        "description-too-long",
        "warning",
        "The description has 1,025 characters; agents that keep to 1,024 fail.",
        MOVE,
    ),
    (
        f"name: napkin-fold\ndescription: Use when{'n' * 4089}\n",
        "description-too-long",
        "error",
        "The description has 4,097 characters, more than the 4,096 allowed.",
        MOVE,
    ),
    (
        "name: napkin-fold\ndescription: Folds <b>napkins</b>. Use when a table is laid.\n",
        "description-markup",
        "warning",
        "The description holds the markup <b>, which reaches the agent's prompt.",
        "Write it as plain text, and a placeholder in capitals instead of angle brackets.",
    ),
    (
        "name: napkin-fold\ndescription: Folds napkins of all kinds and sizes.\n",
        "description-vague",
        "advice",
        "The description does not say when to use the skill.",
        'Say what it does, then "Use when …", and what it is not for.',
    ),
    (
        "name: napkin-fold\ndescription: Use for napkins\n",
        "description-vague",
        "advice",
        "The description has 15 characters, too few to choose the skill by.",
        'Say what it does, then "Use when …", and what it is not for.',
    ),
]


@pytest.mark.parametrize(("frontmatter", "code", "severity", "message", "hint"), IDENTITY_PROBLEMS)
def test_problems_of_name_and_description(
    frontmatter: str, code: str, severity: str, message: str, hint: str
) -> None:
    (finding,) = told(read_fields(frontmatter).findings, code)
    assert (finding[0], finding[2], finding[3]) == (severity, message, hint)


@pytest.mark.parametrize(
    ("description", "vague"),
    [
        ("Formats tables in Markdown. Use when a table is crooked.", False),
        ("Useful for laying tables of any size and shape.", False),
        ("A powerful framework of synergy and excellence.", True),
        ("格式化表格。当表格不整齐时使用，不用于图片。", False),
        ("一个强大而优雅的通用表格处理工具与框架平台。", True),
        ("Складывает салфетки. Используй, когда накрывают на стол.", False),
        ("Мощный и удобный инструмент нового поколения.", True),
        ("עיצוב טבלאות יפות ונאות", False),
    ],
)
def test_a_description_says_when_in_three_languages(description: str, vague: bool) -> None:
    skill = read_fields(f'name: napkin-fold\ndescription: "{description}"\n')
    assert ("description-vague" in codes(skill.findings)) is vague


def test_a_good_skill_has_no_findings() -> None:
    skill = read(
        "license: MIT\ncompatibility: Needs a table.\nmetadata:\n  author: ann\n  version: '1.0.0'\n"
    )
    assert skill.findings == ()
    assert (skill.name, skill.description, skill.version) == ("napkin-fold", DESCRIPTION, "1.0.0")
    assert skill.body == "\n# Fold\n\nFold the napkin twice.\n"
    assert skill.frontmatter is not None
    assert skill.frontmatter.license == "MIT"
    assert skill.frontmatter.metadata == {"author": "ann", "version": "1.0.0"}
    assert skill.frontmatter.allowed_tools is None


def test_the_extensions_are_typed() -> None:
    skill = read(
        "when-to-use: at noon\ndisable-model-invocation: true\npaths: src/**/*.py, docs/*.md\ncontext: fork\n"
        "arguments: [from, to]\nargument-hint: '[from] [to]'\nuser-invocable: 'false'\nmodel: small\n"
    )
    assert skill.findings == ()
    frontmatter = skill.frontmatter
    assert frontmatter is not None
    assert frontmatter.when_to_use == "at noon"
    assert frontmatter.disable_model_invocation is True
    assert frontmatter.paths == ("src/**/*.py", "docs/*.md")
    assert frontmatter.context == "fork"
    assert frontmatter.arguments == ("from", "to")
    assert frontmatter.argument_hint == "[from] [to]"
    assert frontmatter.user_invocable is False
    assert frontmatter.model == "small"


@pytest.mark.parametrize(
    ("spelling", "tools"),
    [
        ("Bash(git:*) Read Write", ("Bash(git:*)", "Read", "Write")),
        ("Bash(git add:*, git rm:*), Read,Write", ("Bash(git add:*, git rm:*)", "Read", "Write")),
        ("[Bash(git:*), Read]", ("Bash(git:*)", "Read")),
        ("\n  - Bash(npm run *)\n  - Read", ("Bash(npm run *)", "Read")),
        ("", ()),
        ('""', ()),
        ("[]", ()),
        ("Read Read", ("Read",)),
    ],
)
def test_allowed_tools_in_every_spelling(spelling: str, tools: tuple[str, ...]) -> None:
    skill = read(f"allowed-tools: {spelling}\n")
    assert skill.frontmatter is not None
    assert skill.frontmatter.allowed_tools == tools


def test_unknown_keys_are_kept_as_they_were_written() -> None:
    skill = read("version: 1.10\nrequires:\n  bins: [git]\n")
    assert skill.frontmatter is not None
    assert skill.frontmatter.extra == {"version": "1.10", "requires": {"bins": ["git"]}}
    assert (skill.version, skill.version_text) == ("1.10.0", "1.10")


def test_dashes_in_a_value_or_a_block_do_not_close_the_frontmatter() -> None:
    skill = read_fields(
        "name: napkin-fold\ndescription: |\n  Draws rules --- and tables.\n  ---\n  Use when asked.\n"
    )
    assert skill.description == "Draws rules --- and tables.\n---\nUse when asked."
    assert skill.findings == ()


def test_all_problems_are_told_at_once_with_lines_of_the_file() -> None:
    skill = read_fields("name: Bad Name\ndescription: a: b\nversion: 1.0\nname: other\n")
    assert {(f.code, f.line) for f in skill.findings} >= {
        ("name-invalid", 2),
        ("yaml-unquoted-colon", 3),
        ("version-not-quoted", 4),
        ("yaml-duplicate-key", 5),
    }


def test_line_ends_make_no_difference() -> None:
    windows = read_skill_md(File("SKILL.md", GOOD.replace(b"\n", b"\r\n")))
    classic = read_skill_md(File("SKILL.md", GOOD.replace(b"\n", b"\r")))
    assert windows.findings == ()
    assert windows.name == classic.name == "napkin-fold"
    assert windows.description == classic.description == DESCRIPTION


KEYS = (
    "name:",
    "name: a\n",
    "description: b\n",
    "metadata:\n",
    "allowed-tools: ",
    "context: 1\n",
    "paths: a,b\n",
)
PIECES = st.sampled_from(
    (*"\n\r\0\ufeffé'", "---\n", "# x\n", ": ", "- ", "[Read]\n", "Bash(", "  version: 1\n", *KEYS)
)


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.binary(max_size=80), st.lists(PIECES, max_size=25).map(lambda p: "".join(p).encode())))
def test_never_raises(content: bytes) -> None:
    skill = read_skill_md(File("SKILL.md", content))
    assert skill.name or skill.findings


def test_many_unknown_keys_are_kept_and_the_first_ones_named() -> None:
    skill = read("".join(f"k{n}: {n}\n" for n in range(5_000)))
    assert skill.frontmatter is not None
    assert len(skill.frontmatter.extra) == 5_000
    assert len(told(skill.findings, "frontmatter-unknown-key")) == 50
