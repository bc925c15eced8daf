"""Test suites of a manifest: a file of cases, or a folder of such files, inside the bundle."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping as MappingOf
from pathlib import PurePosixPath
from typing import Any, NoReturn

from catalog.bundles.bundle import TestCase, TestSuite
from catalog.bundles.fields import Fields, quoted
from catalog.bundles.files import File
from catalog.bundles.findings import Finding, error, has_errors
from catalog.bundles.paths_inside import escapes
from catalog.bundles.schemas import check_value
from catalog.bundles.typed_yaml import json_value
from catalog.bundles.yamltext import read_yaml

FEW = 50
MAX_CASES = 2_000
MAX_FILE_BYTES = 2 * 1024 * 1024
MAX_PROBLEMS = 20
TARGETS = ("success_rate", "mean_ms", "p95_ms", "tokens")

_CASE_KEYS = ("name", "input", "expect", "max_seconds")
_LISTS = ("required_keys", "contains", "key_points")
_SUFFIXES = (".json", ".yaml", ".yml")
_EXAMPLE = '{"name": "plain", "input": {"query": "rust"}, "expect": {"required_keys": ["summary"]}}'


def read_suite(fields: Fields, input_schema: MappingOf[str, Any] | None) -> TestSuite | None:
    """The suite that `test_suite` names; None where there is none or it cannot be read.

    Cases that are wrong are told and left out. `input` is held against the input schema.
    """
    named = fields.text("test_suite", "tests", 512)
    if named is None:
        return None
    if escapes(named):
        problem = f"names {quoted(named)}, which leaves the bundle"
        hint = "Name a file or folder inside the bundle, from its root."
        fields.report("error", "path-traversal", "test_suite", problem, hint)
        return None
    files = _files(fields, named)
    reader = _Reader(input_schema)
    for file in files:
        reader.read(file)
    fields.findings += reader.findings
    if not reader.cases:
        problem = _nothing(fields, named, bool(files))
        hint = f"Write a .json or .yaml file with a list of cases such as {_EXAMPLE}."
        fields.report("error", "test-suite-missing", "test_suite", problem, hint)
        return None
    if len(reader.cases) < FEW:
        problem = (
            f"has {_count(len(reader.cases))}, and fewer than {FEW} tell little about how steady a skill is"
        )
        fields.report("advice", "test-cases-few", "test_suite", problem, "Add cases from real calls.")
    return TestSuite(tuple(reader.cases), reader.targets)


def _files(fields: Fields, named: str) -> list[File]:
    """The one file of that name, or the files of cases anywhere in the folder of that name."""
    path = "/".join(part for part in named.split("/") if part not in ("", "."))
    if file := fields.tree.get(path):
        return [file]
    inside = f"{path}/" if path else ""
    return [
        file
        for file in fields.tree.files
        if file.path.startswith(inside) and PurePosixPath(file.path).suffix.lower() in _SUFFIXES
    ]


def _nothing(fields: Fields, named: str, found: bool) -> str:
    if found:
        return f"names {quoted(named)}, which holds no valid case"
    folded = named.strip("/").casefold()
    for file in fields.tree.files:
        if file.path.casefold() == folded:
            return f"names {quoted(named)}, but the file is called {quoted(file.path)}"
    return f"names {quoted(named)}, which is not in the bundle"


class _Reader:
    """Collects the cases, targets and problems of the files of one suite."""

    def __init__(self, input_schema: MappingOf[str, Any] | None) -> None:
        self.input_schema = input_schema
        self.cases: list[TestCase] = []
        self.targets: dict[str, float] = {}
        self.findings: list[Finding] = []
        self.names: set[str] = set()

    def read(self, file: File) -> None:
        suite, findings = _parsed(file)
        self.findings += findings
        if has_errors(findings):
            return
        if isinstance(suite, dict):
            for key in sorted(suite.keys() - {"targets", "cases"}):
                self._invalid(file, f"has the unknown key {quoted(key)}", "Write targets and cases.")
            self._read_targets(file, suite.get("targets", {}))
            suite = suite.get("cases")
        if not isinstance(suite, list):
            self._invalid(file, "holds no list of cases", f"Write [{_EXAMPLE}].")
            return
        for index, case in enumerate(suite, 1):
            if len(self.cases) == MAX_CASES:
                self._invalid(
                    file, f"brings the suite above {MAX_CASES:,} cases", "Keep those that tell most."
                )
                return
            self._read_case(file, f"case {index}", case)

    def _read_targets(self, file: File, targets: Any) -> None:
        hint = "Write targets as {success_rate: 0.95, mean_ms: 800, p95_ms: 2000, tokens: 1500}."
        if not isinstance(targets, dict):
            self._invalid(file, "has targets that are no mapping", hint)
            return
        for name, target in targets.items():
            most = 1.0 if name == "success_rate" else 1e12
            if name not in TARGETS or not _is_number(target) or not 0 <= target <= most:
                self._invalid(file, f"has a target {quoted(name)} that is unknown or out of range", hint)
            else:
                self.targets[name] = float(target)

    def _read_case(self, file: File, which: str, case: Any) -> None:
        problem = _case_problem(case) or self._input_problem(case["input"])
        if not problem and case["name"] in self.names:
            problem = f"has the name of an earlier case, {quoted(case['name'])}"
        if problem:
            self._invalid(file, f"{which} {problem}", f"Write a case such as {_EXAMPLE}.", of_case=True)
            return
        self.names.add(case["name"])
        seconds = case.get("max_seconds")
        limit = None if seconds is None else float(seconds)
        self.cases.append(TestCase(case["name"], case["input"], case["expect"], limit))

    def _input_problem(self, value: dict[str, Any]) -> str:
        problems = check_value(self.input_schema, value) if self.input_schema else []
        if not problems:
            return ""
        pointer, message = problems[0]
        return f"has an input that input_schema refuses: {quoted(pointer or '/')} {message}"

    def _invalid(self, file: File, problem: str, hint: str, *, of_case: bool = False) -> None:
        if len(self.findings) < MAX_PROBLEMS:
            where = f"{file.path}, {problem}." if of_case else f"{file.path} {problem}."
            self.findings.append(error("manifest-value-invalid", where, hint, path=file.path))


def _case_problem(case: Any) -> str:
    """What is wrong with the form of a case, or ""."""
    if not isinstance(case, dict):
        return "is no mapping"
    name, expect, seconds = case.get("name"), case.get("expect"), case.get("max_seconds")
    if unknown := sorted(case.keys() - set(_CASE_KEYS)):
        return f"has the unknown key {quoted(unknown[0])}"
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        return "has no name of 1 to 200 characters"
    if not isinstance(case.get("input"), dict):
        return "has no input, which is a mapping"
    if seconds is not None and not (_is_number(seconds) and 0 < seconds <= 86_400):
        return "has max_seconds that is not a number of seconds above 0"
    return _expect_problem(expect)


def _expect_problem(expect: Any) -> str:
    if not isinstance(expect, dict) or not any(expect.get(key) for key in (*_LISTS, "equals")):
        return f"expects nothing; expect holds {', '.join(_LISTS)} or equals"
    if unknown := sorted(expect.keys() - {*_LISTS, "equals"}):
        return f"has the unknown expectation {quoted(unknown[0])}"
    for key in _LISTS:
        entries = expect.get(key, [])
        if not isinstance(entries, list) or not all(isinstance(e, str) and e for e in entries):
            return f"has {key} that is not a list of texts"
    return "" if isinstance(expect.get("equals", {}), dict) else "has equals that is no mapping"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _parsed(file: File) -> tuple[Any, tuple[Finding, ...]]:
    """The JSON values of a file of cases."""
    if file.size > MAX_FILE_BYTES:
        message = f"{file.path} has {file.size:,} bytes, more than the {MAX_FILE_BYTES:,} of a file of cases."
        return None, (error("manifest-value-invalid", message, "Split it.", path=file.path),)
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        message = f"{file.path} is not UTF-8."
        return None, (error("manifest-value-invalid", message, "Save it as UTF-8.", path=file.path),)
    if not file.path.lower().endswith(".json"):
        document = read_yaml(text, path=file.path, max_chars=MAX_FILE_BYTES, max_nodes=100_000)
        return (json_value(document.root) if document.root else None), document.findings
    try:
        parsed = json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_without_doubles
        )
        if "\0" in text or re.search(r"\\u(?:0000|[dD][89a-fA-F])", text):
            _refuse_odd(parsed)
        return parsed, ()
    except RecursionError:
        problem, line = "lies too deep", None
    except json.JSONDecodeError as fault:
        problem, line = f"is no JSON from line {fault.lineno} on", fault.lineno
    except ValueError as fault:
        problem, line = f"is no JSON that every reader reads alike: {fault}", None
    message = f"{file.path} {problem}."
    return None, (error("manifest-value-invalid", message, "Write plain JSON.", path=file.path, line=line),)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits[:20])


def _refuse_odd(parsed: Any) -> None:
    """Raise where a text holds NUL or half of a surrogate pair, which no database stores."""
    written = json.dumps(parsed, ensure_ascii=False)
    if "\\u0000" in written or re.search("[\ud800-\udfff]", written):
        raise ValueError("a text holds a character that cannot be stored")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("a key is written twice")
    return read


def _count(cases: int) -> str:
    return "1 case" if cases == 1 else f"{cases} cases"
