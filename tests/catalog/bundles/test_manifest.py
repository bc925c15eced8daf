"""Manifests: what is read of a good one, and every refusal by its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.bundles.bundle import RISKS, Manifest
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.findings import Finding, has_errors, in_order
from catalog.bundles.manifest import KEYS, ManifestFields, read_manifest
from catalog.semver import precedence_key
from tests.catalog.documented import assert_told

GOOD = {
    "name": "web.search",
    "description": "Search the web. Use when recent facts are asked for; not for local files.",
    "version": "1.0.0",
    "risk_level": "low",
}

FULL = """\
name: web.search_and_summarize
description: Search the web and return a summary. Use for recent facts; not for local documents.
version: 1.10.0
risk_level: medium
run: run.py:main
tags: [search, web, search]
permissions:
  send: true
  network: true
  shell: false
input_schema:
  type: object
  properties:
    query: {type: string, description: At most 50 characters}
    max_results: {type: integer, minimum: 1, maximum: 10, default: 5, description: Results to read}
  required: [query]
output_schema:
  type: object
  properties:
    summary: {type: string}
    meta: {type: object}
dependencies:
  web.search: 1.3.0
test_suite: tests
idempotent: {key: [query]}
model_hint: small
context_fields: [user_intent, trace_id]
cache_ttl: 300
timeout: 0.5
errors:
  - {code: upstream_timeout, retryable: true, description: The search service did not answer}
  - {code: query_empty, retryable: false, description: Nothing to search for}
