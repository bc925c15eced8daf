"""Guidance: every finding with its exact message."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bundles.bundle import Manifest
from catalog.bundles.checks import (
    check_advertisement,
    check_files,
    check_folder,
    check_skill_md,
    check_workflow,
)
from catalog.bundles.files import File
from catalog.bundles.findings import Finding
from catalog.bundles.skillmd import read_skill_md
from catalog.bundles.tokens import estimated_tokens
from tests.catalog.bundles.skills import BODY, codes, skill_file, told, tree

ACTS = "which acts in a reader's browser."
IN_CODE = "Write it in Markdown, or put it into a code block where it is an example."
INSIDE = "Put the file into the bundle and link it with a relative path."


def check(text: str, *files: File, extra: str = "") -> tuple[Finding, ...]:
    """The guidance on a SKILL.md whose body is `text`, from line 6 on, beside other files."""
    file = skill_file(extra, body=f"---\n\n{text}\n")
    whole = tree(file, *files)
    return (*check_skill_md(read_skill_md(file), file, whole), *check_files(whole))


REFERENCES = [
    (
        "See [guide](references/guide.md).",
        "broken-reference",
        "Line 6 of SKILL.md names references/guide.md, which is not in the bundle.",
        "Did you mean references/guides.md?",
    ),
    (
        "Run `scripts/run.py`.",
        "broken-reference",
        "Line 6 of SKILL.md names scripts/run.py, which is not in the bundle.",
        "Add the file or remove the reference.",
    ),
    (
        "Run `python scripts/run.py --fast` first.",
        "broken-reference",
        "Line 6 of SKILL.md names scripts/run.py, which is not in the bundle.",
        "Add the file or remove the reference.",
    ),
    (
        "[guide]: <assets/my guide.md>",
        "broken-reference",
        "Line 6 of SKILL.md names assets/my guide.md, which is not in the bundle.",
        "Add the file or remove the reference.",
    ),
    (
        "See [x](../../../etc/passwd).",
        "reference-escapes",
        "Line 6 of SKILL.md refers to ../../../etc/passwd, which is outside the bundle.",
        INSIDE,
    ),
    (
        "See [x](file:///etc/passwd).",
        "reference-escapes",
        "Line 6 of SKILL.md refers to file:///etc/passwd, which is outside the bundle.",
        INSIDE,
    ),
    (
        "See [x](%2e%2e/other.md).",
        "reference-escapes",
        "Line 6 of SKILL.md refers to %2e%2e/other.md, which is outside the bundle.",
        INSIDE,
    ),
    (
        "See [x](C:\\notes.md).",
        "reference-escapes",
        "Line 6 of SKILL.md refers to C:\\notes.md, which is outside the bundle.",
        INSIDE,
    ),
    (
        "![logo](https://e.example/l.png)",
        "remote-image",
        "Line 6 of SKILL.md shows an image of another host, which learns who reads the skill.",
        "Put the image into assets/ and link it from there.",
    ),
    (
        '<img alt="logo" src="//e.example/l.png">',
        "remote-image",
        "Line 6 of SKILL.md shows an image of another host, which learns who reads the skill.",
        "Put the image into assets/ and link it from there.",
    ),
]


@pytest.mark.parametrize(("text", "code", "message", "hint"), REFERENCES)
def test_references(text: str, code: str, message: str, hint: str) -> None:
    findings = check(text, File("references/guides.md", b"# Guides\n"))
    assert told(findings, code) == [("warning", 6, message, hint)]
    assert codes(findings) == {code}


@pytest.mark.parametrize(
    "text",
    [
        "See [guide](references/guides.md#fold) and [the folder](references/).",
        "See [web](https://e.example/x.md), [mail](mailto:a@e.example), [below](#fold).",
        "See [text](url), [name](path/to/file.md), `scripts/{name}.py`, `src/main.py`.",
        "`[x](../../etc/passwd)` is an example.",
        "```\n[x](../../etc/passwd)\n```",
    ],
)
def test_references_that_are_none_or_good(text: str) -> None:
    assert check(text, File("references/guides.md", b"# Guides\n")) == ()


MARKUP = [
    ("<img src=x onerror=alert(1)>", "the attribute onerror"),
    ("<iframe srcdoc='x'></iframe>", "the element <iframe>"),
    ("<form action=//e.example><input name=password></form>", "the element <form>"),
    ('<div hx-get="/admin/delete" hx-trigger="load">x</div>', "the attribute hx-get"),
    ('<div data-hx-post="/approve">x</div>', "the attribute data-hx-post"),
    (
        '<a id="csrfmiddlewaretoken" name="attributes">x</a>',
        "an id or a name that stands for a property of the page",
    ),
    ('<a href="javascript:alert(1)">x</a>', "a link that runs a script"),
    ("[x](javascript:alert(1))", "a link that runs a script"),
    ("[x](JaVa\tScript:alert(1))", "a link that runs a script"),
    ("[x](data:text/html,hi)", "a link that runs a script"),
    ("<javascript:alert(1)>", "a link that runs a script"),
    ("[x]: vbscript:x", "a link that runs a script"),
]


@pytest.mark.parametrize(("text", "what"), MARKUP)
def test_what_acts_in_a_browser(text: str, what: str) -> None:
    findings = check(text)
    assert told(findings, "active-content")[0] == (
        "warning",
        6,
        f"Line 6 of SKILL.md holds {what}, {ACTS}",
        IN_CODE,
    )


@pytest.mark.parametrize(
    "text",
    [
        "`<script>` is an example.",
        "```html\n<form>\n```",
        "<details><summary>More</summary>x</details>",
        'a < b > c, Vec<T>, <br>, <sub>2</sub>, <a name="fold"></a>',
    ],
)
def test_harmless_markup(text: str) -> None:
    assert check(text) == ()


def test_comments_are_told_in_every_markdown_file() -> None:
    notes = File("references/notes.md", b"Notes.\n\n<!-- todo -->\n")
    (finding,) = check("Fold.", notes)
    assert (finding.code, finding.severity, finding.path, finding.line) == (
        "html-comment",
        "advice",
        "references/notes.md",
        3,
    )
    assert finding.message == (
        "Line 3 of references/notes.md begins an HTML comment, which the agent reads and a reviewer does not see."
    )
    assert finding.hint == "Write it as text or remove it."


def test_lengths() -> None:
    findings = check("\n".join(["Fold the napkin once and lay it down."] * 600))
    assert told(findings, "skill-md-long") == [
        (
            "warning",
            501,
            "SKILL.md has 605 lines, more than 500.",
            "Move details into files under references/ and name them where they are needed.",
        )
    ]
    assert told(findings, "body-tokens") == [
        (
            "advice",
            5,
            "The body of SKILL.md costs about 5,701 tokens, more than 5,000.",
            "Move details into files under references/ and name them where they are needed.",
        )
    ]


def test_one_long_line_is_not_many_lines() -> None:
    assert "skill-md-long" not in codes(check("a" * 400_000))


def test_the_licence_file_that_is_named_must_be_there() -> None:
    extra = "license: Apache-2.0. Complete terms in LICENSE.txt\n"
    findings = check("Fold.", extra=extra)
    assert told(findings, "license-file-missing") == [
        (
            "advice",
            4,
            "The licence names LICENSE.txt, which is not in the bundle.",
            "Add the file or name the licence.",
        )
    ]
    assert check("Fold.", File("LICENSE.txt", b"Terms.\n"), extra=extra) == ()
    assert check("Fold.", extra="license: Apache License 2.0\n") == ()


def test_a_script_names_its_interpreter() -> None:
    files = [
        File("scripts/a.py", b"print(1)\n"),
        File("scripts/b.py", b"#!/usr/bin/env python3\n"),
        File("scripts/lib/__init__.py", b"x = 1\n"),
        File("scripts/notes.md", b"Notes.\n"),
        File("tools/c.py", b"print(1)\n"),
    ]
    (finding,) = check("Fold.", *files)
    assert (finding.code, finding.severity, finding.path) == (
        "script-no-interpreter",
        "advice",
        "scripts/a.py",
    )
    assert (
        finding.message == "scripts/a.py does not name its interpreter, so an agent cannot run it directly."
    )
    assert finding.hint == "Begin it with a line such as #!/usr/bin/env python3."


def test_an_advertisement_costs_every_conversation() -> None:
    findings = check_advertisement("napkin-fold", "Folds. " * 70, path="SKILL.md", line=3)
    assert told(findings, "advertisement-tokens") == [
        (
            "advice",
            3,
            "Name and description cost about 126 tokens in every conversation, more than 100.",
            "Say what it does and when to use it; move the rest into the body.",
        )
    ]
    assert check_advertisement("napkin-fold", "Folds.", path="SKILL.md", line=3) == ()


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("fold", 1), ("folds", 2), ("折叠餐巾", 4), ("折fold", 2), ("салфетка", 2)]
)
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


@pytest.mark.parametrize(
    ("folder", "name", "warned"),
    [
        ("napkin-fold", "napkin-fold", False),
        ("web.search", "web.search", False),
        ("web-search", "web.search", False),
        ("", "napkin-fold", False),
        ("napkin-fold", "", False),
        ("napkins-main", "napkin-fold", True),
    ],
)
def test_the_folder_has_the_name_of_the_skill(folder: str, name: str, warned: bool) -> None:
    findings = check_folder(name, tree(folder=folder), path="SKILL.md", line=2)
    message = f'The folder is called "{folder}" and the skill "{name}"; some agents then drop the skill.'
    expected = [("warning", 2, message, "Give both the same name.")] if warned else []
    assert told(findings, "name-dir-mismatch") == expected


STEPS = "\n1. Read the list.\n2. Send the invitations.\n3. Order the napkins.\n4. Pay the bill.\n"


def test_repeated_side_effects_call_for_a_workflow() -> None:
    findings = check_workflow(STEPS, None, path="SKILL.md", body_line=5)
    assert told(findings, "prefer-workflow") == [
        (
            "advice",
            7,
            "3 steps from line 7 on have side effects that a repeated run would repeat.",
            "Prefer a workflow that remembers which steps are done, or say how to repeat the steps safely.",
        )
    ]
    assert check_workflow(STEPS, Manifest(idempotent=True), path="SKILL.md", body_line=5) == ()
    assert check_workflow(STEPS + "All steps are idempotent.\n", None, path="SKILL.md", body_line=5) == ()
    assert check_workflow(BODY, None, path="SKILL.md", body_line=5) == ()


def test_chinese_and_russian_steps_are_read_too() -> None:
    chinese = "1、读取列表\n2、发送邀请\n3、提交订单\n4、支付账单\n"
    russian = "1. Прочитать список\n2. Отправить письма\n3. Опубликовать отчёт\n4. Удалить черновик\n"
    for body in (chinese, russian):
        assert codes(check_workflow(body, None, path="SKILL.md", body_line=5)) == {"prefer-workflow"}


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "[",
        "](",
        "![",
        "<!--",
        "`",
        "<img src=",
        "<img ",
        "1. send ",
        "[a](",
        "[a]:",
        "<",
        "LICENSE",
        "a/",
        "`a/",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    started = time.process_time()
    check(text)
    check_workflow(text, None, path="SKILL.md", body_line=1)
    assert time.process_time() - started < 2


PIECES = st.sampled_from(
    (
        *"[]()<>!`'\"=#\n/.\\",
        "](",
        "..",
        "javascript:",
        "<!--",
        "-->",
        "<a id=",
        "on=",
        "```\n",
        "%2e",
        "1. send\n",
        "é",
    )
)


@settings(deadline=None, max_examples=300)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_never_raises(text: str) -> None:
    found = [*check(text), *check_workflow(text, None, path="SKILL.md", body_line=1)]
    assert all(one.code and one.message and one.severity != "error" for one in found)


def test_many_references_and_many_files_do_not_take_long() -> None:
    files = [File(f"references/part-{n:04}/notes-on-napkins.md", b"# Notes\n") for n in range(900)]
    links = "".join(f"[x](references/part-{n}/notes-on-napkins.md)\n" for n in range(15_000))
    started = time.process_time()
    findings = check(links, *files)
    assert time.process_time() - started < 2
    assert len(told(findings, "broken-reference")) == 20


def test_the_links_of_a_very_long_skill_are_not_checked_and_it_says_so() -> None:
    found = check("[a](missing.md)\n" + "A line of text.\n" * 70_000)
    message = "SKILL.md is longer than 1,048,576 bytes, so that its links were not checked."
    hint = "Move details into files under references/."
    assert told(found, "scan-incomplete") == [("warning", None, message, hint)]
    assert told(found, "broken-reference") == []


def test_an_exclamation_mark_that_ends_a_target_makes_no_image() -> None:
    target = "a" * 999 + "!"
    assert codes(check(f"[x](https://a.b/{target[12:]}[y](https://a.b/c.png)")) == set()
    assert codes(check("![y](https://a.b/c.png)")) == {"remote-image"}
