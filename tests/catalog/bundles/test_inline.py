"""Skills sent as JSON."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bundles.files import Limits, Tree
from catalog.bundles.frontmatter_text import skill_md
from catalog.bundles.inline import tree_from_json
from tests.catalog.bundles.containers import SKILL

META: dict[str, object] = {
    "name": "demo-skill",
    "description": "Formats tables. Use when a table is crooked.",
}


def send(
    metadata: Mapping[str, object] = META,
    instructions: object = "Do it.\n",
    resources: Mapping[str, object] = {},
) -> Tree:
    return tree_from_json(metadata, instructions, resources)


def text_of(tree: Tree) -> str:
    file = tree.get("SKILL.md")
    assert file
    return file.content.decode()


def test_skill_md_is_written_in_one_way() -> None:
    tree = send(
        {
            "model": "small",
            "user_invocable": False,
            "argument_hint": "[file]",
            "arguments": ["file", "2"],
            "context": "fork",
            "paths": ["*.md", "docs/**"],
            "disable_model_invocation": True,
            "when_to_use": "Tables: crooked ones",
            "metadata": {"version": "1.10", "author": "Ada"},
            "allowed_tools": ["Bash(git add:*)", "Read"],
            "compatibility": "Python 3.11",
            "license": "MIT",
            "x-team": "no",
            **META,
        }
    )
    assert tree.findings == ()
    assert text_of(tree) == (
        "---\n"
        "name: demo-skill\n"
        "description: Formats tables. Use when a table is crooked.\n"
        "license: MIT\n"
        "compatibility: Python 3.11\n"
        "allowed-tools: Bash(git add:*) Read\n"
        "metadata:\n"
        '  version: "1.10"\n'
        "  author: Ada\n"
        'when-to-use: "Tables: crooked ones"\n'
        "disable-model-invocation: true\n"
        "paths:\n"
        '  - "*.md"\n'
        "  - docs/**\n"
        "context: fork\n"
        "arguments:\n"
        "  - file\n"
        '  - "2"\n'
        'argument-hint: "[file]"\n'
        "user-invocable: false\n"
        "model: small\n"
        'x-team: "no"\n'
        "---\n"
        "\n"
        "Do it.\n"
    )


def test_no_tools_are_not_all_tools() -> None:
    assert 'allowed-tools: ""\n' in text_of(send({**META, "allowed_tools": []}))
    assert "allowed-tools" not in text_of(send({**META, "allowed_tools": None}))


def test_the_order_of_the_keys_does_not_matter() -> None:
    assert send(dict(reversed(META.items()))) == send(META)


def test_resources_are_text_or_base64() -> None:
    tree = send(resources={"docs/a.md": "永久", "logo.bin": {"base64": base64.b64encode(b"\0\xff").decode()}})
    assert tree.findings == ()
    assert [(file.path, file.content) for file in tree.files if file.path != "SKILL.md"] == [
        ("docs/a.md", "永久".encode()),
        ("logo.bin", b"\0\xff"),
    ]


def test_skill_md_may_be_a_resource() -> None:
    tree = send({}, "", {"SKILL.md": SKILL.decode()})
    assert tree.findings == ()
    assert [(file.path, file.content) for file in tree.files] == [("SKILL.md", SKILL)]


def test_a_manifest_needs_no_skill_md() -> None:
    tree = send({}, "", {"manifest.yaml": "name: demo.skill\n"})
    assert tree.findings == ()
    assert [file.path for file in tree.files] == ["manifest.yaml"]


TEXT = "metadata.{} is not text."
WRONG: list[tuple[dict[str, object], object, dict[str, object], str, str]] = [
    (
        META,
        "Do it.",
        {"SKILL.md": "x"},
        "json-skill-md-ambiguous",
        "The body holds instructions and a SKILL.md among its resources.",
    ),
    (
        META,
        "",
        {"SKILL.md": "x"},
        "json-metadata-ignored",
        "The metadata is not used, since SKILL.md is among the resources.",
    ),
    (META, None, {}, "json-value-invalid", "instructions is not text."),
    (
        META,
        "\ud800",
        {},
        "json-value-invalid",
        '"SKILL.md" holds half a character (\\ud800), which UTF-8 cannot hold.',
    ),
    (META, "", {"../a": ""}, "path-traversal", 'The path "../a" leads out of the bundle.'),
    (META, "", {"a": {"base64": "!"}}, "json-base64-invalid", 'The resource "a" is not valid base64.'),
    (META, "", {"a": {"base64": "é"}}, "json-base64-invalid", 'The resource "a" is not valid base64.'),
    (META, "", {"a": 1}, "json-value-invalid", 'The resource "a" is neither text nor {"base64": text}.'),
    (
        META,
        "",
        {"a": {"base64": "", "x": 1}},
        "json-value-invalid",
        'The resource "a" is neither text nor {"base64": text}.',
    ),
    (META, "", {"docs/": ""}, "path-not-canonical", 'The resource "docs/" is named as a folder.'),
    (META, "", {"": ""}, "path-not-canonical", '"" has an empty folder name.'),
    (META, "", {"a": "", "A": ""}, "path-collision", '"A" and "a" are one file on some systems.'),
    (
        META,
        "",
        {"aux.md": ""},
        "filename-windows-reserved",
        '"aux.md" in "aux.md" is a device name on Windows.',
    ),
    ({**META, "name": 1}, "", {}, "json-value-invalid", TEXT.format("name")),
    ({**META, "description": ["x"]}, "", {}, "description-not-string", TEXT.format("description")),
    ({**META, "license": {}}, "", {}, "json-value-invalid", TEXT.format("license")),
    ({**META, "compatibility": []}, "", {}, "json-value-invalid", TEXT.format("compatibility")),
    (
        {**META, "metadata": {"v": 1.1}},
        "",
        {},
        "json-value-invalid",
        "metadata.metadata is not an object of texts.",
    ),
    (
        {**META, "allowed_tools": [1]},
        "",
        {},
        "json-value-invalid",
        "metadata.allowed_tools is not a list of texts.",
    ),
    (
        {**META, "allowed_tools": ["Read Write"]},
        "",
        {},
        "json-value-invalid",
        '"Read Write" in metadata.allowed_tools is not one tool.',
    ),
    ({**META, "paths": {}}, "", {}, "json-value-invalid", "metadata.paths is not a list of texts."),
    (
        {**META, "user_invocable": "yes"},
        "",
        {},
        "json-value-invalid",
        "metadata.user_invocable is not true or false.",
    ),
    (
        {**META, "x": 1},
        "",
        {},
        "json-value-invalid",
        "metadata.x is not text, a list of texts or an object of texts.",
    ),
    (
        {**META, "when_to_use": "a", "when-to-use": "b"},
        "",
        {},
        "json-value-invalid",
        'The key "when-to-use" is given twice.',
    ),
    ({**META, "x" * 300: "a"}, "", {}, "json-value-invalid", f'The key "{"x" * 60}…{"x" * 60}" is too long.'),
]


@pytest.mark.parametrize(("metadata", "instructions", "resources", "code", "message"), WRONG)
def test_what_is_wrong_is_told_exactly(
    metadata: dict[str, object], instructions: object, resources: dict[str, object], code: str, message: str
) -> None:
    tree = send(metadata, instructions, resources)
    assert [(finding.code, finding.message) for finding in tree.findings] == [(code, message)]


def test_every_problem_is_reported_at_once() -> None:
    tree = send({"name": 1, "license": 2}, 3, {"a": 4, "/b": "", "con": ""})
    assert [finding.code for finding in tree.findings] == [
        "path-traversal",
        "json-value-invalid",
        "json-value-invalid",
        "json-value-invalid",
        "json-value-invalid",
        "filename-windows-reserved",
    ]


def test_limits_hold() -> None:
    tree = tree_from_json(META, "x" * 500, {"a": "y" * 500}, limits=Limits(max_file_bytes=400))
    assert [(f.code, f.path) for f in tree.findings] == [
        ("skill-md-missing", ""),
        ("archive-too-large", "SKILL.md"),
        ("archive-too-large", "a"),
    ]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    [
        "no",
        "Off",
        "1.10",
        "0x1",
        "1e3",
        "2024-01-01",
        "~",
        "null",
        "a: b",
        "a #b",
        "a:",
        "- a",
        "yes ",
        "=",
        "<<",
        "a\tb",
    ]
)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text("abcxyz-", min_size=1, max_size=9), TEXTS | st.lists(TEXTS, max_size=3) | st.booleans()
    )
)
def test_any_yaml_loader_reads_the_same_values_back(fields: dict[str, str | list[str] | bool]) -> None:
    head = skill_md(fields, "").split("---\n")
    for loader in (yaml.SafeLoader, yaml.CSafeLoader):
        assert (yaml.load("---\n".join(head[1:-1]), loader) or {}) == fields


@settings(deadline=None)
@given(st.dictionaries(TEXTS.filter(lambda key: len(key) < 50), TEXTS, min_size=1))
def test_keys_and_values_of_metadata_survive(metadata: dict[str, str]) -> None:
    text = skill_md({"metadata": metadata}, "")
    assert yaml.safe_load(text.removeprefix("---\n").removesuffix("---\n\n")) == {"metadata": metadata}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from([*META, "metadata", "allowed_tools", "paths", "\ud800"]), JSON),
    JSON,
    st.dictionaries(st.text(st.characters(), max_size=12), JSON, max_size=4),
)
def test_nothing_sent_as_json_raises(
    metadata: dict[str, object], instructions: object, resources: dict[str, object]
) -> None:
    tree = send(metadata, instructions, resources)
    assert all((finding.message + finding.path + finding.hint).encode() for finding in tree.findings)


def test_more_resources_than_files_are_allowed_are_not_read() -> None:
    tree = send(resources={f"../{n}.md": "x" for n in range(1001)})
    assert [file.path for file in tree.files] == ["SKILL.md"]
    assert [one.code for one in tree.findings] == ["archive-too-many-files"]
    assert tree.findings[0].message == "The body holds 1,001 resources; the limit is 1,000 files."