retry: {max_attempts: 3, backoff: exponential}
alternatives: [web.search]
stability: stable
runtime: {language: python, version: ">=3.11", requirements: requirements.txt, isolation: process}
author: team-research
colour: [dark, red]
"""
SUITE = '[{"name": "plain", "input": {"query": "rust"}, "expect": {"contains": ["rust"]}}]'


def read(
    content: str | bytes, *files: File, path: str = "manifest.yaml"
) -> tuple[ManifestFields, tuple[Finding, ...]]:
    file = File(path, content.encode() if isinstance(content, str) else content)
    return read_manifest(file, Tree("web-search", (file, *files)), limits=Limits())


def manifest(**changed: str | None) -> str:
    """A good manifest with some fields changed, added, or (None) left out."""
    fields = {**GOOD, **changed}
    return "".join(f"{key}: {value}\n" for key, value in fields.items() if value is not None)


def test_a_full_manifest_is_typed() -> None:
    files = [File("run.py", b"#!"), File("requirements.txt", b""), File("tests/plain.json", SUITE.encode())]
    fields, findings = read(FULL, *files)
    read_one = fields.manifest
    assert not has_errors(findings), findings
    assert (fields.name, fields.version, fields.version_text) == (
        "web.search_and_summarize",
        "1.10.0",
        "1.10.0",
    )
    assert read_one.permissions == ("network", "send")
    assert read_one.input_schema is not None
    assert read_one.input_schema["properties"]["max_results"]["default"] == 5
    assert (read_one.run, read_one.risk_level, read_one.tags) == ("run.py:main", "medium", ("search", "web"))
    assert (read_one.dependencies, read_one.alternatives) == ({"web-search": "1.3.0"}, ("web.search",))
    assert (read_one.idempotent, read_one.idempotency_key) == (True, ("query",))
    assert (read_one.cache_ttl_ms, read_one.timeout_ms) == (300_000, 500)
    assert (read_one.model_hint, read_one.context_fields) == ("small", ("user_intent", "trace_id"))
    assert [one["retryable"] for one in read_one.errors] == [True, False]
    assert read_one.retry == {"max_attempts": 3, "backoff": "exponential"}
    assert read_one.runtime is not None
    assert read_one.runtime["version"] == ">=3.11"
    assert (read_one.stability, read_one.author) == ("stable", "team-research")
    assert read_one.suite is not None
    assert read_one.suite.cases[0].input == {"query": "rust"}
    assert read_one.extra == {"colour": ["dark", "red"]}


def test_a_silent_manifest_declares_nothing() -> None:
    fields, findings = read(manifest())
    assert findings == ()
    assert fields.manifest.permissions is None
    assert fields.manifest.idempotent is None
    assert fields.manifest.suite is None


# fmt: off
# Field, value, severity, code, message, hint.
CASES = [
    ( 'name', None, 'error', 'name-missing', 'name is missing, and nothing can be called without one.', 'Write name: web.search.' ),
    ( 'name', "''", 'error', 'name-missing', 'name (line 1) is missing, and nothing can be called without one.', 'Write name: web.search.' ),
    ( 'name', '[a]', 'error', 'name-invalid', 'name (line 1) is a list, not a text.', 'Write name: web.search.' ),
    ( 'name', 'Web Search', 'error', 'name-invalid', '"Web Search" is not a skill name.', 'Use one to four segments joined by dots, each of a-z, 0-9, - and _ and begun with a letter, for example web-search.' ),
    ( 'name', 'search', 'advice', 'name-no-namespace', 'name (line 1) has no namespace.', 'Write a domain and a verb: web.search.' ),
    ( 'description', '[a]', 'error', 'description-not-string', 'description (line 2) is a list, not a text.', 'Write it as one text in quotes.' ),
    ( 'description', "''", 'error', 'description-missing', 'manifest.yaml has no description, and a skill without one is never chosen.', 'Add `description:` and say what the skill does and when to use it.' ),
    ( 'version', None, 'error', 'version-invalid', 'version is missing.', 'Write version: 1.0.0.' ),
    ( 'version', "'1.0'", 'error', 'version-invalid', 'version (line 3) is "1.0", not a semantic version.', 'Write version: 1.0.0.' ),
    ( 'version', 'v2', 'error', 'version-invalid', 'version (line 3) is "v2", not a semantic version.', 'Write version: 2.0.0.' ),
    ( 'version', '1.0.0-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'error', 'version-too-long', 'version (line 3) has 70 characters, more than the 64 allowed.', 'Write version: 1.0.0.' ),
    ( 'version', '1.0.0+b1', 'warning', 'version-build-metadata', 'The build metadata +b1 makes no other version: this one is 1.0.0.', 'Leave it out.' ),
    ( 'risk_level', None, 'error', 'risk-level-missing', 'risk_level is missing, and there is no default.', 'Write risk_level: low, medium or high.' ),
    ( 'risk_level', 'High', 'error', 'risk-level-invalid', 'risk_level (line 4) is "High", not one of low, medium, high.', 'Write risk_level: high.' ),
    ( 'risk_level', '[low]', 'error', 'risk-level-invalid', 'risk_level (line 4) is a list, not one of low, medium, high.', 'Write risk_level: low, medium or high.' ),
    ( 'run', '../run.py', 'error', 'path-traversal', 'run (line 5) names "../run.py", which leaves the bundle.', 'Name a file inside the bundle, from its root.' ),
    ( 'run', 'run.py', 'warning', 'broken-reference', 'run (line 5) names "run.py", which is not in the bundle.', 'Add the file or mend its name.' ),
    ( 'run', "'run.py:1x'", 'error', 'manifest-value-invalid', 'run (line 5) is "run.py:1x", whose function is no name.', 'Write run: run.py:main.' ),
    ( 'run', 'C:\\run.py', 'error', 'path-traversal', 'run (line 5) names "C:\\run.py", which leaves the bundle.', 'Name a file inside the bundle, from its root.' ),
    ( 'run', '[a]', 'error', 'manifest-value-invalid', 'run (line 5) is a list, not a text.', 'Write run: run.py.' ),
    ( 'tags', 'search, web', 'error', 'manifest-value-invalid', 'tags (line 5) is a text, not a list.', 'Write tags: [search, web].' ),
    ( 'tags', "[a, '']", 'error', 'manifest-value-invalid', 'tags (line 5) holds an entry that is not a text of 1 to 64 printable characters.', 'Write tags: [search, web].' ),
    ( 'tags', '', 'error', 'manifest-value-invalid', 'tags (line 5) has no value.', 'Write tags: [search, web], or leave it out.' ),
    ( 'permissions', 'network', 'error', 'permission-malformed', 'permissions (line 5) is "network", not a map or a list.', 'Write permissions: [network], or [] for none.' ),
    ( 'permissions', '', 'error', 'permission-malformed', 'permissions (line 5) is empty, not a map or a list.', 'Write permissions: [network], or [] for none.' ),
    ( 'permissions', '[netwrok]', 'error', 'permission-unknown', 'permissions (line 5) asks for "netwrok", which is no permission.', 'Write network.' ),
    ( 'permissions', "['*']", 'error', 'permission-wildcard', 'permissions (line 5) asks for "*", which is everything.', 'Name what the skill needs: network, filesystem.read, filesystem.write, shell, secrets, send.' ),
    ( 'permissions', '[[a]]', 'error', 'permission-malformed', 'permissions (line 5) holds a list where a name belongs.', 'Write permissions: [network], or [] for none.' ),
    ( 'permissions', '{network: yes}', 'error', 'permission-malformed', 'permissions (line 5) gives "network" another value than true or false.', 'Write permissions: [network], or [] for none.' ),
    ( 'permissions', '{filesystem_write: true}', 'error', 'permission-unknown', 'permissions (line 5) asks for "filesystem_write", which is no permission.', 'Write filesystem.write.' ),
    ( 'permissions', '[send]', 'warning', 'side-effect-not-idempotent', 'permissions (line 5) asks for send, and idempotent does not say whether a retry repeats it.', 'Write idempotent: true or false, or idempotent: {key: [order_id]}.' ),
    ( 'permissions', '[shell]', 'warning', 'risk-level-understated', 'risk_level (line 4) is low, but the permissions call for high.', 'Write risk_level: high.' ),
    ( 'dependencies', '[web.fetch]', 'error', 'manifest-value-invalid', 'dependencies (line 5) is a list, not a mapping.', 'Write dependencies: {web.search: 1.3.0}, each name with its lowest version.' ),
    ( 'dependencies', '{web.search: 1.0.0}', 'error', 'dependency-self', 'dependencies.web.search (line 5) is the skill itself, which cannot depend on itself.', 'Take it out.' ),
    ( 'dependencies', '{web.fetch: 1.0.0, web-fetch: 1.0.0}', 'error', 'dependency-duplicate', 'dependencies.web-fetch (line 5) is named twice, since both are called web-fetch by an agent.', 'Keep one of the two.' ),
    ( 'dependencies', "{web.fetch: '>=1.3'}", 'error', 'dependency-version-invalid', 'dependencies.web.fetch (line 5) is ">=1.3", not the lowest version that will do.', 'Write web.fetch: 1.3.0, which takes newer ones of the same major too.' ),
    ( 'dependencies', '{Web Fetch: 1.0.0}', 'error', 'manifest-value-invalid', 'dependencies."Web Fetch" (line 5) is not a skill name.', 'Write it as web.search.' ),
    ( 'dependencies', '{web.fetch: }', 'error', 'dependency-version-invalid', 'dependencies.web.fetch (line 5) is empty, not the lowest version that will do.', 'Write web.fetch: 1.0.0, which takes newer ones of the same major too.' ),
    ( 'idempotent', 'maybe', 'error', 'manifest-value-invalid', 'idempotent (line 5) is "maybe", not one of true, false.', 'Write idempotent: true or false.' ),
    ( 'idempotent', '{key: []}', 'error', 'manifest-value-invalid', 'idempotent (line 5) names no key.', 'Write idempotent: {key: [order_id]}, or true.' ),
    ( 'idempotent', '{}', 'error', 'manifest-value-invalid', 'idempotent (line 5) names no key.', 'Write idempotent: {key: [order_id]}, or true.' ),
    ( 'idempotent', '{key: order_id}', 'error', 'manifest-value-invalid', 'idempotent.key (line 5) is a text, not a list.', 'Write key: [order_id].' ),
    ( 'model_hint', 'tiny', 'error', 'manifest-value-invalid', 'model_hint (line 5) is "tiny", not one of small, medium, large.', 'Write model_hint: small, medium or large.' ),
    ( 'context_fields', '[user_intention]', 'error', 'manifest-value-invalid', 'context_fields (line 5) holds "user_intention", not one of user_intent, conversation_history, parameters, environment, trace_id, user_profile.', 'Write the names as they are listed.' ),
    ( 'cache_ttl', '5m', 'error', 'manifest-value-invalid', 'cache_ttl (line 5) is "5m", not a number of seconds from 0 up to 31,536,000.', 'Write cache_ttl: 300.' ),
    ( 'cache_ttl', '-1', 'error', 'manifest-value-invalid', 'cache_ttl (line 5) is "-1", not a number of seconds from 0 up to 31,536,000.', 'Write cache_ttl: 300.' ),
    ( 'timeout', '-1', 'error', 'manifest-value-invalid', 'timeout (line 5) is "-1", not a number of seconds above 0 and up to 86,400.', 'Write timeout: 30.' ),
    ( 'timeout', '0', 'error', 'manifest-value-invalid', 'timeout (line 5) is "0", not a number of seconds above 0 and up to 86,400.', 'Write timeout: 30.' ),
    ( 'timeout', '[1]', 'error', 'manifest-value-invalid', 'timeout (line 5) is a list, not a number of seconds above 0 and up to 86,400.', 'Write timeout: 30.' ),
    ( 'errors', '{code: a}', 'error', 'manifest-value-invalid', 'errors (line 5) is a mapping, not a list of up to 100 errors.', 'Write errors: [{code: upstream_timeout, retryable: true, description: The service did not answer}].' ),
    ( 'errors', '[a]', 'error', 'manifest-value-invalid', 'errors (line 5) holds a text where a mapping belongs.', 'Write [{code: upstream_timeout, retryable: true, description: The service did not answer}].' ),
    ( 'errors', '[{code: a}]', 'error', 'manifest-value-invalid', 'errors[0].retryable (line 5) is missing.', 'Write retryable: true.' ),
    ( 'errors', '[{code: a, retryable: no}]', 'error', 'manifest-value-invalid', 'errors[0].retryable (line 5) is "no", not one of true, false.', 'Write retryable: true or false.' ),
    ( 'errors', '[{code: a, retryable: true}, {code: a, retryable: true}]', 'error', 'manifest-value-invalid', 'errors (line 5) names "a" twice.', 'Keep one of the two.' ),
    ( 'retry', '3', 'error', 'manifest-value-invalid', 'retry (line 5) is a text, not a mapping.', 'Write retry: {max_attempts: 3, backoff: exponential}.' ),
    ( 'retry', '{max_attempts: 0}', 'error', 'manifest-value-invalid', 'retry.max_attempts (line 5) is "0", not a whole number from 1 to 100.', 'Write max_attempts: 3.' ),
    ( 'retry', '{backoff: exponentional}', 'error', 'manifest-value-invalid', 'retry.backoff (line 5) is "exponentional", not one of exponential, linear, constant, fixed, none.', 'Write backoff: exponential.' ),
    ( 'retry', '{max_attemps: 3}', 'warning', 'manifest-unknown-key', '"retry.max_attemps" (line 5) is not a field of a manifest.', 'Write max_attempts.' ),
    ( 'alternatives', '[web.search]', 'error', 'manifest-value-invalid', 'alternatives (line 5) names "web.search", which is the skill itself.', 'Take it out.' ),
    ( 'alternatives', '[Web]', 'error', 'manifest-value-invalid', 'alternatives (line 5) holds "Web", which is not a skill name.', 'Write it as web.search.' ),
    ( 'stability', 'beta', 'error', 'manifest-value-invalid', 'stability (line 5) is "beta", not one of experimental, stable, deprecated.', 'Write stability: experimental, stable or deprecated.' ),
    ( 'runtime', 'python', 'error', 'manifest-value-invalid', 'runtime (line 5) is a text, not a mapping.', 'Write runtime: {language: python, version: ">=3.11"}.' ),
    ( 'runtime', '{isolation: vm}', 'error', 'manifest-value-invalid', 'runtime.isolation (line 5) is "vm", not one of process, container.', 'Write isolation: process or container.' ),
    ( 'runtime', '{requirements: ../r.txt}', 'error', 'path-traversal', 'runtime.requirements (line 5) names "../r.txt", which leaves the bundle.', 'Name a file inside the bundle, from its root.' ),
    ( 'runtime', '{requirements: r.txt}', 'warning', 'broken-reference', 'runtime.requirements (line 5) names "r.txt", which is not in the bundle.', 'Add the file or mend its name.' ),
    ( 'author', '[a]', 'error', 'manifest-value-invalid', 'author (line 5) is a list, not a text.', 'Write author: team-research.' ),
    ( 'colour', 'red', 'warning', 'manifest-unknown-key', '"colour" (line 5) is not a field of a manifest.', 'It is kept, but nothing reads it.' ),
    ( 'Timeout', '3', 'warning', 'manifest-unknown-key', '"Timeout" (line 5) is not a field of a manifest.', 'Write timeout.' ),
    ( 'test_suite', 'tests', 'error', 'test-suite-missing', 'test_suite (line 5) names "tests", which is not in the bundle.', 'Write a .json or .yaml file with a list of cases such as {"name": "plain", "input": {"query": "rust"}, "expect": {"required_keys": ["summary"]}}.' ),
    ( 'test_suite', '../tests', 'error', 'path-traversal', 'test_suite (line 5) names "../tests", which leaves the bundle.', 'Name a file or folder inside the bundle, from its root.' ),
    ( 'input_schema', 'true', 'error', 'schema-invalid', 'input_schema (line 5) is no mapping, and only an object can be a schema here.', 'Write type: object and its properties.' ),
]
# fmt: on


@pytest.mark.parametrize(("field", "value", "severity", "code", "message", "hint"), CASES)
def test_a_wrong_field_is_told(
    field: str, value: str | None, severity: str, code: str, message: str, hint: str
) -> None:
    _, findings = read(manifest(**{field: value}))
    assert [(f.severity, f.message, f.hint, f.path) for f in findings if f.code == code] == [
        (severity, message, hint, "manifest.yaml")
    ]


def test_every_problem_is_told_at_once() -> None:
    _, findings = read(manifest(version="v1", risk_level="High", permissions="network", timeout="-1"))
    assert [(f.code, f.line) for f in findings] == [
        ("version-invalid", 3),
        ("risk-level-invalid", 4),
        ("permission-malformed", 5),
        ("manifest-value-invalid", 6),
    ]


def test_permissions_are_the_same_as_map_and_list() -> None:
    as_list, _ = read(manifest(permissions="[network, filesystem.read]"))
    as_map, _ = read(manifest(permissions="{filesystem.read: true, network: true, send: false}"))
    assert as_list.manifest.permissions == as_map.manifest.permissions == ("filesystem.read", "network")
    assert read(manifest(permissions="[]"))[0].manifest.permissions == ()


FILES = [
    (b"", "manifest-empty", "manifest.yaml is empty."),
    (b"# nothing\n", "manifest-empty", "manifest.yaml is empty."),
    (b"{}", "manifest-empty", "manifest.yaml is empty."),
    (b"- a\n- b\n", "manifest-not-mapping", "manifest.yaml is a list, not a mapping."),
    (b"just text", "manifest-not-mapping", "manifest.yaml is a text, not a mapping."),
    (b"name: a\ndescription: \xe9\n", "yaml-invalid", "manifest.yaml is not UTF-8 in line 2."),
]


@pytest.mark.parametrize(("content", "code", "message"), FILES)
def test_a_file_that_is_no_manifest_is_told(content: bytes, code: str, message: str) -> None:
    fields, findings = read(content)
    assert [(f.code, f.message) for f in findings] == [(code, message)]
    assert (fields.name, fields.version) == ("", None)


def test_a_second_manifest_is_ambiguous() -> None:
    _, findings = read(manifest(), File("manifest.yml", b"name: other"))
    assert [f.code for f in findings] == ["manifest-ambiguous"]


def test_a_manifest_above_half_a_megabyte_is_refused() -> None:
    _, findings = read(manifest(colour="x" * (512 * 1024)))
    assert [f.code for f in findings] == ["manifest-too-large"]


def test_a_schema_of_300_levels_is_refused() -> None:
    _, findings = read(manifest(input_schema='{"properties": {"a": ' * 300 + "{}" + "}}" * 300))
    assert [f.code for f in findings] == ["schema-too-deep"]


def test_a_byte_order_mark_is_dropped_and_told() -> None:
    fields, findings = read(b"\xef\xbb\xbf" + manifest().encode())
    assert [(f.code, f.severity) for f in findings] == [("utf8-bom", "warning")]
    assert fields.name == "web.search"


def test_a_secret_is_not_repeated() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9" + "J0k1L2m3N4o5P6q7R8"
    for field in ("risk_level", "version", "permissions", "model_hint", "timeout", "run", "stability", token):
        _, findings = read(manifest(**{field: token}))
        told = " ".join(f.message + f.hint for f in findings)
        assert told
        assert "a1B2c3" not in told


scalars = st.one_of(
    st.sampled_from(
        ["", "true", "-1", "1.10", "[a, [b]]", "{a: {b: c}}", "low", "*", "'", "../x", "{key: 1}", "[{}]"]
    ),
    st.text(max_size=12),
)


def holds(fields: ManifestFields, findings: tuple[Finding, ...]) -> None:
    """What every answer keeps to: values of their types, and what is wrong in documented words."""
    assert_told(findings, ["manifest.yaml", "tests"])
    assert list(findings) == list(in_order(findings))
    assert isinstance(fields, ManifestFields)
    assert isinstance(fields.manifest, Manifest)
    assert all(isinstance(text, str) for text in (fields.name, fields.description, fields.version_text))
    assert fields.version is None or precedence_key(fields.version)
    read_one = fields.manifest
    assert read_one.risk_level in (None, *RISKS)
    assert read_one.idempotent in (None, True, False)
    for milliseconds in (read_one.cache_ttl_ms, read_one.timeout_ms):
        assert milliseconds is None or milliseconds >= 0
    assert all(isinstance(tag, str) for tag in (*read_one.tags, *read_one.alternatives))


@given(st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=6)), scalars, max_size=8))
def test_any_fields_are_typed_or_told(fields: dict[str, str]) -> None:
    found, findings = read("".join(f"{key}: {value}\n" for key, value in fields.items()))
    holds(found, findings)
    # No manifest of eight fields at random is whole.
    assert has_errors(findings)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_manifest_or_told(content: bytes) -> None:
    fields, findings = read(content)
    holds(fields, findings)
    assert has_errors(findings)
