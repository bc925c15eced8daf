"""Test suites of manifests: what is read, and every refusal by its words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from catalog.bundles.bundle import TestSuite
from catalog.bundles.fields import Fields
from catalog.bundles.files import File, Tree
from catalog.bundles.findings import Finding
from catalog.bundles.suites import read_suite
from catalog.bundles.yamltext import Mapping, Scalar

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
CASE = {"name": "plain", "input": {"q": "x"}, "expect": {"contains": ["x"]}}


def read(named: str, **files: bytes) -> tuple[TestSuite | None, list[Finding]]:
    """The suite of a bundle; `__` in a key stands for a slash, and the last `_` for a dot."""
    tree = Tree("", tuple(File(_path(key), content) for key, content in sorted(files.items())))
    root = Mapping({"test_suite": Scalar(named, 7)}, {"test_suite": 7}, 1)
    fields = Fields("manifest.yaml", root, tree)
    return read_suite(fields, SCHEMA), fields.findings


def _path(key: str) -> str:
    name, _, suffix = key.replace("__", "/").rpartition("_")
    return f"{name}.{suffix}"


def cases(*several: Any) -> bytes:
    return json.dumps(several).encode()


def test_a_file_of_cases_is_read() -> None:
    suite, findings = read("tests/a.json", tests__a_json=cases({**CASE, "max_seconds": 2}))
    assert suite is not None
    assert suite.cases[0].input == {"q": "x"}
    assert suite.cases[0].max_seconds == 2.0
    assert [(f.severity, f.code, f.line) for f in findings] == [("advice", "test-cases-few", 7)]
    assert findings[0].message == (
        "test_suite (line 7) has 1 case, and fewer than 50 tell little about how steady a skill is."
    )


def test_a_folder_is_the_union_of_its_files() -> None:
    other = b"targets: {success_rate: 0.95, p95_ms: 2000}\ncases:\n- {name: two, input: {q: y}, expect: {equals: {a: 1}}}\n"
    suite, _ = read(
        "tests/", tests__a_json=cases(CASE), tests__b_yaml=other, other__c_json=b"!", tests__n_md=b"!"
    )
    assert suite is not None
    assert [case.name for case in suite.cases] == ["plain", "two"]
    assert suite.cases[1].expect == {"equals": {"a": 1}}
    assert suite.targets == {"success_rate": 0.95, "p95_ms": 2000.0}


def test_fifty_cases_are_enough() -> None:
    _, findings = read("a.json", a_json=cases(*({**CASE, "name": str(n)} for n in range(50))))
    assert findings == []


MISSING = [
    ("tests", {}, 'names "tests", which is not in the bundle'),
    (
        "Tests/A.json",
        {"tests__a_json": cases(CASE)},
        'names "Tests/A.json", but the file is called "tests/a.json"',
    ),
    ("tests", {"tests__a_json": b"[]"}, 'names "tests", which holds no valid case'),
]


@pytest.mark.parametrize(("named", "files", "problem"), MISSING)
def test_a_suite_without_a_case_is_missing(named: str, files: dict[str, bytes], problem: str) -> None:
    suite, findings = read(named, **files)
    assert suite is None
    assert [(f.code, f.message) for f in findings] == [
        ("test-suite-missing", f"test_suite (line 7) {problem}.")
    ]


@pytest.mark.parametrize(
    "named", ["../a.json", "/etc/passwd", "a/../../b", "C:\\a.json", "\\\\host\\a", "~/a", "file:///a"]
)
def test_a_suite_stays_in_the_bundle(named: str) -> None:
    _, findings = read(named, a_json=cases(CASE))
    assert [f.code for f in findings] == ["path-traversal"]


WRONG: list[tuple[Any, str]] = [
    (1, "case 1 is no mapping"),
    ({**CASE, "name": ""}, "case 1 has no name of 1 to 200 characters"),
    ({**CASE, "inputs": {}}, 'case 1 has the unknown key "inputs"'),
    ({**CASE, "input": []}, "case 1 has no input, which is a mapping"),
    ({**CASE, "input": {}}, 'case 1 has an input that input_schema refuses: "/q" is missing'),
    (
        {**CASE, "input": {"q": 1}},
        'case 1 has an input that input_schema refuses: "/q" is not of the type string',
    ),
    (
        {**CASE, "expect": {}},
        "case 1 expects nothing; expect holds required_keys, contains, key_points or equals",
    ),
    ({**CASE, "expect": {"contains": "x"}}, "case 1 has contains that is not a list of texts"),
    ({**CASE, "expect": {"contains": ["x"], "like": 1}}, 'case 1 has the unknown expectation "like"'),
    ({**CASE, "expect": {"equals": [1]}}, "case 1 has equals that is no mapping"),
    ({**CASE, "max_seconds": 0}, "case 1 has max_seconds that is not a number of seconds above 0"),
]


@pytest.mark.parametrize(("case", "problem"), WRONG)
def test_a_wrong_case_is_told(case: Any, problem: str) -> None:
    _, findings = read("a.json", a_json=cases(case, {**CASE, "name": "good"}))
    told = [f.message for f in findings if f.code == "manifest-value-invalid"]
    assert told == [f"a.json, {problem}."]


FILES = [
    (b"{", "a.json is no JSON from line 1 on."),
    (b"[" * 100_000, "a.json lies too deep."),
    (
        b'{"cases": [], "cases": []}',
        "a.json is no JSON that every reader reads alike: a key is written twice.",
    ),
    (b"[NaN]", "a.json is no JSON that every reader reads alike: NaN is no number of JSON."),
    (b"[1e999]", "a.json is no JSON that every reader reads alike: 1e999 is no number of JSON."),
    (
        b'["\\ud800"]',
        "a.json is no JSON that every reader reads alike: a text holds a character that cannot be stored.",
    ),
    (b"\xff", "a.json is not UTF-8."),
    (b'"x"', "a.json holds no list of cases."),
    (b'{"targets": {"p95": 1}, "cases": []}', 'a.json has a target "p95" that is unknown or out of range.'),
    (b'{"targets": [], "cases": []}', "a.json has targets that are no mapping."),
]


@pytest.mark.parametrize(("content", "message"), FILES)
def test_a_file_that_holds_no_cases_is_told(content: bytes, message: str) -> None:
    _, findings = read("a.json", a_json=content)
    assert message in [f.message for f in findings if f.code == "manifest-value-invalid"]


def test_two_cases_of_one_name_are_told() -> None:
    _, findings = read("a.json", a_json=cases(CASE, CASE))
    assert 'a.json, case 2 has the name of an earlier case, "plain".' in [f.message for f in findings]
