"""Runtime compatibility; the two runtimes that are Python packages are the oracles of their columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bundles.bundle import Bundle
from catalog.bundles.files import File, Limits
from catalog.bundles.reading import read_bundle
from catalog.bundles.runtimes import RUNTIMES, Verdict, judge
from tests.catalog.bundles.oracles import (
    Opinion,
    loads_by_specification,
    loads_in_agent_framework,
    matrix,
    opinions,
    read_folder,
    sample_skills,
)
from tests.catalog.bundles.oracles import written as written_below
from tests.catalog.bundles.skills import BODY, DESCRIPTION, skill_file, tree
from tests.requirements import shared

SET = shared("real-skills")


def judged(*files: File, folder: str = "napkin-fold") -> dict[str, Verdict]:
    bundle = read_bundle(tree(*files, folder=folder), limits=Limits())
    return judge(bundle)


def written(frontmatter: str) -> File:
    return File("SKILL.md", f"---\n{frontmatter}{BODY}".encode())


LOADS = Verdict("loads")
UNSEEN = "Files of other kinds, or below a second level of folders, are not seen"


def test_a_plain_skill_loads_everywhere() -> None:
    assert judged(skill_file("license: MIT\n")) == dict.fromkeys(RUNTIMES, LOADS)


def test_a_tool_skill_loads_everywhere() -> None:
    text = f"name: napkin.fold\ndescription: {DESCRIPTION}\nversion: 1.0.0\nrisk_level: low\n"
    assert judged(File("manifest.yaml", text.encode())) == dict.fromkeys(RUNTIMES, LOADS)


def test_a_refused_bundle_fails_everywhere() -> None:
    refused = Verdict("fails", ("The catalog refuses the bundle.",))
    assert judged(written("name: Napkin\n")) == dict.fromkeys(RUNTIMES, refused)


# frontmatter below name and description (or whole), runtime, verdict, notes
LONG = "Use when" + "n" * 1017
CASES = [
    ("version: 1.0.0\n", "spec", "fails", ["The keys version are not in the specification."]),
    (
        "metadata: {a: b}\n",
        "spec",
        "fails",
        ["Line 4 of SKILL.md is a list or mapping in brackets, which strict YAML refuses."],
    ),
    ("compatibility:\n- a\n- b\n", "spec", "fails", ["The compatibility is not text."]),
    ("allowed-tools: Read Write\n", "raf", "loss", ["It does not know allowed-tools."]),
    ("context: fork\n", "raf", "loss", ["It does not know context."]),
    (
        "metadata:\n  author: ann\nlicense: MIT\n",
        "raf",
        "loss",
        ['The license is read as ""; write it in one line, above metadata.'],
    ),
    (
        "allowed-tools: Read Write\n",
        "awaken",
        "loss",
        ["allowed-tools is read as ['Read Write']; part the tools with commas."],
    ),
    ("allowed-tools: Read, Write\n", "awaken", "loads", []),
    ("allowed-tools: [Read, Write]\n", "awaken", "loads", []),
    ("allowed-tools: Read, Write\n", "maf", "loads", []),
    (
        "allowed-tools: [Read, Write]\n",
        "maf",
        "fails",
        ["The value of allowed-tools is a list or a mapping, so the skill is dropped."],
    ),
    (
        "metadata:\n  description: other\n",
        "awaken",
        "loss",
        ['The description is read as "other"; write it in one line, above metadata.'],
    ),
    ("paths: src/*.py\n", "awaken", "loss", ["It does not know paths."]),
    ("when-to-use: at noon\n", "awaken", "loads", []),
    (
        "Name: other\n",
        "maf",
        "fails",
        ['The key "Name" is spelled otherwise than name, so the skill is dropped.'],
    ),
    (
        "metadata: {bot: {a: b}}\n",
        "maf",
        "loss",
        ["The metadata of bot is skipped, for it is not text."],
    ),
    ("disable-model-invocation: true\n", "maf", "loss", ["It does not know disable-model-invocation."]),
    ("disable-model-invocation: true\n", "awaken", "loads", []),
    (
        f"compatibility: {'c' * 501}\n",
        "maf",
        "fails",
        ["The compatibility has 501 characters, more than 500."],
    ),
]


@pytest.mark.parametrize(("extra", "runtime", "verdict", "notes"), CASES)
def test_frontmatter(extra: str, runtime: str, verdict: str, notes: list[str]) -> None:
    assert judged(skill_file(extra))[runtime] == Verdict(verdict, tuple(notes))  # type: ignore[arg-type]


WHOLE = [
    (
        f"name: napkin-fold\ndescription: {LONG}\n",
        "maf",
        "fails",
        ["The description has 1,025 characters, more than 1,024."],
    ),
    (
        "name: napkin-fold\ndescription: >-\n  Folds napkins. Use when\n  a table is laid.\n",
        "raf",
        "loss",
        ['The description is read as ">-"; write it in one line, above metadata.'],
    ),
    (
        "name: napkin-fold\ndescription: >-\n  Folds napkins. Use when\n  a table is laid.\n",
        "awaken",
        "loss",
        ['The description is read as ">-"; write it in one line, above metadata.'],
    ),
    (
        "name: napkin-fold\ndescription: >-\n  Folds napkins. Use when\n  a table is laid.\n",
        "maf",
        "loads",
        [],
    ),
    (
        f"metadata:\n  a: b\nname: napkin-fold\ndescription: {DESCRIPTION}\n",
        "raf",
        "fails",
        ["RAF reads no name.", "RAF reads no description."],
    ),
    (
        "name: napkin-fold\ndescription: Draws rules --- and tables. Use when asked.\n",
        "raf",
        "loss",
        ['The description is read as "Draws rules"; write it in one line, above metadata.'],
    ),
    (
        "name: napkin-fold\ndescription: Draws rules --- and tables. Use when asked.\n",
        "spec",
        "loss",
        ["A --- inside the description cuts it there."],
    ),
    (
        "name: napkin-fold\ndescription: Draws rules --- and tables. Use when asked.\n",
        "awaken",
        "loads",
        [],
    ),
]


@pytest.mark.parametrize(("frontmatter", "runtime", "verdict", "notes"), WHOLE)
def test_descriptions(frontmatter: str, runtime: str, verdict: str, notes: list[str]) -> None:
    assert judged(written(frontmatter))[runtime] == Verdict(verdict, tuple(notes))  # type: ignore[arg-type]


def test_a_byte_order_mark() -> None:
    file = File("SKILL.md", b"\xef\xbb\xbf" + skill_file().content)
    verdicts = {runtime: verdict.verdict for runtime, verdict in judged(file).items()}
    assert verdicts == {"spec": "fails", "raf": "fails", "awaken": "fails", "maf": "loads"}


def test_another_folder() -> None:
    verdicts = judged(skill_file(), folder="napkins-main")
    note = 'The folder is called "napkins-main"; unpack the skill into a folder called "napkin-fold".'
    assert verdicts["maf"] == verdicts["spec"] == Verdict("fails", (note,))
    assert verdicts["raf"] == verdicts["awaken"] == LOADS


def test_files() -> None:
    verdicts = judged(
        skill_file(),
        File("scripts/fold.py", b"#!/usr/bin/env python3\n"),
        File("scripts/fold.sh", b"#!/bin/sh\n"),
        File("references/a.md", b"# A\n"),
        File("references/deep/b.md", b"# B\n"),
        File("assets/logo.png", b"\x89PNG\r\n\x1a\n"),
        File("notes.md", b"# Notes\n"),
    )
    assert verdicts["spec"] == verdicts["awaken"] == LOADS
    assert verdicts["raf"] == Verdict(
        "loss",
        (
            "Files outside references/, assets/ and scripts/ cannot be reached: notes.md.",
            "Resources that are not UTF-8 cannot be read: assets/logo.png.",
        ),
    )
    assert verdicts["maf"] == Verdict(
        "loss",
        (
            f"{UNSEEN}: assets/logo.png, references/deep/b.md, scripts/fold.sh.",
            "Scripts run where the agent has a script runner.",
        ),
    )


@SET.needed
@pytest.mark.parametrize("entry", SET.lines("index.jsonl"), ids=lambda entry: entry["path"])
def test_real_skills_against_both_packages(entry: dict[str, Any], tmp_path: Path) -> None:
    bundle = read_folder(SET.folder / entry["path"])
    found = list(opinions(bundle, entry["path"], tmp_path))
    assert [one for one in found if one.ours != one.theirs and not one.why] == []
    loads, seen = loads_in_agent_framework(tmp_path)
    others = {f.path for f in bundle.tree.files} - {"SKILL.md", "skill.md"}
    said = any("are not seen" in note for note in judge(bundle)["maf"].notes)
    assert bundle.refused or not loads or said is bool(others - seen)


@pytest.mark.parametrize("bundle", sample_skills(), ids=lambda bundle: f"{bundle.name}-{bundle.version}")
def test_the_samples_against_both_packages(bundle: Bundle, tmp_path: Path) -> None:
    found = list(opinions(bundle, bundle.name, tmp_path))
    assert [(one.runtime, one.ours) for one in found] == [(one.runtime, one.theirs) for one in found]


def test_the_matrix_tells_each_difference_and_its_reason() -> None:
    found = [
        Opinion("one", "spec", ours=True, theirs=True),
        Opinion("two", "maf", ours=False, theirs=True, why="the catalog refuses it: name-invalid"),
        Opinion("three", "maf", ours=True, theirs=False),
    ]
    told = matrix(found).splitlines()
    assert told[-3:] == [
        "2 of 3 differ:",
        "  two (maf): the catalog refuses it: name-invalid",
        "  three (maf): UNEXPLAINED",
    ]
    assert told[1].split() == ["we", "say", "loads", "1", "0"]
    assert told[5].split() == ["we", "say", "fails", "1", "0"]


def test_what_the_catalog_refuses_explains_a_difference(tmp_path: Path) -> None:
    content = skill_file().content + b"key: AKIA" + b"QWERTYUIOPLKJHGF\n"
    bundle = read_bundle(tree(File("SKILL.md", content)), limits=Limits())
    found = {one.runtime: one for one in opinions(bundle, "keys", tmp_path)}
    assert [(one.ours, one.theirs) for one in found.values()] == [(False, True), (False, True)]
    assert {one.why for one in found.values()} == {"the catalog refuses it: secret-detected"}


TOOLS = ("allowed-tools: Read\n", "allowed-tools: [Read]\n")
METADATA = ("metadata:\n  a: b\n", "metadata: {a: {b: c}}\n")
OTHERS = (
    "license: MIT\n",
    "license: [MIT]\n",
    "Name: x\n",
    "version: 1\n",
    "model:\n",
    "compatibility: a --- b\n",
)
LINES = st.lists(
    st.sampled_from((*TOOLS, *METADATA, *OTHERS)), max_size=4, unique_by=lambda line: line.partition(":")[0]
).map("".join)


@settings(deadline=None, max_examples=60)
@given(LINES)
def test_generated_skills_against_both_packages(tmp_path_factory: pytest.TempPathFactory, extra: str) -> None:
    bundle = read_bundle(tree(skill_file(extra)), limits=Limits())
    verdicts = judge(bundle)
    root = tmp_path_factory.mktemp("skills")
    folder = written_below(bundle, root)
    assert (verdicts["maf"].verdict != "fails") is loads_in_agent_framework(root)[0]
    assert (verdicts["spec"].verdict != "fails") is loads_by_specification(folder)
